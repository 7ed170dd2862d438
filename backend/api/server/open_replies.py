"""The caps per tenant and per caller on replies that stay open: streams, and requests that wait for an outcome.

A sorted set in Redis holds one member per open reply of a tenant or caller, scored with the time at which it counts no
more. So all API processes share the cap, and replies of a process that died are forgotten within LEASE_SECONDS.
"""

from __future__ import annotations

from uuid import UUID, uuid4

from django.conf import settings

from backend.api.limits import rate_limits
from backend.api.problems import Problem
from backend.tenancy.authentication import Principal

LEASE_SECONDS = 90
"""Time for which an open reply counts without being renewed."""
RENEW_SECONDS = 30

# KEYS[1]: the open replies of a tenant or caller. ARGV: the cap, the lease in seconds, the member.
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
    """One counted reply. close() ends the count and may be called again.

    caller_id: the API key or the person that asks, named by caller in messages; each has a cap below the tenant's.
    """

    def __init__(self, tenant_id: UUID, caller_id: UUID | None = None, *, caller: str = "API key") -> None:
        self._caps = {f"open:{tenant_id}": (settings.OPEN_STREAMS_PER_TENANT, "tenant")}
        if caller_id is not None:
            self._caps[f"open:{caller_id}"] = (settings.OPEN_STREAMS_PER_KEY, caller)
        self._taken: list[str] = []
        self._member = uuid4().hex

    def take(self) -> None:
        """Count the reply. Raises Problem 429 `too_many_open_streams`; passes uncounted if Redis is away."""
        for key, (cap, whose) in self._caps.items():
            if rate_limits.evaluate(_OPEN, key, str(cap), str(LEASE_SECONDS), self._member) == 0:
                self.close()
                raise Problem(
                    429,
                    "too_many_open_streams",
                    f"{cap} streams and waiting requests of this {whose} are open; close one of them first.",
                    headers={"Retry-After": "1"},
                )
            self._taken.append(key)

    def renew(self) -> None:
        """Count the reply for another LEASE_SECONDS."""
        for key in self._taken:
            rate_limits.evaluate(_RENEW, key, str(LEASE_SECONDS), self._member)

    def close(self) -> None:
        """End the count."""
        taken, self._taken = self._taken, []
        for key in taken:
            rate_limits.evaluate(_CLOSE, key, self._member)


def open_reply(principal: Principal) -> OpenReply:
    """Count a reply that will stay open. Raises Problem 429 `too_many_open_streams`."""
    if principal.person_id is None:
        reply = OpenReply(principal.tenant_id, principal.api_key_id)
    else:
        reply = OpenReply(principal.tenant_id, principal.person_id, caller="member")
    reply.take()
    return reply
