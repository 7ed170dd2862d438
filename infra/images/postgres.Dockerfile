# PostgreSQL 18 with Apache AGE and pgvector from PostgreSQL's own archive for Debian stable (PGDG), which keeps every version.
# PostgreSQL and AGE are in the versions that the tests run; pgvector in a later one of the same series.
# Build context: the repository root.   docker build -f infra/images/postgres.Dockerfile -t ava/postgres .
FROM ghcr.io/astral-sh/uv:0.13.9 AS uv

# The programs of the archive, in the versions of the lock, for the Python of the image below.
FROM debian:trixie-20260824-slim AS archive
COPY --from=uv /uv /usr/local/bin/uv
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 ca-certificates \
 && rm -rf /var/lib/apt/lists/*
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /build
COPY infra/images/postgres.lock ./
RUN uv venv --python /usr/bin/python3 /opt/archive \
 && uv pip install --no-config --no-cache --python /opt/archive/bin/python --no-deps --require-hashes -r postgres.lock

FROM debian:trixie-20260824-slim
# The user first, so that its number is ours and a volume keeps its owner. No cluster at install time: the entry point creates one in the volume, with our locale and authentication.
# The archive's key comes with Debian's postgresql-client-common. What is from Debian follows its security fixes.
# hadolint ignore=DL3008
RUN groupadd --gid 10002 postgres \
 && useradd --uid 10002 --gid postgres --home-dir /var/lib/postgresql --shell /usr/sbin/nologin postgres \
 && apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-common openssl python3 ca-certificates pgbouncer \
 && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
 && echo 'deb [signed-by=/usr/share/postgresql-common/pgdg/apt.postgresql.org.gpg] https://apt-archive.postgresql.org/pub/repos/apt trixie-pgdg-archive main' \
    > /etc/apt/sources.list.d/pgdg.list \
 && apt-get update \
 && apt-get install --yes --no-install-recommends \
    postgresql-18=18.6-1.pgdg13+2 postgresql-client-18=18.6-1.pgdg13+2 \
    postgresql-18-age=1.7.0~rc0-1.pgdg13+1 postgresql-18-pgvector=0.8.6-1.pgdg13+1 \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=postgres --group=postgres --mode=0700 /var/lib/postgresql/data \
 && install --directory --owner=postgres --group=postgres /run/postgresql
ENV PATH=/usr/lib/postgresql/18/bin:/opt/archive/bin:$PATH \
    HOME=/tmp \
    PGDATA=/var/lib/postgresql/data/18
COPY --from=archive /opt/archive /opt/archive
COPY --chmod=0755 infra/images/postgres-entrypoint.sh /usr/local/bin/postgres-entrypoint
COPY --chmod=0755 infra/images/ava-archive /usr/local/bin/ava-archive
COPY --chmod=0755 infra/images/ava-backup /usr/local/bin/ava-backup
COPY infra/backups /opt/ava/infra/backups
# The same image is the pooler, with this entry point.
COPY --chmod=0755 infra/images/pooler-entrypoint.sh /usr/local/bin/pooler-entrypoint
VOLUME /var/lib/postgresql/data
USER 10002:10002
EXPOSE 5432
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=5 \
    CMD ["pg_isready", "--quiet", "--host", "127.0.0.1", "--username", "postgres", "--dbname", "postgres"]
# SIGINT is PostgreSQL's fast shutdown; SIGTERM would wait for every client to leave.
STOPSIGNAL SIGINT
# Arguments become settings of the server: `-c shared_buffers=8GB`.
ENTRYPOINT ["postgres-entrypoint"]
