{{/*
The alerts as a list. docs/runbooks.md has a section for each. Prometheus expands the words in double braces inside
backquotes.
*/}}
{{- define "yad.alerts" -}}
{{- $name := include "yad.fullname" . -}}
{{- $namespace := .Release.Namespace -}}
{{- $of := printf "namespace=%q,service=%q" $namespace (printf "%s-metrics" $name) -}}
{{- $leads := printf "and on (instance) leader_election_master_status{%s} == 1" $of -}}
{{- /* If Prometheus ignores honorLabels, as OpenShift's does, exported_namespace is the namespace of the YurtAppDaemon. */ -}}
{{- $ofDaemon := "namespace, exported_namespace, name" -}}
{{- $daemon := `YurtAppDaemon {{ or $labels.exported_namespace $labels.namespace }}/{{ $labels.name }}` -}}
{{- $pools := `kubectl yad pools {{ $labels.name }} -n {{ or $labels.exported_namespace $labels.namespace }}` -}}
{{- $describe := `kubectl -n {{ or $labels.exported_namespace $labels.namespace }} describe yurtappdaemon {{ $labels.name }}` -}}
{{- $logs := printf "kubectl -n %s logs -l app.kubernetes.io/instance=%s --prefix --tail=-1" $namespace .Release.Name -}}
- alert: YurtAppDaemonOperatorDown
  expr: absent(up{ {{- $of -}} } == 1)
  for: 5m
  labels: {severity: critical}
  annotations:
    summary: Prometheus reaches no replica of {{ $name }}.
    description: Workloads continue to run, but nothing is reconciled{{ if and .Values.webhook.enabled (eq .Values.webhook.failurePolicy "Fail") }}, and YurtAppDaemons cannot be written{{ end }}. See kubectl -n {{ $namespace }} get pods.
- alert: YurtAppDaemonOperatorHasNoLeader
  expr: sum(leader_election_master_status{ {{- $of -}} }) < 1
  for: 5m
  labels: {severity: critical}
  annotations:
    summary: No replica of {{ $name }} leads, so no YurtAppDaemon is reconciled.
    description: The replicas' /readyz and their log about the Lease yurtappdaemon-operator in namespace {{ $namespace }} show the reason.
- alert: YurtAppDaemonOperatorHasTwoLeaders
  # A target that Prometheus scrapes twice counts once.
  expr: sum(max by (instance) (leader_election_master_status{ {{- $of -}} })) > 1
  for: 2m
  labels: {severity: critical}
  annotations:
    summary: Operator {{ $name }} has {{ `{{ $value }}` }} leaders at the same time.
    description: Together they may update more pools at the same time than maxUnavailable allows. The Lease yurtappdaemon-operator in namespace {{ $namespace }} has the name of the replica that should lead.
- alert: YurtAppDaemonReadsFail
  expr: time() - min by (instance, resource) (informer_failing_since_timestamp_seconds{ {{- $of -}} } > 0) > 300
  labels: {severity: warning}
  annotations:
    summary: {{ `Replica {{ $labels.instance }} has not been able to read {{ $labels.resource }} for 5 minutes.` }}
    description: The replica acts on the objects that it read before, and does not delete anything because of missing objects. Its log has the verb and the error.
- alert: YurtAppDaemonReconcileErrors
  expr: sum by (controller) (rate(controller_runtime_reconcile_errors_total{ {{- $of -}} }[10m])) > 0.02
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: {{ `Reconciles of controller {{ $labels.controller }} keep failing.` }}
    description: {{ $logs }} | grep 'reconcile failed' shows the objects and the errors.
- alert: YurtAppDaemonWorkWaits
  # The first part is true if reconciles are slow, the second if no key leaves the queue. Replicas that do not lead process no keys.
  expr: |-
    histogram_quantile(0.9, sum by (name, le) (rate(workqueue_queue_duration_seconds_bucket{ {{- $of -}} }[10m]) {{ $leads }})) > 30
    or
    max by (name) (workqueue_depth{ {{- $of -}} } {{ $leads }}) > 0
    unless on (name) sum by (name) (rate(workqueue_work_duration_seconds_count{ {{- $of -}} }[10m])) > 0
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: {{ `Objects of controller {{ $labels.name }} wait more than 30 s to be reconciled.` }}
    description: The apiserver may be slow (rest_client_requests_total with code 429 or 5xx), or there are too few workers (value workers).
- alert: YurtAppDaemonPoolsFailed
  expr: max by ({{ $ofDaemon }}) (yurtappdaemon_pools{state="failed"}) > 0
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: {{ $daemon }} has {{ `{{ $value }}` }} failed pools.
    description: {{ $pools }} -o wide shows these pools and the reasons.
