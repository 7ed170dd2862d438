# The REST API, the admin console and the one-shot `provision` and `migrate`. No ffmpeg, no torch, because it never touches a video.
# Build context: the repository root.   docker build -f infra/images/api.Dockerfile -t ava/api .
FROM ghcr.io/astral-sh/uv:0.13.9 AS uv

FROM python:3.11.14-slim-bookworm AS build
COPY --from=uv /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /build
COPY infra/images/api.lock ./
RUN uv venv /opt/venv \
 && uv pip install --no-config --no-cache --python /opt/venv/bin/python --no-deps --require-hashes -r api.lock

FROM python:3.11.14-slim-bookworm
# Reports as PDF: Pango sets their text, in the scripts of these fonts. They follow the pinned base's Debian release and its security fixes.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 \
    fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 ava && useradd --uid 10001 --gid ava --home-dir /app --no-create-home --shell /usr/sbin/nologin ava
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY infra/images/ava-health /usr/local/bin/ava-health
COPY manage.py ./
COPY backend ./backend
COPY workers ./workers
COPY gpu_workers ./gpu_workers
COPY web ./web
# The schemas of webhooks, which /v1/openapi.json shows.
COPY frontend_api_schema/webhooks ./frontend_api_schema/webhooks
# The pages /errors and /docs.
COPY docs/quickstart.md docs/api.md docs/answers.md docs/methods.md docs/engine.md docs/errors.md docs/billing.md ./docs/
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    DJANGO_SETTINGS_MODULE=backend.settings \
    AVA_HEALTH_ADDRESS=127.0.0.1:8001
USER 10001:10001
EXPOSE 8000
# Probes have an address of their own: customers cannot fill its connections.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["ava-health", "6", "python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8001/healthz', timeout=4)"]
# Open streams wait on the event loop, see docs/adr/0016-open-replies-hold-no-thread.md. Keep-alive outlasts the load balancer's idle time.
CMD ["python", "manage.py", "guarded", "uvicorn", "backend.asgi:application", \
     "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--lifespan", "on", "--no-server-header", \
     "--http", "backend.api.server.connections:BoundedConnection", \
     "--timeout-keep-alive", "310", "--timeout-graceful-shutdown", "30", \
     "--timeout-worker-healthcheck", "60", \
     "--log-config", "backend/observability/uvicorn_log.json"]
