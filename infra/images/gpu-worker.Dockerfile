# Index workers on a GPU: similarity model, speech and decoder in the worker's own process; VLM, LLM and embedders are servers.
# Build context: the repository root.   docker build -f infra/images/gpu-worker.Dockerfile -t ava/gpu-worker .
# CUDA 12 for CTranslate2 (faster-whisper), which loads cuBLAS 12 from the system. torch brings its own CUDA 13, which needs
# driver 580 or newer.
FROM ghcr.io/astral-sh/uv:0.13.9 AS uv

FROM nvidia/cuda:12.9.1-runtime-ubuntu24.04 AS python
# Ubuntu 24.04 has Python 3.12, the newest that pyproject.toml admits.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 libseccomp2 \
 && rm -rf /var/lib/apt/lists/*

FROM python AS build
COPY --from=uv /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /build
COPY infra/images/gpu-worker.lock ./
RUN uv venv --python /usr/bin/python3 /opt/venv \
 && uv pip install --no-config --no-cache --python /opt/venv/bin/python --no-deps --require-hashes -r gpu-worker.lock

FROM python
RUN groupadd --gid 10001 ava \
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
    MALLOC_ARENA_MAX=2 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=backend.settings \
    HOME=/var/cache/ava \
    AVA_CACHE_DIR=/var/cache/ava \
    HF_HOME=/var/cache/ava/huggingface \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility,video
VOLUME /var/cache/ava
USER 10001:10001
# Whether a process of this container can run a task; three minutes without one end the container.
HEALTHCHECK --interval=30s --timeout=15s --start-period=300s --retries=3 \
    CMD ["ava-health", "6", "python", "-m", "workers.health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["celery", "--quiet", "-A", "workers.app", "worker", "--loglevel", "INFO"]
# Segments share one copy of the models, and wait for the VLM most of the time.
CMD ["--queues", "gpu.index", "--pool", "threads", "--concurrency", "8"]
