{{- define "yad.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters, because a Service's name has at most 63, and suffixes such as "-metrics" are appended. */}}
{{- define "yad.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "yad.selectorLabels" -}}
app.kubernetes.io/name: {{ include "yad.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels of an object. The labels of the chart take precedence over commonLabels. */}}
{{- define "yad.labels" -}}
{{- include "yad.labelsWith" (dict "root" . "extra" dict) -}}
{{- end -}}

{{/* The labels of an object, with further labels that take precedence. Takes a dict of root and extra. */}}
{{- define "yad.labelsWith" -}}
{{- with .root -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service -}}
{{- merge (deepCopy ($.extra | default dict)) (include "yad.selectorLabels" . | fromYaml) $own (include "yad.commonLabels" . | fromYaml) | toYaml -}}
{{- end -}}
{{- end -}}

{{- define "yad.commonLabels" -}}
{{- merge (deepCopy (.Values.commonLabels | default dict)) ((.Values.global | default dict).commonLabels | default dict) | toYaml -}}
{{- end -}}

{{- define "yad.podLabels" -}}
{{- merge (include "yad.selectorLabels" . | fromYaml) (.Values.podLabels | default dict) (include "yad.commonLabels" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* imagePullSecrets, and those of the parent chart, which may be names or objects. */}}
{{- define "yad.imagePullSecrets" -}}
{{- $secrets := .Values.imagePullSecrets | default list -}}
{{- range (.Values.global | default dict).imagePullSecrets -}}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- with $secrets -}}
{{- uniq . | toYaml -}}
{{- end -}}
{{- end -}}

{{- define "yad.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "yad.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "yad.webhookService" -}}
{{ include "yad.fullname" . }}-webhook
{{- end -}}

{{/* The source of the certificate: "secret" (the operator creates the certificate), "certManager" or "files". */}}
{{- define "yad.certificateMode" -}}
{{- if and .Values.certManager.enabled .Values.webhook.existingSecret -}}
{{- fail "certManager.enabled and webhook.existingSecret exclude each other: set one of them" -}}
{{- else if .Values.certManager.enabled -}}
certManager
{{- else if .Values.webhook.existingSecret -}}
{{- if not .Values.webhook.caBundle -}}
{{- fail "webhook.caBundle is empty, and webhook.existingSecret is set: give the PEM of the CA that signed the certificate in this Secret (--set-file webhook.caBundle=ca.crt)" -}}
{{- end -}}
files
{{- else -}}
{{- if .Values.webhook.caBundle -}}
{{- fail "webhook.caBundle is set without webhook.existingSecret: set webhook.existingSecret to the Secret of the certificate, or remove webhook.caBundle" -}}
{{- end -}}
secret
{{- end -}}
{{- end -}}

{{- define "yad.certificateSecret" -}}
{{- /* The Secret of cert-manager has another name, so that an upgrade can change the source of the certificate. */ -}}
{{- .Values.webhook.existingSecret | default (printf "%s-webhook%s" (include "yad.fullname" .) (ternary "-tls" "" .Values.certManager.enabled)) -}}
{{- end -}}

{{/* REGISTRY/REPOSITORY:TAG, or with @DIGEST. Takes a dict of root, image (a value), and tag, the default for an image without tag and digest. */}}
{{- define "yad.image" -}}
{{- $tag := .image.tag | default (ternary .tag "" (empty .image.digest)) -}}
{{- with .image.registry | default (.root.Values.global | default dict).imageRegistry }}{{ . }}/{{ end -}}
{{- .image.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with .image.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{- define "yad.operatorImage" -}}
{{- $tag := printf "v%s" .Chart.AppVersion -}}
{{- if not .Values.image.repository -}}
{{- fail (printf "image.repository is empty. No public registry has the operator's image, so build it and push it to a registry that your nodes reach:\n\n  make image IMAGE=REGISTRY/yurtappdaemon-operator:%s\n  buildah push REGISTRY/yurtappdaemon-operator:%s    # or podman push, docker push\n\nThen add --set image.repository=REGISTRY/yurtappdaemon-operator. docs/install.md, section \"Image\", has kind, k3s and registries without Internet access.\n" $tag $tag) -}}
{{- end -}}
{{- include "yad.image" (dict "root" . "image" .Values.image "tag" $tag) -}}
{{- end -}}

{{/* The clientConfig of a webhook. Takes a dict of root and path. */}}
{{- define "yad.webhookClient" -}}
{{- $mode := include "yad.certificateMode" .root -}}
service:
  name: {{ include "yad.webhookService" .root }}
  namespace: {{ .root.Release.Namespace }}
  port: {{ .root.Values.webhook.servicePort }}
  path: {{ .path }}
{{- if eq $mode "files" }}
caBundle: {{ .root.Values.webhook.caBundle | b64enc }}
{{- else }}
# {{ ternary "cert-manager" "The operator" (eq $mode "certManager") }} writes the caBundle, and an upgrade must not remove it.
{{- end }}
{{- end -}}

{{/* Objects that are being deleted are not reviewed, so that their finalizers can be removed while no replica responds. */}}
{{- define "yad.matchConditions" -}}
matchConditions:
- name: not-deleted
  expression: object == null || !has(object.metadata.deletionTimestamp)
{{- end -}}

{{/* The seconds of a duration such as 8760h, 30m or 10s. */}}
{{- define "yad.seconds" -}}
{{- mul (regexFind "^[0-9]+" . | int64) (get (dict "h" 3600 "m" 60 "s" 1) (regexFind "[hms]$" .)) -}}
{{- end -}}

{{/* Fails if the operator would reject a duration when it starts. operator/options.cc has the same limits. */}}
{{- define "yad.checkDurations" -}}
{{- $longest := 315360000 -}}
{{- $validity := include "yad.seconds" .Values.webhook.certificateValidity | int64 -}}
{{- if and .Values.webhook.enabled (eq (include "yad.certificateMode" .) "secret") (or (lt $validity 3) (gt $validity $longest)) -}}
{{- fail "webhook.certificateValidity must be between 3s and 87600h" -}}
{{- end -}}
{{- $retry := .Values.leaderElection.retryPeriod | default "2s" -}}
{{- $renew := .Values.leaderElection.renewDeadline | default "10s" -}}
{{- $lease := .Values.leaderElection.leaseDuration | default "15s" -}}
{{- if le (include "yad.seconds" $renew | int64) (include "yad.seconds" $retry | int64) -}}
{{- fail (printf "leaderElection.renewDeadline (%s) must be longer than leaderElection.retryPeriod (%s)" $renew $retry) -}}
{{- end -}}
{{- if le (include "yad.seconds" $lease | int64) (include "yad.seconds" $renew | int64) -}}
{{- fail (printf "leaderElection.leaseDuration (%s) must be longer than leaderElection.renewDeadline (%s)" $lease $renew) -}}
{{- end -}}
{{- if gt (include "yad.seconds" $lease | int64) $longest -}}
{{- fail (printf "leaderElection.leaseDuration (%s) must be at most 87600h" $lease) -}}
{{- end -}}
{{- end -}}

{{/*
A CRD of files/crds. Takes a dict of root and file. Empty if another release or tool has installed the CRD,
because then a user decides whether to change it.
*/}}
{{- define "yad.crd" -}}
{{- $crd := .root.Files.Get (printf "files/crds/%s.yaml" .file) | fromYaml -}}
{{- $live := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $crd.metadata.name -}}
{{- if or (not $live) (include "yad.owns" (dict "root" .root "object" $live)) -}}
{{- $_ := set $crd.metadata "labels" (include "yad.labels" .root | fromYaml) -}}
{{- if .root.Values.crds.keep -}}
{{- /* For Helm, Argo CD and Flux. Each of them reads the annotation of the object in the cluster. */ -}}
{{- $_ := set $crd.metadata "annotations" (dict "helm.sh/resource-policy" "keep" "argocd.argoproj.io/sync-options" "Prune=false" "kustomize.toolkit.fluxcd.io/prune" "disabled") -}}
{{- end -}}
{{- toYaml $crd -}}
{{- end -}}
{{- end -}}

{{/* The names of the CRDs of this release, separated by commas. */}}
{{- define "yad.crds" -}}
{{- $names := list -}}
{{- if .Values.crds.enabled -}}
{{- range $file, $wanted := dict "apps.openyurt.io_yurtappdaemons" true "apps.openyurt.io_nodepools" .Values.crds.nodePool "capacity.openyurt.io_nodepoolautoscalers" .Values.nodePoolAutoscaler.enabled -}}
{{- with and $wanted (include "yad.crd" (dict "root" $ "file" $file)) -}}
{{- $names = append $names (. | fromYaml).metadata.name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- join "," $names -}}
{{- end -}}

{{/*
Fails if this upgrade would delete a CRD. Helm deletes the objects that only the old manifest has, except those that have
this annotation in the cluster. An annotation of the Deployment has the CRDs of the old manifest. If the Deployment is lost or
has another name, each CRD of the chart may be in the old manifest.
*/}}
{{- define "yad.checkCrds" -}}
{{- $names := splitList "," (include "yad.crds" .) -}}
{{- $annotations := dig "metadata" "annotations" dict (lookup "apps/v1" "Deployment" .Release.Namespace (include "yad.fullname" .)) -}}
{{- $known := hasKey $annotations "yurtappdaemon-operator/crds" -}}
{{- $before := splitList "," (get $annotations "yurtappdaemon-operator/crds") | compact -}}
{{- if and .Release.IsUpgrade (not $known) -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" -}}
{{- $before = append $before ($.Files.Get $path | fromYaml).metadata.name -}}
{{- end -}}
{{- end -}}
{{- range $before -}}
{{- if not (has . $names) -}}
{{- $live := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" . -}}
{{- if and $live (ne "keep" (get ($live.metadata.annotations | default dict) "helm.sh/resource-policy")) -}}
{{- if not $known -}}
{{- fail (printf "Deployment %s in namespace %s does not exist, or lacks its list of CRDs. So the upgrade may delete CustomResourceDefinition %s with all its objects: the new manifest of the release does not contain it, and the old manifest may contain it. This command keeps it:\n\nkubectl annotate crd %s helm.sh/resource-policy=keep\n" (include "yad.fullname" $) $.Release.Namespace . .) -}}
{{- end -}}
{{- fail (printf "CustomResourceDefinition %s was installed by this release, but the new manifest of the release does not contain it, so this upgrade would delete it with all its objects. This command keeps it:\n\nkubectl annotate crd %s helm.sh/resource-policy=keep\n" . .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Non-empty if the live object belongs to this release. */}}
{{- define "yad.owns" -}}
{{- $annotations := .object.metadata.annotations | default dict -}}
{{- if and (eq (get $annotations "meta.helm.sh/release-name") .root.Release.Name)
           (eq (get $annotations "meta.helm.sh/release-namespace") .root.Release.Namespace) -}}
yes
{{- end -}}
{{- end -}}

{{/* The endpoint of a monitor. honorLabels keeps the label namespace of yurtappdaemon_pools, which is the namespace of the YurtAppDaemon.
Takes a dict of root and monitor (a value). */}}
{{- define "yad.endpoint" -}}
port: metrics
interval: {{ .monitor.interval }}
honorLabels: true
{{- with .monitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- with .monitor.metricRelabelings }}
metricRelabelings: {{- toYaml . | nindent 0 }}
{{- end }}
{{- end -}}

{{/* Expressions for the nodes that the chart's pods may run on by default. */}}
{{- define "yad.placement" -}}
- {key: openyurt.io/is-edge-worker, operator: NotIn, values: ["true"]}
- {key: kubernetes.io/os, operator: NotIn, values: [windows]}
{{- end -}}

{{/* A probe. Takes a dict of path and times. */}}
{{- define "yad.probe" -}}
{{- merge (dict "httpGet" (dict "path" .path "port" "health")) (.times | default dict) | toYaml -}}
{{- end -}}
