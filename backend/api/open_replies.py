"""The cap per tenant on replies that stay open: streams, and requests that wait for an outcome.

A sorted set in Redis holds one member per open reply, scored with the time at which it counts no more. So all API
processes share the cap, and replies of a process that died are forgotten within LEASE_SECONDS.
"""

from __future__ import annotations

from uuid import UUID, uuid4

from django.conf import settings

from backend.api import rate_limits
from backend.api.problems import Problem

LEASE_SECONDS = 90
"""Time for which an open reply counts without being renewed."""
RENEW_SECONDS = 30

# KEYS[1]: the tenant's open replies. ARGV: the cap, the lease in seconds, the member.
_OPEN = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then
  return 0
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""
_RENEW = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
"""
_CLOSE = "return redis.call('ZREM', KEYS[1], ARGV[1])"


class OpenReply:
    """One counted reply. close() ends the count and may be called again."""

    def __init__(self, tenant_id: UUID) -> None:
        self._key = f"open:{tenant_id}"
        self._member = uuid4().hex
        self._open = True

    def take(self) -> None:
        """Count the reply. Raises Problem 429 `too_many_open_streams`; passes uncounted if Redis is away."""
        cap: int = settings.OPEN_STREAMS_PER_TENANT
        if rate_limits.evaluate(_OPEN, self._key, str(cap), str(LEASE_SECONDS), self._member) == 0:
            raise Problem(
                429,
                "too_many_open_streams",
                f"{cap} streams and waiting requests of this tenant are open; close one of them first.",
                headers={"Retry-After": "1"},
            )

    def renew(self) -> None:
        """Count the reply for another LEASE_SECONDS."""
        if self._open:
            rate_limits.evaluate(_RENEW, self._key, str(LEASE_SECONDS), self._member)

    def close(self) -> None:
        if self._open:
            self._open = False
            rate_limits.evaluate(_CLOSE, self._key, self._member)


def open_reply(tenant_id: UUID) -> OpenReply:
    """Count a reply that will stay open. Raises Problem 429 `too_many_open_streams`."""
    reply = OpenReply(tenant_id)
    reply.take()
    return reply
