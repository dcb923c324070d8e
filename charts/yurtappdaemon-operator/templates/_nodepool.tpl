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
The mode that replaces Auto, or empty. The default of older charts was Disabled, and an upgrade must not begin to write
to Nodes. So the live Deployment's mode (Disabled or Auto) stays if this Deployment has no annotation
nodepool-controller (an older chart made it), or if the annotation is `kept` (an earlier upgrade kept the mode). With
any other value, Auto applies. If an upgrade finds no Deployment, the permissions of the operator show its mode.
*/}}
{{- define "yad.nodePoolModeKept" -}}
{{- $deployment := include "yad.deploymentBefore" . | fromYaml -}}
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
{{- else if and .Release.IsUpgrade (eq .Values.nodePoolController.mode "Auto") (empty .Values.watchNamespace) -}}
{{- include "yad.nodePoolModeOfPermissions" . -}}
{{- end -}}
{{- end -}}

{{/* "Disabled" if the live ClusterRole has no permission to write to Nodes. Otherwise empty. */}}
{{- define "yad.nodePoolModeOfPermissions" -}}
{{- $name := include "yad.fullname" . -}}
{{- $role := lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" $name -}}
{{- if $role -}}
{{- $writes := false -}}
{{- range $role.rules -}}
{{- if and (has "nodes" (.resources | default list)) (has "patch" .verbs) -}}
{{- $writes = true -}}
{{- end -}}
{{- end -}}
{{- if not $writes -}}
Disabled
{{- end -}}
{{- /* Without this CRD, or if the chart cannot read the cluster, the controller has no pools. */ -}}
{{- else if lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "nodepools.apps.openyurt.io" -}}
{{- fail (printf "Deployment %s in namespace %s and ClusterRole %s do not exist. So the chart cannot find out whether the nodepool controller was on before this upgrade, and nodePoolController.mode=Auto may switch it on: it writes the labels, annotations and taints of NodePools to Nodes. Set nodePoolController.mode to Enabled or Disabled for this upgrade. Later upgrades can set Auto again. If this release was never installed completely, uninstall it and install it again." $name .Release.Namespace $name) -}}
{{- end -}}
{{- end -}}

{{/*
The Deployment of this release before the upgrade. nameOverride or fullnameOverride may give it another name. Empty if
the Deployment is lost.
*/}}
{{- define "yad.deploymentBefore" -}}
{{- $deployment := lookup "apps/v1" "Deployment" .Release.Namespace (include "yad.fullname" .) -}}
{{- if and .Release.IsUpgrade (not $deployment) -}}
{{- range dig "items" list (lookup "apps/v1" "Deployment" .Release.Namespace "") -}}
{{- /* A release with subcharts has other Deployments too. */ -}}
{{- $chart := dig "metadata" "labels" "helm.sh/chart" "" . -}}
{{- if and (include "yad.owns" (dict "root" $ "object" .)) (hasPrefix (printf "%s-" $.Chart.Name) $chart) -}}
{{- $deployment = . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $deployment -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}
