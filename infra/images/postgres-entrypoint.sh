#!/bin/sh
# Creates the cluster once, then becomes the server. Arguments go to `postgres`.
#
# POSTGRES_PASSWORD_FILE  names a file with the superuser's password (or POSTGRES_PASSWORD holds it); read only when the cluster is created.
# Roles, database and extensions are made by `manage.py provision`, not here.
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    if [ -z "${POSTGRES_PASSWORD_FILE:-}" ]; then
        : "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE to create the cluster}"
        POSTGRES_PASSWORD_FILE=$(mktemp)
        printf '%s\n' "$POSTGRES_PASSWORD" > "$POSTGRES_PASSWORD_FILE"
        made_password_file=$POSTGRES_PASSWORD_FILE
    fi
    # Built-in C.UTF-8: sorting does not change with the operating system's libc, so an index survives a new base image.
    initdb --pgdata="$PGDATA" --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" \
        --auth=scram-sha-256 --locale-provider=builtin --builtin-locale=C.UTF-8 --encoding=UTF8 --data-checksums
    printf 'host all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
    [ -z "${made_password_file:-}" ] || rm -f "$made_password_file"
fi
unset POSTGRES_PASSWORD POSTGRES_PASSWORD_FILE

# Encrypts the way between hosts; clients ask for it with PGSSLMODE=require.
if [ ! -s "$PGDATA/server.key" ]; then
    openssl req -new -x509 -nodes -days 3650 -newkey rsa:3072 -subj /CN=postgres \
        -keyout "$PGDATA/server.key" -out "$PGDATA/server.crt" 2>/dev/null
    chmod 0600 "$PGDATA/server.key"
fi

# age must be preloaded: otherwise each connection would need LOAD, and the superuser right to do it.
exec postgres -D "$PGDATA" \
    -c shared_preload_libraries=age -c 'listen_addresses=*' -c password_encryption=scram-sha-256 \
    -c ssl=on -c ssl_cert_file=server.crt -c ssl_key_file=server.key "$@"
