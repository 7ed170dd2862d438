#!/bin/sh
# Becomes Prometheus. The certificates of AVA_DOMAIN and S3_DOMAIN are watched if the host has these names.
set -eu

targets='[]'
[ -z "${AVA_DOMAIN:-}" ] || targets="[{\"targets\": [\"$AVA_DOMAIN:443\", \"${S3_DOMAIN:?}:443\"]}]"
printf '%s\n' "$targets" > "${CERTIFICATE_TARGETS:-/prometheus/certificates.json}"

exec prometheus --config.file=/etc/prometheus/ava/prometheus.yml --storage.tsdb.path=/prometheus "$@"
