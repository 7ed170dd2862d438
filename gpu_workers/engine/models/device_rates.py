"""Attributes a server's time to calls: tokens times a measured rate of the model, whatever else the server does.

Wall times of overlapping calls add up to more than the server's time, and no process sees the calls of another. A rate
is measured while the server is full (served.measuring), so it is the least time that a token takes. Therefore the same
call has the same time at every load, and all calls of all processes together have at most the time of the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gpu_workers.engine.models.roles import ModelCall


@dataclass(frozen=True, slots=True)
class DeviceRate:
    """Microseconds of device time of one model on a full server, summed over its cards.

    fresh_us, cached_us, output_us: of a prompt token, of a prompt token that the server's cache held, and of a written
    token. picture_us: of one picture, in addition to its tokens. request_us: of one request.
    """

    fresh_us: float
    cached_us: float
    output_us: float
    picture_us: float = 0.0
    request_us: float = 0.0

    def device_ms(self, call: ModelCall) -> float:
        """Return the device time of a call in milliseconds."""
        cached = min(call.cached_tokens, call.prompt_tokens)
        microseconds = (
            self.fresh_us * (call.prompt_tokens - cached)
            + self.cached_us * cached
            + self.output_us * call.completion_tokens
            + self.picture_us * call.pictures
            + self.request_us
        )
        return microseconds / 1000


@dataclass(frozen=True, slots=True)
class DeviceRates:
    """The rates by which calls are attributed device time.

    rates: by the name of a served model. hosted: models of a provider, which use none of our devices.
    """

    rates: Mapping[str, DeviceRate] = field(default_factory=dict)
    hosted: frozenset[str] = frozenset()

    def attributed(self, call: ModelCall) -> ModelCall:
        """Return the call with its device time.

        A model without a rate, and a server that reports no tokens, keep the share that the call itself has measured:
        it is exact for a model in this process, and never zero. A call that was cut has at most its share, since nobody
        knows how far the server came; a refused one has nothing.
        """
        if call.model in self.hosted:
            return replace(call, device_ms=0.0)
        counted = call.prompt_tokens > 0 or call.completion_tokens > 0
        if not call.ok and not counted:
            return replace(call, device_ms=0.0)
        rate = self.rates.get(call.model)
        if rate is None or not counted:
            return call
        device_ms = rate.device_ms(call)
        return replace(call, device_ms=round(device_ms if call.ok else min(device_ms, call.billed_ms), 3))
