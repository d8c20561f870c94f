{{/* The name of the operator in the manifests. One release serves a cluster, so it does not depend on the name of the release. */}}
{{- define "windowspool-operator.name" -}}
windowspool-operator
{{- end }}

{{/* The name of the operator's objects. Their suffixes, such as -metrics of the Service, must fit into 63 characters. */}}
{{- define "windowspool-operator.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else if .Values.nameOverride }}
{{- $release := .Release.Name }}
{{- ternary $release (printf "%s-%s" $release .Values.nameOverride) (contains .Values.nameOverride $release) | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- include "windowspool-operator.name" . }}
{{- end }}
{{- end }}

{{- define "windowspool-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.name }}
{{- .Values.serviceAccount.name }}
{{- else if .Values.serviceAccount.create }}
{{- include "windowspool-operator.fullname" . }}
{{- else }}
{{- fail "serviceAccount.create is false: set serviceAccount.name to the name of a ServiceAccount in the namespace of the release" }}
{{- end }}
{{- end }}

{{/* Labels of every object. */}}
{{- define "windowspool-operator.labels" -}}
{{- $own := dict "app.kubernetes.io/name" (include "windowspool-operator.name" .) "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/managed-by" .Release.Service "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") }}
{{- merge $own (.Values.commonLabels | default dict) | toYaml }}
{{- end }}

{{/* Labels that select the pods of the operator. There is one release per cluster, because its ClusterRoles and WindowsPools are cluster-scoped. */}}
{{- define "windowspool-operator.selector" -}}
app.kubernetes.io/name: {{ include "windowspool-operator.name" . }}
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

{{/* A name in files/ as the release has it: with the name of its objects instead of that in the manifests. */}}
{{- define "windowspool-operator.renamed" -}}
{{- $prefix := include "windowspool-operator.name" .root -}}
{{- if hasPrefix $prefix .name }}{{ include "windowspool-operator.fullname" .root }}{{ trimPrefix $prefix .name }}{{ else }}{{ .name }}{{ end }}
{{- end }}

{{/*
An object of files/, with the namespace, names and labels of the release, nodePods.namespace, and the labels and annotations that the caller adds. The
operator knows the names of two objects, which do not change: the Lease, for which the operators of all releases compete, and the PriorityClass.
*/}}
{{- define "windowspool-operator.object" -}}
{{- $root := .root -}}
{{- $object := include "windowspool-operator.file" . | fromYaml -}}
{{- $metadata := $object.metadata -}}
{{- if ne $object.kind "PriorityClass" -}}
{{- $_ := set $metadata "name" (include "windowspool-operator.renamed" (dict "root" $root "name" $metadata.name)) -}}
{{- end -}}
{{- if eq ($metadata.namespace | default "") "winpool-system" -}}
{{- $_ := set $metadata "namespace" $root.Release.Namespace -}}
{{- end -}}
{{- range $object.subjects -}}
{{- $_ := set . "namespace" $root.Release.Namespace -}}
{{- $_ := set . "name" (include "windowspool-operator.serviceAccountName" $root) -}}
{{- end -}}
{{- with $object.roleRef -}}
{{- $_ := set . "name" (include "windowspool-operator.renamed" (dict "root" $root "name" .name)) -}}
{{- end -}}
{{- if and (hasPrefix "ValidatingAdmissionPolicy" $object.kind) $object.spec.policyName -}}
{{- $_ := set $object.spec "policyName" (include "windowspool-operator.renamed" (dict "root" $root "name" $object.spec.policyName)) -}}
{{- end -}}
{{- $labels := include "windowspool-operator.labels" $root | fromYaml -}}
{{- $_ := set $metadata "labels" (merge ($metadata.labels | default dict) $labels (.labels | default dict)) -}}
{{- with .annotations -}}
{{- $_ := set $metadata "annotations" (merge ($metadata.annotations | default dict) .) -}}
{{- end -}}
{{- toYaml $object | replace (include "windowspool-operator.nodePodNamespace" $root) $root.Values.nodePods.namespace -}}
{{- end }}

{{/* Fails for a value that is a placeholder of the documentation, or that another one requires. */}}
{{- define "windowspool-operator.validate" -}}
{{- $values := .Values }}
{{- if eq ($values.clusterName | default "") "CLUSTER_NAME" }}
{{- fail "clusterName is CLUSTER_NAME, the placeholder of the documentation: set the name of your EKS cluster" }}
{{- end }}
{{- if eq ($values.region | default "") "REGION" }}
{{- fail "region is REGION, the placeholder of the documentation: set the AWS Region of your EKS cluster, such as eu-west-1" }}
{{- end }}
{{- if and $values.clusterName (not $values.region) }}
{{- fail (printf "region is missing, and clusterName is %s: set the AWS Region of the cluster" $values.clusterName) }}
{{- end }}
{{- if regexMatch "ACCOUNT_ID|REGION|111122223333" $values.image.repository }}
{{- fail (printf "image.repository is %s, with a placeholder of the documentation: set the image in your registry, or leave the value out to use the published one" $values.image.repository) }}
{{- end }}
{{- $role := get ($values.serviceAccount.annotations | default dict) "eks.amazonaws.com/role-arn" }}
{{- if regexMatch "ACCOUNT_ID|111122223333" $role }}
{{- fail (printf "serviceAccount.annotations has the IAM role %s, with a placeholder of the documentation: set the ARN of the operator's role" $role) }}
{{- end }}
{{- range $key, $value := $values.defaultTags }}
{{- if not (and (regexMatch `^[\pL\pZ\pN_.:/+@-]{1,128}$` $key) (regexMatch `^[\pL\pZ\pN_.:/=+@-]{0,256}$` $value)) }}
{{- fail (printf "defaultTags has %s: %s, which AWS does not accept: use letters, digits, spaces and _ . : / + @ -, and = in values" $key $value) }}
{{- else if regexMatch "^(aws:|winpool[.]dev/)" $key }}
{{- fail (printf "defaultTags has %s, a key that is reserved for AWS or the operator: choose another key" $key) }}
{{- end }}
{{- end }}
{{- if and $values.extraVolumeMounts (not $values.extraVolumes) }}
{{- fail "extraVolumeMounts is set, and extraVolumes is empty: add the volumes" }}
{{- end }}
{{- $namespace := $values.nodePods.namespace }}
{{- if or (eq $namespace .Release.Namespace) (hasPrefix "kube-" $namespace) }}
{{- fail (printf "nodePods.namespace is %s, which contains other objects: pods of users could refer to its Secrets and ServiceAccounts. Set a namespace that contains nothing else" $namespace) }}
{{- end }}
{{- end }}