- alert: YurtAppDaemonPoolsOffline
  expr: max by ({{ $ofDaemon }}) (yurtappdaemon_pools{state="offline"}) > 0
  for: 1h
  labels: {severity: info}
  annotations:
    summary: At every moment of the last hour, pools of {{ $daemon }} were offline (now {{ `{{ $value }}` }}).
    description: {{ $pools }} shows these pools. A rollout continues without them.
- alert: YurtAppDaemonRolloutStopped
  expr: max by ({{ $ofDaemon }}) (yurtappdaemon_rollout_stopped) > 0
  for: 1m
  labels: {severity: warning}
  annotations:
    summary: The rollout of {{ $daemon }} has stopped before its end.
    description: Condition Progressing in the output of {{ $describe }} has the reason and the fix.
- alert: YurtAppDaemonRolloutStandsStill
  expr: |-
    max by ({{ $ofDaemon }}) (yurtappdaemon_pools{state="updated"}) < max by ({{ $ofDaemon }}) (yurtappdaemon_pools{state="desired"})
    unless max by ({{ $ofDaemon }}) (changes(yurtappdaemon_pools{state="updated"}[1h])) > 0
  for: 6h
  labels: {severity: info}
  annotations:
    summary: The rollout of {{ $daemon }} has not updated a pool for 6 hours.
    description: The rollout may be paused, or wait for an approval or for sites. Condition Progressing in the output of {{ $describe }} has the reason.
- alert: YurtAppDaemonPoolsWait
  # Waits for the other reasons end by themselves, at a certain time or with the rollout.
  expr: max by ({{ $ofDaemon }}, reason) (yurtappdaemon_waiting_pools{reason=~"Approval|Freeze|Hold|Pause|Prefetch"}) > 0
  for: 24h
  labels: {severity: info}
  annotations:
    summary: At every moment of the last day, pools of {{ $daemon }} waited for their update (reason {{ `{{ $labels.reason }}, now {{ $value }}` }}).
    description: {{ $pools }} -o wide shows these pools, and how the wait ends.
- alert: YurtAppDaemonRemovalBlocked
  expr: max by ({{ $ofDaemon }}) (yurtappdaemon_blocked_removals) > 0
  for: 1m
  labels: {severity: warning}
  annotations:
    summary: {{ $daemon }} would remove {{ `{{ $value }}` }} workloads, which may be a mistake. The workloads stay.
    description: Condition RemovalBlocked in the output of {{ $describe }} has the pools and the reason. Restore the pools, or allow the removal with the command in the message of the condition.
- alert: YurtAppDaemonPodsMisplaced
  expr: max by ({{ $ofDaemon }}) (yurtappdaemon_misplaced_replicas) > 0
  for: 30m
  labels: {severity: info}
  annotations:
    summary: {{ $daemon }} has {{ `{{ $value }}` }} pods on nodes that are not in the pool of these pods.
    description: Event PodsMisplaced in the output of {{ $describe }} has the pools and the nodes.
- alert: YurtAppDaemonRepairsGoOn
  expr: |-
    (sum(increase(yurtappdaemon_workload_writes_total{operation="Repair",{{ $of }}}[1h])) or vector(0))
    + (sum(increase(yurtappdaemon_service_writes_total{operation="Repair",{{ $of }}}[1h])) or vector(0)) > 6
  for: 1h
  labels: {severity: warning}
  annotations:
    summary: The operator repairs workloads or Services again and again, because another program changes them.
    description: kubectl get events -A --field-selector reason=RepairsSlowedDown shows the YurtAppDaemons and the pools. The managedFields of the workloads and the Services have the name of the program.
- alert: YurtAppDaemonEventsDropped
  expr: sum(increase(event_recorder_dropped_total{ {{- $of -}} }[15m])) > 0
  for: 15m
  labels: {severity: info}
  annotations:
    summary: Events of {{ $name }} are not written.
    description: The queue of events is full, or the apiserver rejects the events or is unreachable. Status and log have the same facts.
- alert: NodePoolNodesUnhealthy
  expr: sum by (pool, state) (max by (pool, state) (nodepool_nodes{state=~"warning|notReady",{{ $of }}})) > 0
  for: 1h
  labels: {severity: info}
  annotations:
    summary: {{ `NodePool {{ $labels.pool }} has {{ $value }} nodes in state {{ $labels.state }}.` }}
    description: {{ `Condition Degraded of kubectl describe nodepools.apps.openyurt.io {{ $labels.pool }} has these nodes and the reason.` }}
