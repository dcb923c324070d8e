{{/*
The mode in which the nodepool controller runs. The pools belong to no namespace, so Auto means Disabled in a release that
watches one namespace.
*/}}
{{- define "yad.nodePoolMode" -}}
{{- $mode := .Values.nodePoolController.mode -}}
{{- if eq $mode "Auto" -}}
{{- $mode = include "yad.nodePoolModeKept" . | default (ternary "Disabled" "Auto" (not (empty .Values.watchNamespace))) -}}
{{- end -}}
{{- $mode -}}
{{- end -}}

{{/*
The mode that replaces Auto in an upgrade of a release that an older chart installed, whose default was Disabled. It is
the mode of the live Deployment, because an upgrade must not write to Nodes to which the release did not write before.
Empty for all other releases: their Deployments have an annotation with the value of the mode.
*/}}
{{- define "yad.nodePoolModeKept" -}}
{{- $deployment := lookup "apps/v1" "Deployment" .Release.Namespace (include "yad.fullname" .) -}}
{{- if $deployment -}}
{{- $noted := get ($deployment.metadata.annotations | default dict) "yurtappdaemon-operator/nodepool-controller" -}}
{{- if has $noted (list "" "kept") -}}
{{- $controllers := list "-nodepool" -}}
{{- range (first $deployment.spec.template.spec.containers).args -}}
{{- if hasPrefix "--controllers=" . -}}
{{- $controllers = trimPrefix "--controllers=" . | splitList "," -}}
{{- end -}}
{{- end -}}
{{- if has "-nodepool" $controllers -}}
Disabled
{{- else if not (has "nodepool" $controllers) -}}
Auto
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
