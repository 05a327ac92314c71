{{- define "svc.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}

{{- define "svc.labels" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- /* (list $ "api"): the labels that select one component. */ -}}
{{- define "svc.selector" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "svc.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* Every pod: not root, nothing writable, not privileged. */ -}}
{{- define "svc.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "svc.containerSecurity" -}}
image: {{ include "svc.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- /* (list $ "api" "svc-api"): the pod of a long-running program. */ -}}
{{- define "svc.pod" -}}
{{- $ := index . 0 }}{{ $component := index . 1 }}{{ $command := index . 2 -}}
metadata:
  labels:
    {{- include "svc.labels" $ | nindent 4 }}
    app.kubernetes.io/component: {{ $component }}
spec:
  serviceAccountName: {{ include "svc.name" $ }}{{ if eq $component "runner" }}-runner{{ end }}
  {{- include "svc.podSecurity" $ | nindent 2 }}
  # Requests under way finish within 10 s of SIGTERM, which follows preStop.
  terminationGracePeriodSeconds: 30
  containers:
    - name: {{ $component }}
      {{- include "svc.containerSecurity" $ | nindent 6 }}
      command: [{{ $command }}]
      env:
        {{- if eq $component "runner" }}
        {{- include "svc.place" $ | nindent 8 }}
        {{- include "svc.variables" $.Values.runner.env | nindent 8 }}
        {{- else }}
        {{- include "svc.env" (list $ $component) | nindent 8 }}
        {{- end }}
        {{- if eq $component "api" }}
        - { name: SVC_PROCESSES, value: {{ $.Values.api.processes | quote }} }
        {{- end }}
      {{- if and $.Values.envFrom (ne $component "runner") }}
      envFrom:
        {{- toYaml $.Values.envFrom | nindent 8 }}
      {{- end }}
      ports:
        {{- if eq $component "api" }}
        - { name: http, containerPort: 8080 }
        {{- end }}
        - { name: admin, containerPort: 9464 }
      startupProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # Not /readyz: a hold usually affects all pods, and without any pod in the Service no caller could revoke.
      readinessProbe:
        httpGet: { path: /servez, port: admin }
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 2
      {{- if eq $component "api" }}
      lifecycle:
        # The pod accepts requests until every proxy has learned that it is ending.
        preStop:
          exec:
            command: [sleep, "8"]
      {{- end }}
      resources:
        {{- toYaml (index $.Values $component).resources | nindent 8 }}
      volumeMounts:
        - { name: credentials, mountPath: /run/secrets/svc-credentials, readOnly: true }
        {{- if ne $component "runner" }}
        # The folder of the marker of deploy/image/start: it survives a container that probes end, but not the pod.
        - { name: must-not-start, mountPath: /run/svc }
        {{- include "svc.mounts" $ | nindent 8 }}
        {{- end }}
  volumes:
    - name: credentials
      {{- if eq $component "runner" }}
      {{- include "svc.credentials" (dict "database-url" $.Values.secrets.runnerDatabase) | nindent 6 }}
      {{- else if eq $component "worker" }}
      {{- include "svc.credentials" (dict "database-url" $.Values.secrets.database "key-passphrase" $.Values.secrets.keyPassphrase "pkcs11-pin" $.Values.secrets.pkcs11Pin "webhook-keys" $.Values.secrets.webhookKeys) | nindent 6 }}
      {{- else }}
      {{- include "svc.credentials" (include "svc.apiSecrets" $ | fromJson) | nindent 6 }}
      {{- end }}
    {{- if ne $component "runner" }}
    - name: must-not-start
      emptyDir: { sizeLimit: 1Mi }
    - name: signing-keys
      secret:
        secretName: {{ $.Values.secrets.signingKeys.name }}
        defaultMode: 288 # 0440
        {{- if eq $component "worker" }}
        # The worker signs status lists and checkpoints, no Receipts.
        items:
          {{- range prepend $.Values.worker.keyFiles "status-keys.json" }}
          - { key: {{ . }}, path: {{ . }} }
          {{- end }}
        {{- end }}
    {{- include "svc.volumes" $ | nindent 4 }}
    {{- end }}
{{- end -}}

{{- /* Keys, token, fence and cold days, for every program but the runner; signing-keys is a volume of the pod. */ -}}
{{- define "svc.mounts" -}}
- { name: signing-keys, mountPath: /run/secrets/svc, readOnly: true }
{{- if .Values.signers.pkcs11.volume }}
- { name: pkcs11, mountPath: {{ .Values.signers.pkcs11.mountPath }}, readOnly: true }
{{- end }}
{{- if .Values.fence.existingClaim }}
- { name: fence, mountPath: {{ trimPrefix "file://" .Values.fence.url | quote }} }
{{- end }}
{{- if .Values.cold.existingClaim }}
- { name: cold, mountPath: {{ trimPrefix "file://" .Values.cold.url | quote }} }
{{- end }}
{{- end -}}

{{- define "svc.volumes" -}}
{{- with .Values.signers.pkcs11.volume }}
- name: pkcs11
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.fence.existingClaim }}
- name: fence
  persistentVolumeClaim:
    claimName: {{ . }}
{{- end }}
{{- with .Values.cold.existingClaim }}
- name: cold
  persistentVolumeClaim:
    claimName: {{ . }}
{{- end }}
{{- end -}}

{{- /* As JSON, by the name of the file. */ -}}
{{- define "svc.apiSecrets" -}}
{{- $secrets := .Values.secrets -}}
{{ dict "database-url" $secrets.database "database-read-url" $secrets.readDatabase "admin-token" $secrets.adminToken "provision-keys" $secrets.provisionKeys "key-passphrase" $secrets.keyPassphrase "pkcs11-pin" $secrets.pkcs11Pin "webhook-keys" $secrets.webhookKeys | toJson }}
{{- end -}}

{{- /* (dict "file-name" .Values.secrets.one …): one file each; none where the Secret has no name. */ -}}
{{- define "svc.credentials" -}}
projected:
  defaultMode: 288 # 0440
  sources:
    {{- range $file, $secret := . }}
    {{- if $secret.name }}
    - secret:
        name: {{ $secret.name }}
        items:
          - { key: {{ $secret.key | quote }}, path: {{ $file }} }
    {{- end }}
    {{- end }}
{{- end -}}

{{- define "svc.variables" -}}
{{- range $name, $value := . }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end -}}

{{- /* The environment of all programs. */ -}}
{{- define "svc.place" -}}
- { name: SVC_ENV, value: production }
- { name: SVC_DOMAIN, value: {{ required "domain: part of every DID" .Values.domain | quote }} }
{{- with .Values.baseUrl }}
- { name: SVC_BASE_URL, value: {{ . | quote }} }
{{- end }}
{{- with .Values.statusBaseUrl }}
- { name: SVC_STATUS_BASE_URL, value: {{ . | quote }} }
{{- end }}
# For the kubelet and Prometheus; the network policy refuses every other client.
- { name: SVC_ADMIN_HOST, value: 0.0.0.0 }
- { name: DATABASE_URL_FILE, value: /run/secrets/svc-credentials/database-url }
{{- if .Values.databaseWithoutTls }}
- { name: SVC_DATABASE_WITHOUT_TLS, value: "1" }
{{- end }}
{{- end -}}

{{- /* (list $ "api"): the environment of API, worker and svc-admin. What callers may do is configured for the API only. */ -}}
{{- define "svc.env" -}}
{{- $ := index . 0 }}{{ $component := index . 1 -}}
{{- $keys := ternary "/var/lib/svc-keys/set" "/run/secrets/svc" (eq $component "admin") -}}
{{ include "svc.place" $ }}
{{- if ne $component "worker" }}
- { name: SVC_HOST, value: 0.0.0.0 }
- { name: SVC_TRUST_PROXY, value: {{ $.Values.trustProxy | quote }} }
- { name: SVC_RECEIPT_KEYS, value: {{ $keys }}/receipt-keys.json }
- { name: SVC_ADMIN_TOKEN_FILE, value: /run/secrets/svc-credentials/admin-token }
{{- if $.Values.secrets.readDatabase.name }}
- { name: DATABASE_READ_URL_FILE, value: /run/secrets/svc-credentials/database-read-url }
{{- end }}
{{- if $.Values.secrets.provisionKeys.name }}
- { name: SVC_PROVISION_KEYS_FILE, value: /run/secrets/svc-credentials/provision-keys }
{{- end }}
{{- end }}
- { name: SVC_STATUS_KEYS, value: {{ $keys }}/status-keys.json }
- { name: SVC_FENCE, value: {{ required "fence.url: where the fence lies, apart from the database" $.Values.fence.url | quote }} }
{{- with $.Values.fence.endpoint }}
- { name: SVC_FENCE_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- if $.Values.cold.url }}
- { name: SVC_COLD, value: {{ $.Values.cold.url | quote }} }
{{- with $.Values.cold.endpoint }}
- { name: SVC_COLD_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- if ne $component "api" }}
- { name: SVC_HOT_DAYS, value: {{ $.Values.cold.hotDays | quote }} }
- { name: SVC_COLD_GRACE_DAYS, value: {{ $.Values.cold.graceDays | quote }} }
{{- end }}
{{- end }}
{{- if $.Values.secrets.webhookKeys.name }}
- { name: SVC_WEBHOOK_KEYS_FILE, value: /run/secrets/svc-credentials/webhook-keys }
{{- end }}
{{- include "svc.signers" $ }}
{{- include "svc.variables" $.Values.env }}
{{- end -}}

{{- /* The settings for private keys outside of the key sets. */ -}}
{{- define "svc.signers" -}}
{{- if .Values.secrets.keyPassphrase.name }}
- { name: SVC_KEY_PASSPHRASE_FILE, value: /run/secrets/svc-credentials/key-passphrase }
{{- end }}
{{- if .Values.secrets.pkcs11Pin.name }}
- { name: SVC_PKCS11_PIN_FILE, value: /run/secrets/svc-credentials/pkcs11-pin }
{{- end }}
{{- with .Values.signers }}
{{- if .pkcs11.volume }}
- { name: UV_THREADPOOL_SIZE, value: {{ .pkcs11.threads | quote }} }
{{- include "svc.variables" .pkcs11.env }}
{{- end }}
{{- with .awsKms.region }}
- { name: AWS_REGION, value: {{ . | quote }} }
{{- end }}
{{- with .awsKms.endpoint }}
- { name: AWS_ENDPOINT_URL_KMS, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "svc.notPublic" -}}
ipBlock:
  cidr: 0.0.0.0/0
  except:
    {{- toYaml .Values.networkPolicy.notPublic | nindent 4 }}
{{- end -}}
