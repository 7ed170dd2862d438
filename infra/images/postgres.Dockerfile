# PostgreSQL 18 with Apache AGE and pgvector, all from Debian forky: the first release that carries AGE for 18 (1.8).
# Build context: infra/images.   docker build -f infra/images/postgres.Dockerfile -t ava/postgres infra/images
FROM debian:forky-20260824-slim
# The user first, so that its number is ours and a volume keeps its owner. No cluster at install time: the entry point creates one in the volume, with our locale and authentication.
# Versions follow the release: PostgreSQL's minor releases are security fixes, and the major is in the package's name.
# hadolint ignore=DL3008
RUN groupadd --gid 10002 postgres \
 && useradd --uid 10002 --gid postgres --home-dir /var/lib/postgresql --shell /usr/sbin/nologin postgres \
 && apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-common openssl \
 && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
 && apt-get install --yes --no-install-recommends postgresql-18 postgresql-18-age postgresql-18-pgvector \
 && apt-get install --yes --no-install-recommends pgbouncer \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=postgres --group=postgres --mode=0700 /var/lib/postgresql/data \
 && install --directory --owner=postgres --group=postgres /run/postgresql
ENV PATH=/usr/lib/postgresql/18/bin:$PATH \
    PGDATA=/var/lib/postgresql/data/18
COPY --chmod=0755 postgres-entrypoint.sh /usr/local/bin/postgres-entrypoint
# The same image is the pooler, with this entry point.
COPY --chmod=0755 pooler-entrypoint.sh /usr/local/bin/pooler-entrypoint
VOLUME /var/lib/postgresql/data
USER 10002:10002
EXPOSE 5432
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=5 \
    CMD ["pg_isready", "--quiet", "--host", "127.0.0.1", "--username", "postgres", "--dbname", "postgres"]
# SIGINT is PostgreSQL's fast shutdown; SIGTERM would wait for every client to leave.
STOPSIGNAL SIGINT
# Arguments become settings of the server: `-c shared_buffers=8GB`.
ENTRYPOINT ["postgres-entrypoint"]
