{{/* Labels of every object. */}}
{{- define "windowspool-operator.labels" -}}
app.kubernetes.io/name: windowspool-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Labels that select the pods of the operator. There is one release per cluster, because its ClusterRoles and WindowsPools are cluster-scoped. */}}
{{- define "windowspool-operator.selector" -}}
app.kubernetes.io/name: windowspool-operator
{{- end }}

{{- define "windowspool-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/* The base URL of the documentation without docsURL, as in config/prometheus and in the operator. */}}
{{- define "windowspool-operator.docs" -}}
{{- .Files.Get "files/prometheus/rules.yaml" | regexFind `https://\S+/docs` -}}
{{- end }}

{{/* The text of a file of files/. Its links to the documentation start with docsURL instead of the address in config/prometheus. */}}
{{- define "windowspool-operator.file" -}}
{{- $address := include "windowspool-operator.docs" .root -}}
{{- .root.Files.Get .path | replace $address (.root.Values.docsURL | default $address) -}}
{{- end }}

{{/* The default of --node-pod-namespace, as in config/rbac and config/admission. */}}
{{- define "windowspool-operator.nodePodNamespace" -}}
winpool-node-pods
{{- end }}

{{/* An object of files/, with the namespace and labels of the release, nodePods.namespace, and the labels and annotations that the caller adds. */}}
{{- define "windowspool-operator.object" -}}
{{- $object := include "windowspool-operator.file" . | fromYaml -}}
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
{{- toYaml $object | replace (include "windowspool-operator.nodePodNamespace" .) .root.Values.nodePods.namespace -}}
{{- end }}
