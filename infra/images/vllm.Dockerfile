# The model servers: one OpenAI-compatible vLLM per server of the preset, with continuous batching across tenants.
# A request carries text, pictures and a salt of the tenant, never the tenant. CUDA 13 needs driver 580 or newer.
# Build context: the repository root.   docker build -f infra/images/vllm.Dockerfile -t ava/vllm .
FROM ghcr.io/astral-sh/uv:0.13.9 AS uv

FROM nvidia/cuda:13.0.1-devel-ubuntu24.04 AS python
# gcc and the headers stay in the image: Triton and FlashInfer compile kernels for the card at first use.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 python3-dev gcc g++ libc6-dev ffmpeg \
 && rm -rf /var/lib/apt/lists/*

FROM python AS build
COPY --from=uv /uv /usr/local/bin/uv
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /build
COPY infra/images/vllm.lock ./
RUN uv venv --python /usr/bin/python3 /opt/venv \
 && uv pip install --no-config --no-cache --python /opt/venv/bin/python --no-deps --require-hashes -r vllm.lock

FROM python
RUN groupadd --gid 10001 ava \
 && useradd --uid 10001 --gid ava --home-dir /app --no-create-home --shell /usr/sbin/nologin ava \
 && install --directory --owner=ava --group=ava /var/cache/ava
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY infra/images/ava-health /usr/local/bin/ava-health
COPY gpu_workers ./gpu_workers
# FlashInfer and Triton keep what they compile below HOME.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/var/cache/ava \
    AVA_CACHE_DIR=/var/cache/ava \
    HF_HOME=/var/cache/ava/huggingface \
    XDG_CACHE_HOME=/var/cache/ava \
    VLLM_NO_USAGE_STATS=1 \
    VLLM_HTTP_TIMEOUT_KEEP_ALIVE=610 \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
VOLUME /var/cache/ava
USER 10001:10001
EXPOSE 8000
# The first start downloads tens of gigabytes of weights; later ones load them from the volume in minutes.
# The check asks the model for a token; another server than vlm gives its own name.
HEALTHCHECK --interval=30s --timeout=30s --start-period=45m --retries=4 \
    CMD ["ava-health", "8", "python", "-m", "gpu_workers.engine.models.served.vllm_server", "--server", "vlm", "--check"]
ENTRYPOINT ["python", "-m", "gpu_workers.engine.models.served.vllm_server"]
CMD ["--server", "vlm"]
