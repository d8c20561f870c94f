{{/* Labels of every object. */}}
{{- define "windowspool-operator.labels" -}}
app.kubernetes.io/name: windowspool-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Pods of the operator: there is one release in a cluster, because its roles and its pools belong to no namespace. */}}
{{- define "windowspool-operator.selector" -}}
app.kubernetes.io/name: windowspool-operator
{{- end }}

{{- define "windowspool-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/* An object of files/, with the release's namespace and labels, and with those labels and annotations that the caller adds. */}}
{{- define "windowspool-operator.object" -}}
{{- $object := .root.Files.Get .path | fromYaml -}}
{{- $metadata := $object.metadata -}}
{{- if eq ($metadata.namespace | default "") "winpool-system" -}}
{{- $_ := set $metadata "namespace" .root.Release.Namespace -}}
{{- end -}}
{{- range $object.subjects -}}
{{- $_ := set . "namespace" $.root.Release.Namespace -}}
{{- end -}}
{{- $labels := include "windowspool-operator.labels" .root | fromYaml -}}
{{- $_ := set $metadata "labels" (merge ($metadata.labels | default dict) $labels (.labels | default dict)) -}}
{{- with .annotations -}}
{{- $_ := set $metadata "annotations" (merge ($metadata.annotations | default dict) .) -}}
{{- end -}}
{{- toYaml $object -}}
{{- end }}