- alert: NodePoolAutoscalerShort
  expr: max by (name) (nodepool_autoscaler_waiting_pods{ {{- $of -}} }) > 0
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: {{ `NodePoolAutoscaler {{ $labels.name }} has no node for {{ $value }} pods.` }}
    description: {{ `Condition Short of kubectl describe nodepoolautoscaler {{ $labels.name }} has the reason.` }}
- alert: NodePoolAutoscalerNodesQuarantined
  expr: max by (name) (nodepool_autoscaler_nodes{state="quarantined",{{ $of }}}) > 0
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: {{ `NodePoolAutoscaler {{ $labels.name }} keeps {{ $value }} nodes out of its inventory.` }}
    description: {{ `kubectl describe nodepoolautoscaler {{ $labels.name }} shows these nodes, and event NodeQuarantined of each Node has the reason.` }}
{{- if .Values.webhook.enabled }}
{{- $left := include "yad.certificateSecondsLeft" . | int64 }}
{{- $expires := printf "min(yurtappdaemon_webhook_certificate_expiry_timestamp_seconds{%s}) - time()" $of }}
{{- $then := ternary "no YurtAppDaemon can be written after that" "YurtAppDaemons are written without checks after that" (eq .Values.webhook.failurePolicy "Fail") }}
- alert: YurtAppDaemonWebhookCertificateExpires
  # The certificate should have been replaced earlier.
  expr: {{ $expires }} < {{ $left }}
  for: 5m
  labels: {severity: warning}
  annotations:
    summary: The certificate of the admission webhook of {{ $name }} was not renewed in time.
    description: {{ `The certificate expires in {{ $value | humanizeDuration }};` }} {{ $then }}.
- alert: YurtAppDaemonWebhookCertificateExpires
  expr: {{ $expires }} < {{ min (div $left 4) 604800 }}
  for: 5m
  labels: {severity: critical}
  annotations:
    summary: The certificate of the admission webhook of {{ $name }} expires soon.
    description: {{ `The certificate expires in {{ $value | humanizeDuration }};` }} {{ $then }}.
- alert: YurtAppDaemonWebhookFails
  expr: sum(rate(controller_runtime_webhook_requests_total{code=~"5..", {{- $of -}} }[10m])) > 0
  for: 10m
  labels: {severity: warning}
  annotations:
    summary: The admission webhook of {{ $name }} responds to reviews with internal errors.
    description: {{ $logs }} shows the error.
- alert: YurtAppDaemonWebhookIsSlow
  expr: histogram_quantile(0.99, sum by (le) (rate(controller_runtime_webhook_latency_seconds_bucket{ {{- $of -}} }[10m]))) > {{ mulf .Values.webhook.timeoutSeconds 0.8 }}
  for: 10m
  labels: {severity: warning}
  annotations:
    summary: One admission review in a hundred takes more than four fifths of webhook.timeoutSeconds ({{ .Values.webhook.timeoutSeconds }} s).
    description: Most of this time is spent on dry runs of workloads, in which the apiserver waits for other webhooks and quota.
- alert: YurtAppDaemonDryRunsUnanswered
  expr: |-
    sum(rate(yurtappdaemon_admission_dry_runs_total{result="unknown",{{ $of }}}[30m]))
    / sum(rate(yurtappdaemon_admission_dry_runs_total{ {{- $of -}} }[30m])) > 0.5
  for: 30m
  labels: {severity: info}
  annotations:
    summary: More than half of the dry runs of {{ $name }} have no result, so mistakes in templates are found only after they are stored.
    description: A webhook of the cluster does not support dry runs, or does not respond in time. The log of the apiserver has its name.
{{- end }}
{{- end -}}

{{/*
A time in seconds. If a certificate has less than this time left, its renewal is overdue (alert
YurtAppDaemonWebhookCertificateExpires). The certificate should be renewed when twice this time is left.
*/}}
{{- define "yad.certificateSecondsLeft" -}}
{{- $mode := include "yad.certificateMode" . -}}
{{- if and (eq $mode "certManager") .Values.certManager.renewBefore -}}
{{- div (include "yad.seconds" .Values.certManager.renewBefore | int64) 2 -}}
{{- else -}}
{{- $validity := get (dict "secret" .Values.webhook.certificateValidity "certManager" .Values.certManager.duration "files" "1008h") $mode -}}
{{- div (include "yad.seconds" $validity | int64) 6 -}}
{{- end -}}
{{- end -}}
