{{- define "petrigate.labels" -}}
app.kubernetes.io/name: petrigate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "petrigate.config" -}}
{{- $listen := dict "http" "0.0.0.0:7777" "allowedHosts" .Values.allowedHosts "tokenFile" "/etc/petrigate-tokens/tokens" -}}
{{- $state := dict "driver" "postgres" "dsn" "${PETRIGATE_DSN}" -}}
{{- toYaml (merge (dict "listen" $listen "state" $state) .Values.config) -}}
{{- end }}
