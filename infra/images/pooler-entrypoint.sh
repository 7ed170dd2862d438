#!/bin/sh
# Becomes PgBouncer in transaction mode on port 6432, before the PostgreSQL at POOLER_SERVER (host:port).
#
# DATABASE_URL, DATABASE_DISPATCH_URL, DATABASE_CONSOLE_URL, DATABASE_PEOPLE_URL, DATABASE_STAFF_URL  name the roles that
# it serves, with their passwords; their host and port are not read. Migrations, the superuser and LISTEN reach PostgreSQL itself.
# POOLER_SERVER_CA    a file of certificates by which it verifies PostgreSQL; without it, the way to it is encrypted only.
# POOLER_CERTIFICATE  a folder with server.crt and server.key, by which clients verify it; without it, it makes its own.
set -eu
umask 0077

folder=$(mktemp -d)
for url in "${DATABASE_URL:?}" "${DATABASE_DISPATCH_URL:?}" "${DATABASE_CONSOLE_URL:?}" \
    "${DATABASE_PEOPLE_URL:?}" "${DATABASE_STAFF_URL:?}"; do
    account=${url#*://}
    account=${account%%@*}
    printf '"%s" "%s"\n' "${account%%:*}" "${account#*:}"
done > "$folder/users.txt"
unset DATABASE_URL DATABASE_DISPATCH_URL DATABASE_CONSOLE_URL DATABASE_PEOPLE_URL DATABASE_STAFF_URL

# Encrypts the way between hosts, as PostgreSQL's own certificate does.
if [ -n "${POOLER_CERTIFICATE:-}" ]; then
    cp "$POOLER_CERTIFICATE/server.crt" "$POOLER_CERTIFICATE/server.key" "$folder/"
else
    openssl req -new -x509 -nodes -days 3650 -newkey rsa:3072 -subj /CN=pooler \
        -keyout "$folder/server.key" -out "$folder/server.crt" 2>/dev/null
fi

server_tls=require
[ -z "${POOLER_SERVER_CA:-}" ] || server_tls=verify-full

# Sessions of the server that no number of clients can pass. With the sessions that reach PostgreSQL itself (two a host
# of the API, migrations, backups) they stay below max_connections.
cat > "$folder/pgbouncer.ini" <<END
[databases]
ava = host=${POOLER_SERVER%:*} port=${POOLER_SERVER##*:} dbname=ava
[pgbouncer]
listen_addr = *
listen_port = 6432
unix_socket_dir =
auth_type = scram-sha-256
auth_file = $folder/users.txt
pool_mode = transaction
max_client_conn = ${POOLER_CLIENTS:-4000}
default_pool_size = ${POOLER_SESSIONS:-200}
max_db_connections = ${POOLER_SESSIONS:-200}
server_idle_timeout = 300
server_login_retry = 1
query_wait_timeout = 60
client_tls_sslmode = allow
client_tls_key_file = $folder/server.key
client_tls_cert_file = $folder/server.crt
server_tls_sslmode = ${POOLER_SERVER_TLS:-$server_tls}
${POOLER_SERVER_CA:+server_tls_ca_file = $POOLER_SERVER_CA}
tcp_keepalive = 1
tcp_keepidle = 30
tcp_keepintvl = 10
tcp_keepcnt = 3
log_connections = 0
log_disconnections = 0
END
exec pgbouncer "$folder/pgbouncer.ini"
