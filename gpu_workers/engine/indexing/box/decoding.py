"""A box that decodes one source for a worker, and what the ends of a box mean for the source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpu_workers.engine.indexing.box.boxes import Box, BoxEnded, BoxLost, BoxSilent, BoxUnavailable
from gpu_workers.engine.indexing.box.lockdown import BoxLimits
from gpu_workers.engine.indexing.box.supply import Supply
from gpu_workers.engine.indexing.container import (
    DecoderUnavailable,
    DecodingFailed,
    DeviceUnavailable,
    SourceUnreachable,
    SourceUnreadable,
)

JOBS = "gpu_workers.engine.indexing.box.jobs"
_REASON_CHARACTERS = 200


@contextmanager
def decoding(
    job: str,
    source: str,
    arguments: dict[str, Any],
    *,
    memory_bytes: int,
    limits: BoxLimits,
    wall_s: float,
    device: bool = False,
) -> Iterator[Box]:
    """Yield a box that runs a job of JOBS, or one that names its module, on source, a path or a URL.

    Raises SourceUnreadable when the bytes could not be fetched, DecodingFailed when they arrived and the box ended at
    its limits, by a fault, or with an answer that makes no sense, DecoderUnavailable when this host killed the box or
    could not start it, DeviceUnavailable when it starts no box with a device.
    """
    named = job if ":" in job else f"{JOBS}:{job}"
    try:
        supply = Supply(source)
    except SourceUnreachable as error:
        raise SourceUnreadable(error.message) from error
    try:
        with Box(
            named, arguments, supply, limits=limits, memory_bytes=memory_bytes, wall_s=wall_s, device=device
        ) as box:
            yield box
    except BoxSilent as error:
        raise SourceUnreadable(str(error)) from error
    except BoxUnavailable as error:
        raise (DeviceUnavailable if device else DecoderUnavailable)(str(error)) from error
    except BoxLost as error:
        raise DecoderUnavailable(str(error)) from error
    except (BoxEnded, DecodingFailed) as error:
        if supply.failure is not None:
            raise SourceUnreadable(supply.failure.message) from error
        raise DecodingFailed(str(error)) from error


def answer(box: Box) -> dict[str, Any]:
    """Return the box's next message. Raises DecodingFailed if it says that the source cannot be decoded."""
    message = box.receive()
    if "error" in message:
        raise DecodingFailed(str(message.get("message", ""))[:_REASON_CHARACTERS])
    return message


def number(value: object, most: int) -> int:
    """Return value as a whole number from 0 to most. Raises DecodingFailed if it is anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise DecodingFailed("the decoder's answer makes no sense")
    return value
