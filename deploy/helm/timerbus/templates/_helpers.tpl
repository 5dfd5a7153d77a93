{{/* The beginning of all names. 50 characters leave room for "-dispatcher" in the 63 of a Service. */}}
{{- define "timerbus.fullname" -}}
{{- $name := ternary .Release.Name (printf "%s-timerbus" .Release.Name) (contains "timerbus" .Release.Name) -}}
{{- default $name .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{/* The labels of an object: dict "root" . "component" "ingest". */}}
{{- define "timerbus.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{ include "timerbus.selector" . }}
{{- end }}

{{/* The labels of a role's pods that select them. */}}
{{- define "timerbus.selector" -}}
{{ include "timerbus.release" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* The labels of all objects of the release. */}}
{{- define "timerbus.release" -}}
app.kubernetes.io/name: timerbus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "timerbus.serviceAccount" -}}
{{- default (ternary (include "timerbus.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end }}

{{/* The values under pod with the exceptions of one workload: dict "root" . "pod" exceptions. YAML, for fromYaml. */}}
{{- define "timerbus.pod" -}}
{{- mergeOverwrite (deepCopy .root.Values.pod) (deepCopy .pod) | toYaml -}}
{{- end }}

{{- define "timerbus.image" -}}
{{ printf "%s:%s" .root.Values.image.repository (coalesce .tag .root.Values.image.tag .root.Chart.AppVersion) | quote }}
{{- end }}

{{/* One variable from the existing Secret: dict "root" . "name" "TIMERBUS_TOKEN" "key" "token". */}}
{{- define "timerbus.secret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ required "existingSecret is missing: name a Secret with the URLs of the store and the bus and the token (README.md of the chart)" .root.Values.existingSecret }}
      key: {{ .key }}
{{- end }}

{{- define "timerbus.storeEnv" -}}
{{- with .Values.store.url -}}
- {name: TIMERBUS_STORE, value: {{ . | quote }}}
{{- else -}}
{{ include "timerbus.secret" (dict "root" $ "name" "TIMERBUS_STORE" "key" .Values.secretKeys.store) }}
{{- end }}
{{- end }}

{{/* The settings of the roles. */}}
{{- define "timerbus.env" -}}
{{ include "timerbus.storeEnv" . }}
{{- with .Values.bus.url }}
- {name: TIMERBUS_BUS, value: {{ . | quote }}}
{{- else }}
{{ include "timerbus.secret" (dict "root" $ "name" "TIMERBUS_BUS" "key" .Values.secretKeys.bus) }}
{{- end }}
{{- if .Values.insecure }}
- {name: TIMERBUS_INSECURE, value: "true"}
{{- else }}
{{ include "timerbus.secret" (dict "root" $ "name" "TIMERBUS_TOKEN" "key" .Values.secretKeys.token) }}
{{- end }}
{{- with .Values.secretKeys.secretKey }}
{{ include "timerbus.secret" (dict "root" $ "name" "TIMERBUS_SECRET_KEY" "key" .) }}
{{- end }}
{{- if .Values.tls.existingSecret }}
- {name: TIMERBUS_TLS_CERT, value: {{ include "timerbus.tlsFolder" . }}/tls.crt}
- {name: TIMERBUS_TLS_KEY, value: {{ include "timerbus.tlsFolder" . }}/tls.key}
{{- with .Values.tls.clientCA }}
- {name: TIMERBUS_TLS_CLIENT_CA, value: {{ include "timerbus.tlsFolder" $ }}/{{ . }}}
{{- end }}
{{- end }}
- {name: TIMERBUS_LISTEN, value: "0.0.0.0:8080"}
- {name: TIMERBUS_DRAIN_TIMEOUT, value: "{{ .Values.drainTimeoutSeconds }}s"}
{{- range $name, $value := .Values.settings }}
- {name: TIMERBUS_{{ $name | replace "-" "_" | upper }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}

{{- define "timerbus.tlsFolder" }}/etc/timerbus/tls{{ end }}

{{/* The scheme of the probes and of the metrics. */}}
{{- define "timerbus.scheme" }}{{ ternary "https" "http" (ne .Values.tls.existingSecret "") }}{{ end }}

{{/* The values of a role's pods, with the Secret of TLS: dict "root" . "pod" the merged values. YAML, for fromYaml. */}}
{{- define "timerbus.withTLS" -}}
{{- $pod := deepCopy .pod -}}
{{- with .root.Values.tls.existingSecret -}}
{{- $_ := set $pod "volumes" (append $pod.volumes (dict "name" "timerbus-tls" "secret" (dict "secretName" .))) -}}
{{- $_ := set $pod "volumeMounts" (append $pod.volumeMounts (dict "name" "timerbus-tls" "mountPath" (include "timerbus.tlsFolder" $) "readOnly" true)) -}}
{{- end -}}
{{- toYaml $pod -}}
{{- end }}

{{/* The fields of every pod: dict "root" . "pod" the merged values. */}}
{{- define "timerbus.podSpec" -}}
automountServiceAccountToken: false
# Variables such as TIMERBUS_INGEST_PORT=tcp://10.0.0.1:8080, which Kubernetes makes of Services, are not settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "volumes" }}
{{- with get $.pod $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* The fields of every container. */}}
{{- define "timerbus.container" -}}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
resources:
  {{- toYaml .pod.resources | nindent 2 }}
{{- with .pod.volumeMounts }}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
