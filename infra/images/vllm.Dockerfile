# The model servers: one OpenAI-compatible vLLM per role, with continuous batching across tenants.
# It holds no code of the product but the launcher, and no credentials: a request carries text and pictures, never a tenant.
# Build context: the repository root.   docker build -f infra/images/vllm.Dockerfile -t ava/vllm .
FROM ghcr.io/astral-sh/uv:0.9.26 AS uv

FROM nvidia/cuda:12.9.1-devel-ubuntu24.04 AS python
# gcc and the headers stay in the image: Triton and FlashInfer compile kernels for the card at first use.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 python3-dev gcc g++ libc6-dev curl \
 && rm -rf /var/lib/apt/lists/*

FROM python AS build
COPY --from=uv /uv /usr/local/bin/uv
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /build
COPY pyproject.toml ./
# An environment of its own, without the lock: vLLM pins torch and transformers more narrowly than the product does.
RUN uv venv --python /usr/bin/python3 /opt/venv \
 && uv pip install --no-cache --python /opt/venv/bin/python -r pyproject.toml --extra gpu

FROM python
RUN groupadd --gid 10001 ava \
 && useradd --uid 10001 --gid ava --home-dir /app --no-create-home --shell /usr/sbin/nologin ava \
 && install --directory --owner=ava --group=ava /var/cache/ava
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY gpu_workers ./gpu_workers
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    AVA_CACHE_DIR=/var/cache/ava \
    HF_HOME=/var/cache/ava/huggingface \
    XDG_CACHE_HOME=/var/cache/ava \
    VLLM_NO_USAGE_STATS=1 \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
VOLUME /var/cache/ava
USER 10001:10001
EXPOSE 8000
# The first start downloads tens of gigabytes of weights; later ones load them from the volume in minutes.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30m --retries=4 \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:8000/health"]
ENTRYPOINT ["python", "-m", "gpu_workers.engine.models.served.vllm_server"]
CMD ["--role", "llm"]
