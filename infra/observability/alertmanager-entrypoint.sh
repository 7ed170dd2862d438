#!/bin/sh
# Becomes Alertmanager. Without a receiver it shows alerts on its own page and sends nothing.
#
# ALERT_WEBHOOK_URL   where alerts go as JSON: a pager, a chat, an own program.
# ALERT_MAIL_TO       who gets them by mail; with ALERT_MAIL_FROM, ALERT_MAIL_SERVER (host:587), ALERT_MAIL_USER and
#                     ALERT_MAIL_PASSWORD.
set -eu
umask 0077

folder=$(mktemp -d)
{
    cat <<END
route:
  receiver: operator
  group_by: [alertname]
  group_wait: 30s
  group_interval: 5m
  repeat_interval: 24h
  routes:
    - matchers: ['severity="page"']
      repeat_interval: 1h
# Without the database much else fires too.
inhibit_rules:
  - source_matchers: ['alertname="DatabaseAway"']
    target_matchers: ['alertname=~"ApiErrors|QuestionsWait|UploadsWait|IndexingWaits|WebhooksWait|DeletionsWait"']
receivers:
  - name: operator
END
    if [ -n "${ALERT_WEBHOOK_URL:-}" ]; then
        printf "    webhook_configs: [{url: '%s'}]\n" "$ALERT_WEBHOOK_URL"
    fi
    if [ -n "${ALERT_MAIL_TO:-}" ]; then
        cat <<END
    email_configs:
      - to: '$ALERT_MAIL_TO'
        from: '${ALERT_MAIL_FROM:?the address that alerts come from}'
        smarthost: '${ALERT_MAIL_SERVER:?host:port of the mail server}'
        send_resolved: true
END
        if [ -n "${ALERT_MAIL_USER:-}" ]; then
            printf '%s' "${ALERT_MAIL_PASSWORD:?the password of ALERT_MAIL_USER}" > "$folder/mail"
            printf "        auth_username: '%s'\n        auth_password_file: %s\n" "$ALERT_MAIL_USER" "$folder/mail"
        fi
    fi
} > "$folder/alertmanager.yml"
unset ALERT_WEBHOOK_URL ALERT_MAIL_PASSWORD

exec alertmanager --config.file="$folder/alertmanager.yml" --cluster.listen-address= "$@"
