{{- /* The preset's file of presets/, which `make presets` writes from the model table, for index workers with or without a
card. */ -}}
{{- define "ava.preset" -}}
{{- $file := printf "presets/%s.yaml" .Values.preset -}}
{{- $preset := required (printf "preset: the model table has no %s" .Values.preset) (.Files.Get $file) | fromYaml -}}
{{- if and .Values.index.gpu $preset.index_with_card -}}
{{- $_ := set $preset "index" $preset.index_with_card.index -}}
{{- range $variable, $server := $preset.index_with_card.plays -}}
{{- $_ := unset $preset.urls $variable -}}
{{- $_ := unset $preset.servers $server -}}
{{- end -}}
{{- end -}}
{{- toYaml $preset -}}
{{- end -}}

{{- define "ava.processes" -}}
{{- $preset := include "ava.preset" . | fromYaml -}}
{{- tpl (.Files.Get "processes.yaml") (dict "Values" .Values "preset" $preset "Template" .Template) -}}
{{- end -}}

{{- /* context: root, component, group. */ -}}
{{- define "ava.selector" -}}
app.kubernetes.io/name: ava
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "ava.labels" -}}
{{ include "ava.selector" . }}
ava/group: {{ .group }}
{{- end -}}

{{- define "ava.image" -}}
{{- $tag := index .root.Values.images.tags .image | default .root.Values.images.tag | default .root.Chart.AppVersion -}}
{{- $digest := index .root.Values.images.digests .image -}}
{{ .root.Values.images.registry }}/{{ .image }}:{{ $tag }}{{ with $digest }}@{{ . }}{{ end }}
{{- end -}}

{{- define "ava.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "ava.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- /* Settings of every process, as JSON: the names and values of infra/compose.yaml, without passwords. */ -}}
{{- define "ava.settings" -}}
{{- $preset := include "ava.preset" . | fromYaml -}}
{{- $release := .Release.Name -}}
{{- $pooler := printf "%s-pooler:6432/%s" $release .Values.database.name -}}
{{- $server := printf "%s:%v/%s" .Values.database.host .Values.database.port .Values.database.name -}}
{{- $settings := dict
  "AVA_METRICS_ADDRESS" "0.0.0.0:9464"
  "AVA_PUBLIC_URL" .Values.publicUrl
  "DATABASE_OWNER_URL" (printf "postgresql://app_owner@%s" $server)
  "DATABASE_CONSOLE_URL" (printf "postgresql://app_admin_ro@%s" $pooler)
  "DATABASE_LISTEN_URL" (printf "postgresql://app_rw@%s" $server)
  "MODEL_PRESET" .Values.preset
  "PGSSLMODE" "verify-full"
  "PGSSLROOTCERT" "/etc/ava/database/ca.crt"
  "PROMETHEUS_MULTIPROC_DIR" "/tmp/ava-metrics"
  "S3_BUCKET" .Values.storage.bucket
  "S3_REGION" .Values.storage.region
-}}
{{- with .Values.storage.endpoint }}{{ $_ := set $settings "S3_ENDPOINT_URL" . }}{{ end -}}
{{- range $variable, $server := $preset.urls -}}
{{- $_ := set $settings $variable (printf "http://%s-vllm-%s:8000/v1" $release $server) -}}
{{- end -}}
{{- merge (dict) .Values.environment $settings | toJson -}}
{{- end -}}

{{- /* The list `env` of a container. context: root, settings (a map), secrets (names), renamed (variable: key). */ -}}
{{- define "ava.env" -}}
{{- $secret := .root.Values.existingSecret -}}
{{- $named := dict -}}
{{- range .secrets }}{{ $_ := set $named . . }}{{ end -}}
{{- range $variable, $key := .renamed }}{{ $_ := set $named $variable $key }}{{ end -}}
{{- range $variable, $value := .settings }}
{{- if not (hasKey $named $variable) }}
- {name: {{ $variable }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}
{{- range $variable, $key := $named }}
- name: {{ $variable }}
  valueFrom: {secretKeyRef: {name: {{ $secret }}, key: {{ $key }}}}
{{- end }}
{{- end -}}

{{- /* Names of the keys of providers, or the one key of our own model servers. */ -}}
{{- define "ava.modelKeys" -}}
{{- $preset := include "ava.preset" . | fromYaml -}}
{{- if .Values.modelKeys }}{{ toJson .Values.modelKeys }}{{ else if $preset.servers }}[MODEL_API_KEY]{{ else if eq .Values.preset "hosted" }}[REASONER_API_KEY, DESCRIBER_API_KEY]{{ else }}[REASONER_API_KEY]{{ end -}}
{{- end -}}

{{- define "ava.objectSecrets" -}}
{{ if .Values.storage.keys }}[S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY]{{ else }}[]{{ end }}
{{- end -}}

{{- /* A container that waits until a model server answers. context: root, image, server. */ -}}
{{- define "ava.waitFor" -}}
{{- $url := printf "http://%s-vllm-%s:8000/health" .root.Release.Name .server -}}
- name: wait-for-{{ .server }}
  image: {{ include "ava.image" . }}
  imagePullPolicy: {{ .root.Values.images.pullPolicy }}
  command: [sh, -c, 'until python -c "import urllib.request; urllib.request.urlopen(\"{{ $url }}\", timeout=4)" 2>/dev/null; do sleep 5; done']
  {{- include "ava.container" . | nindent 2 }}
  resources: {requests: {cpu: 10m, memory: 64Mi}, limits: {memory: 128Mi}}
{{- end -}}

{{- define "ava.gpuScheduling" -}}
{{- with .Values.gpus.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .Values.gpus.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.gpus.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
