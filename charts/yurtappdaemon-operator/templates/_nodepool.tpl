{{/*
The mode in which the nodepool controller runs. In a release that watches one namespace, Auto means Disabled, because
NodePools are cluster-scoped.
*/}}
{{- define "yad.nodePoolMode" -}}
{{- $mode := .Values.nodePoolController.mode -}}
{{- if eq $mode "Auto" -}}
{{- $mode = include "yad.nodePoolModeKept" . | default (ternary "Disabled" "Auto" (not (empty .Values.watchNamespace))) -}}
{{- end -}}
{{- $mode -}}
{{- end -}}

{{/*
The mode that replaces Auto in an upgrade from an older chart, whose default was Disabled: the mode of the live
Deployment. So an upgrade does not begin to write to Nodes. Empty for newer releases, whose Deployments have an
annotation with the value of the mode.
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
