{{/*
Paragraphs for NOTES.txt about other programs that write YurtAppDaemons: OpenYurt's yurt-manager up to 1.6, and webhooks
of other releases.
- The names of yurt-manager's controllers and their flag are in OpenYurt's cmd/yurt-manager.
- Names with "-controller" exist since 1.4, which also accepts the old names.
- A disabled controller disables its webhooks too.
*/}}
{{- define "yad.rivals" -}}
{{- $root := . -}}
{{- $namespaces := list "kube-system" -}}
{{- $webhooks := list -}}
{{- range $kind := list "MutatingWebhookConfiguration" "ValidatingWebhookConfiguration" -}}
{{- range $configuration := (lookup "admissionregistration.k8s.io/v1" $kind "" "").items -}}
{{- if not (include "yad.owns" (dict "root" $root "object" $configuration)) -}}
{{- range $webhook := $configuration.webhooks -}}
{{- range $rule := $webhook.rules -}}
{{- if and (has "apps.openyurt.io" $rule.apiGroups) (has "yurtappdaemons" $rule.resources)
           (not (include "yad.otherNamespaces" (dict "root" $root "webhook" $webhook))) -}}
{{- $service := ($webhook.clientConfig.service | default dict) -}}
{{- $namespaces = append $namespaces ($service.namespace | default "kube-system") -}}
{{- $webhooks = append $webhooks (dict "kind" $kind "name" $configuration.metadata.name "webhook" $webhook.name "namespace" $service.namespace "service" $service.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $explained := list -}}
{{- range $namespace := uniq $namespaces -}}
{{- $manager := lookup "apps/v1" "Deployment" $namespace "yurt-manager" -}}
{{- if $manager -}}
{{- $container := first $manager.spec.template.spec.containers -}}
{{- $version := regexFind "[0-9]+\\.[0-9]+(\\.[0-9]+)?" (regexFind ":v?[0-9]+\\.[0-9]+[^/]*$" $container.image) -}}
{{- $names := dict "yurt-app-daemon-controller" "yurtappdaemon" "yurt-app-overrider-controller" "yurtappoverrider" -}}
{{- if and $version (semverCompare "<1.4.0" $version) -}}
{{- $names = dict "yurtappdaemon" "yurtappdaemon" -}}
{{- end -}}
{{- if not (and $version (semverCompare ">=1.7.0" $version)) -}}
{{- $controllers := "*" -}}
{{- range concat ($container.command | default list) ($container.args | default list) -}}
{{- if hasPrefix "--controllers=" . -}}
{{- $controllers = trimPrefix "--controllers=" . -}}
{{- end -}}
{{- end -}}
{{- $given := splitList "," $controllers -}}
{{- $off := list -}}
{{- range $name, $alias := $names -}}
{{- if not (or (has (print "-" $name) $given) (has (print "-" $alias) $given)) -}}
{{- if or (has "*" $given) (has $name $given) (has $alias $given) -}}
{{- $off = append $off (print "-" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $off }}
{{- $explained = append $explained $namespace }}
WARNING: yurt-manager {{ $version }} in namespace {{ $namespace }} conflicts with this operator: its YurtAppDaemon controller changes
the same workloads, and the webhook of that controller changes your YurtAppDaemons.
{{- if has "-yurt-app-overrider-controller" $off }} The webhook of its YurtAppOverrider
controller replaces the template of each updated Deployment with the template of the YurtAppDaemon. Without that controller,
YurtAppOverriders have no effect; spec.overrides of a YurtAppDaemon replaces them.
{{- end }}
This flag of yurt-manager disables only these controllers and their webhooks:

  --controllers={{ join "," (concat $off $given) }}

In OpenYurt's chart it is the value "controllers":

  helm upgrade yurt-manager openyurt/yurt-manager --namespace {{ $namespace }} --reuse-values \
    --set 'controllers={{ join "\\," (concat $off $given) }}'

OpenYurt 1.7 and later do not have these controllers, and do not start with their names in the flag: remove the names when you upgrade.
{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $webhooks -}}
{{- if not (has .namespace $explained) }}
WARNING: {{ .kind }} {{ .name }} reviews YurtAppDaemons too: its webhook
{{ .webhook }} calls Service {{ .namespace }}/{{ .service }}. If that is another operator for YurtAppDaemons,
uninstall that operator, because two operators revert each other's changes. If that operator is not installed any more, delete
the webhook.
{{ end -}}
{{- end -}}
{{- end -}}

{{/*
Non-empty if the webhook reviews no object of this release: the release watches one namespace, and the webhook selects
only others by name.
Takes a dict of root and webhook.
*/}}
{{- define "yad.otherNamespaces" -}}
{{- $watched := .root.Values.watchNamespace -}}
{{- if $watched -}}
{{- range (.webhook.namespaceSelector | default dict).matchExpressions -}}
{{- if and (eq .key "kubernetes.io/metadata.name") (eq .operator "In") (not (has $watched .values)) -}}
yes
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The fields of spec and status (only the first level) that the live CRD lacks, separated by commas. Takes a dict of crd (the CRD of the chart) and live. */}}
{{- define "yad.missingFields" -}}
{{- $live := .live -}}
{{- $missing := list -}}
{{- range $version := .crd.spec.versions -}}
{{- $found := dict -}}
{{- range $live.spec.versions -}}
{{- if eq .name $version.name -}}{{- $found = . -}}{{- end -}}
{{- end -}}
{{- if not $found -}}
{{- $missing = append $missing (print "version " $version.name) -}}
{{- else -}}
{{- range $part := list "spec" "status" -}}
{{- $theirs := dig "schema" "openAPIV3Schema" "properties" $part "properties" dict $found -}}
{{- range $field := keys (dig "schema" "openAPIV3Schema" "properties" $part "properties" dict $version) | sortAlpha -}}
{{- if not (hasKey $theirs $field) -}}
{{- $missing = append $missing (printf "%s.%s" $part $field) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- join ", " $missing -}}
{{- end -}}
