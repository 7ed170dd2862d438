"""Requests per minute and tenant: a token bucket in Redis, which one script serves, so that requests cannot race."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

import redis
from django.conf import settings

from backend.api.problems import Problem

logger = logging.getLogger(__name__)
WINDOW_SECONDS = 60
# Pause after a failure of Redis: without it every request would wait for the timeout.
_REST_SECONDS = 5.0
_silent_until = 0.0

# KEYS[1]: the bucket. ARGV[1]: its capacity, refilled once per window. ARGV[2]: window in seconds. ARGV[3]: the cost, 1
# or more: it is granted while anything is left, and may leave a debt, so that a capacity below the cost is no dead end.
# Time is the server's, so API processes with different clocks share one bucket.
_TAKE = """
local now = redis.call('TIME')
now = tonumber(now[1]) + tonumber(now[2]) / 1000000
local capacity, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(bucket[1]) or capacity
local at = tonumber(bucket[2]) or now
tokens = math.min(capacity, tokens + math.max(0, now - at) * capacity / window)
local allowed = 0
if tokens >= 1 then
  tokens = tokens - tonumber(ARGV[3])
  allowed = 1
end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', string.format('%.6f', now))
redis.call('EXPIRE', KEYS[1], window * 2)
return {allowed, tostring(tokens)}
"""


@dataclass(frozen=True, slots=True)
class Grant:
    """The reply of the bucket. remaining: None if the bucket could not be asked, so that the request passes
    uncounted."""

    allowed: bool
    limit: int
    remaining: float | None

    @property
    def left(self) -> float:
        """Requests that are left; infinite if they are not counted."""
        return math.inf if self.remaining is None else self.remaining

    def headers(self) -> dict[str, str]:
        """Return RateLimit fields (IETF draft) and their older X- twins; none if the request was not counted."""
        if self.remaining is None:
            return {}
        left = int(self.remaining)
        full = math.ceil(max(0.0, self.limit - self.remaining) * WINDOW_SECONDS / self.limit)
        refill = full if self.allowed else self.wait_s
        return {
            "RateLimit-Policy": f'"requests";q={self.limit};w={WINDOW_SECONDS}',
            "RateLimit": f'"requests";r={left};t={refill}',
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(left),
        }

    def check(self) -> None:
        """Check that the request was granted. Raises Problem 429 `rate_limited` with Retry-After."""
        if self.allowed:
            return
        raise refusal(self.limit, self.wait_s)

    @property
    def wait_s(self) -> int:
        """Time after which one request is left again, at least a second."""
        return max(1, math.ceil((1 - (self.remaining or 0.0)) * WINDOW_SECONDS / self.limit))


def refusal(limit: int, wait_s: int, *, of: str = "requests") -> Problem:
    """Return the problem 429 `rate_limited`. of: what is limited."""
    text = f"More than {limit} {of} per minute; try again in {wait_s} s."
    return Problem(429, "rate_limited", text, headers={"Retry-After": str(wait_s)})


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.25, socket_connect_timeout=0.25)


def evaluate(script: str, key: str, *arguments: str) -> Any:
    """Run a script on one key. Returns None if Redis is away: a limit must not be an outage."""
    global _silent_until
    if time.monotonic() < _silent_until:
        return None
    try:
        return _client().eval(script, 1, key, *arguments)
    except redis.RedisError as error:
        logger.warning("limits are not counted for %s s: %s", _REST_SECONDS, error)
        _silent_until = time.monotonic() + _REST_SECONDS
        return None


def take_of(caller_id: UUID, limit: int | None = None) -> Grant:
    """Take one request from the bucket of a tenant, a key or a person. limit: per minute, by default the service's."""
    return take_from(f"rate:{caller_id}", limit or settings.RATE_LIMIT_PER_MINUTE)


def take_from(bucket: str, limit: int, *, cost: int = 1) -> Grant:
    """Take requests from a bucket of `limit` per minute. They are granted if Redis is away."""
    taken = evaluate(_TAKE, bucket, str(limit), str(WINDOW_SECONDS), str(cost))
    if taken is None:
        return Grant(True, limit, None)
    allowed, tokens = taken
    return Grant(bool(allowed), limit, float(tokens))
