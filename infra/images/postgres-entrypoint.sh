#!/bin/sh
# Creates the cluster once, then becomes the server. Arguments go to `postgres`.
#
# POSTGRES_PASSWORD_FILE  names a file with the superuser's password (or POSTGRES_PASSWORD holds it); read only when the cluster is created.
# PRIMARY_URL             postgresql://app_replication:…@host:5432/postgres of the server that a new cluster copies and then follows.
# POSTGRES_NAMES          names in the server's certificate (subjectAltName) by which clients verify it; default: postgres.
# WAL_ARCHIVE_URL         the archive of the log in S3 (ava-archive has the other variables); without it there is none.
# Roles, database and extensions are made by `manage.py provision`, not here.
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ] && [ -n "${PRIMARY_URL:-}" ]; then
    # The slot keeps what the standby has not read; beyond max_slot_wal_keep_size the standby reads the archive.
    until pg_receivewal --dbname="$PRIMARY_URL" --create-slot --if-not-exists --slot=standby; do
        sleep 2
    done
    rm -rf "$PGDATA.new"
    pg_basebackup --pgdata="$PGDATA.new" --dbname="$PRIMARY_URL" --slot=standby --write-recovery-conf --checkpoint=fast
    mv "$PGDATA.new" "$PGDATA"
elif [ ! -s "$PGDATA/PG_VERSION" ]; then
    if [ -z "${POSTGRES_PASSWORD_FILE:-}" ]; then
        : "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE to create the cluster}"
        POSTGRES_PASSWORD_FILE=$(mktemp)
        printf '%s\n' "$POSTGRES_PASSWORD" > "$POSTGRES_PASSWORD_FILE"
        made_password_file=$POSTGRES_PASSWORD_FILE
    fi
    # Built-in C.UTF-8: sorting does not change with the operating system's libc, so an index survives a new base image.
    initdb --pgdata="$PGDATA" --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" \
        --auth-local=peer --auth-host=scram-sha-256 --locale-provider=builtin --builtin-locale=C.UTF-8 --encoding=UTF8 --data-checksums
    printf 'host all all all scram-sha-256\nhost replication app_replication all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
    [ -z "${made_password_file:-}" ] || rm -f "$made_password_file"
fi
unset POSTGRES_PASSWORD POSTGRES_PASSWORD_FILE PRIMARY_URL

# Encrypts the way between hosts. Clients verify it with PGSSLMODE=verify-full and a copy of server.crt as PGSSLROOTCERT. A
# standby has the same certificate, so it can take over the name.
if [ ! -s "$PGDATA/server.key" ]; then
    openssl req -new -x509 -nodes -days 3650 -newkey rsa:3072 -subj /CN=postgres \
        -addext "subjectAltName=${POSTGRES_NAMES:-DNS:postgres}" \
        -keyout "$PGDATA/server.key" -out "$PGDATA/server.crt" 2>/dev/null
    chmod 0600 "$PGDATA/server.key"
fi

# A segment of the log goes to the archive when it is full or 30 s old, so a lost disk costs less than a minute.
if [ -n "${WAL_ARCHIVE_URL:-}" ]; then
    set -- -c archive_mode=on -c archive_timeout=30 -c "archive_command=ava-archive push %p" \
        -c "restore_command=ava-archive fetch %f %p" "$@"
fi

# age must be preloaded: otherwise each connection would need LOAD, and the superuser right to do it.
exec postgres -D "$PGDATA" \
    -c shared_preload_libraries=age -c 'listen_addresses=*' -c password_encryption=scram-sha-256 \
    -c ssl=on -c ssl_cert_file=server.crt -c ssl_key_file=server.key -c max_slot_wal_keep_size=16GB "$@"
