"""Measures how long a token of a served model takes, on a server that is kept full and has nothing else to do.

Loads of different shapes are sent one after another, each with many requests in flight. What a load takes is the sum of
its fresh, cached and written tokens, its pictures and its requests, each times a rate; the rates are the non-negative
solution of least squares over all loads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image as PILImage

from gpu_workers.engine.models.device_rates import DeviceRate
from gpu_workers.engine.models.roles import ChatModel, Image, Message, Meter, ModelError

_SIDE = 448
"""Width and height of the picture in pixels."""
_WORDS = ("gate", "river", "lamp", "truck", "window", "bridge", "coat", "tower", "market", "horse", "signal", "garden")


@dataclass(frozen=True, slots=True)
class Load:
    """Requests of one shape. words: of a prompt. max_tokens: of a reply. repeats: how often each prompt is sent; all
    but the first time the server may have it in its cache."""

    words: int
    max_tokens: int
    picture: bool = False
    repeats: int = 1


LOADS = (
    Load(words=20, max_tokens=1),
    Load(words=1_500, max_tokens=1),
    Load(words=1_500, max_tokens=1, repeats=2),
    Load(words=20, max_tokens=192),
    Load(words=200, max_tokens=64),
)
PICTURES = Load(words=20, max_tokens=1, picture=True)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one load took. seconds: from the first request to the last reply."""

    seconds: float
    fresh: int
    cached: int
    written: int
    pictures: int
    requests: int


def measure_rate(
    model: ChatModel,
    *,
    in_flight: int,
    rounds: int = 4,
    cards: int = 1,
    loads: Sequence[Load] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> DeviceRate:
    """Return the device time of the model's tokens, pictures and requests.

    in_flight: requests at once, enough to fill the server. rounds: requests of each place, one after another. cards:
    accelerators of the server, whose time is added up. loads: by default LOADS, and PICTURES if the model takes them.
    Raises ModelError if a request fails: a measurement with holes is none.
    """
    if loads is None:
        loads = (*LOADS, PICTURES) if model.capabilities.images else LOADS
    measured = [_run(model, load, number, in_flight, rounds, clock) for number, load in enumerate(loads)]
    return solve(measured, cards=cards)


def solve(measured: Sequence[Measured], *, cards: int = 1) -> DeviceRate:
    """Return the rates that explain the measured loads best, none of them negative.

    The rows are divided by their seconds, so that each load counts the same whatever it took.
    """
    # Imported here: scipy takes memory that no worker needs.
    from scipy.optimize import nnls

    columns = np.array(
        [[load.fresh, load.cached, load.written, load.pictures, load.requests] for load in measured], dtype=np.float64
    )
    seconds = np.array([load.seconds for load in measured])
    rates, _ = nnls(columns / seconds[:, None], np.ones(len(measured)))
    fresh, cached, written, picture, request = (float(rate) * cards * 1_000_000 for rate in rates)
    return DeviceRate(fresh, cached, written, picture, request)


def _run(
    model: ChatModel, load: Load, number: int, in_flight: int, rounds: int, clock: Callable[[], float]
) -> Measured:
    meter = Meter()
    picture = _picture(number) if load.picture else None

    def place(at: int) -> None:
        for step in range(rounds):
            for _ in range(load.repeats):
                text = _prompt(load.words, f"{number} {at} {step}")
                parts: tuple[str | Image, ...] = (text,) if picture is None else (picture, text)
                model.sample([Message("user", parts)], stage="measure", meter=meter, max_tokens=load.max_tokens)

    began = clock()
    with ThreadPoolExecutor(in_flight, "measure") as pool:
        list(pool.map(place, range(in_flight)))
    seconds, calls = clock() - began, meter.calls
    if not calls or not all(call.ok and call.prompt_tokens for call in calls):
        raise ModelError("model_bad_reply", f"{model.name} reports no tokens", retryable=False)
    cached = sum(min(call.cached_tokens, call.prompt_tokens) for call in calls)
    return Measured(
        seconds=seconds,
        fresh=sum(call.prompt_tokens for call in calls) - cached,
        cached=cached,
        written=sum(call.completion_tokens for call in calls),
        pictures=sum(call.pictures for call in calls),
        requests=len(calls),
    )


def _prompt(words: int, name: str) -> str:
    """Return a prompt that no other place sends, different from its first word on."""
    told = " ".join(_WORDS[(k * k + len(name)) % len(_WORDS)] for k in range(words))
    return f"Story {name}: {told}. Tell it again in your own words, as long as you can."


def _picture(number: int) -> Image:
    pixels = np.random.default_rng(number).integers(0, 256, (_SIDE, _SIDE, 3), dtype=np.uint8)
    file = BytesIO()
    PILImage.fromarray(pixels).save(file, "JPEG")
    return Image(file.getvalue())
