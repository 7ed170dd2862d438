"""Connections to the broker for what processes report, and pages and checks read, there."""

from __future__ import annotations

import redis
from django.conf import settings


def connect() -> redis.Redis:
    """Return a client that gives up after two seconds."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
