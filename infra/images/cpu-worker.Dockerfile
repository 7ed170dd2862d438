# Workers with models in their own process, on a CPU: observer, speech, embedder, similarity. They index and answer.
# Build context: the repository root.   docker build -f infra/images/cpu-worker.Dockerfile -t ava/cpu-worker .
FROM ghcr.io/astral-sh/uv:0.13.9 AS uv

FROM python:3.11.14-slim-bookworm AS build
COPY --from=uv /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /build
COPY constraints/cpu.txt infra/images/cpu-worker.lock ./
# torch comes from PyTorch's own CPU index (--torch-backend): the build of the general registry brings 19 CUDA packages.
RUN uv venv /opt/venv \
 && uv pip install --no-config --no-cache --python /opt/venv/bin/python --no-deps --torch-backend cpu -r cpu.txt \
 && uv pip install --no-config --no-cache --python /opt/venv/bin/python --no-deps --require-hashes -r cpu-worker.lock

FROM python:3.11.14-slim-bookworm
# libseccomp locks down the processes that decode; it follows the pinned base's Debian release and its security fixes; pinning the point version would break at the next one.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libseccomp2 \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 ava \
 && useradd --uid 10001 --gid ava --home-dir /app --no-create-home --shell /usr/sbin/nologin ava \
 && install --directory --owner=ava --group=ava /var/cache/ava
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY infra/images/ava-health /usr/local/bin/ava-health
COPY manage.py ./
COPY backend ./backend
COPY workers ./workers
COPY gpu_workers ./gpu_workers
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=backend.settings \
    HOME=/var/cache/ava \
    AVA_CACHE_DIR=/var/cache/ava \
    HF_HOME=/var/cache/ava/huggingface
VOLUME /var/cache/ava
USER 10001:10001
# Whether a process of this container can run a task; three minutes without one end the container.
HEALTHCHECK --interval=30s --timeout=15s --start-period=300s --retries=3 \
    CMD ["ava-health", "6", "python", "-m", "workers.health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["celery", "--quiet", "-A", "workers.app", "worker", "--loglevel", "INFO"]
CMD ["--queues", "gpu.index", "--concurrency", "1"]
