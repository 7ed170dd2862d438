"""Checker without a VLM: the reasoner reads what was measured around the frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.models.roles import ChatModel, CheckRequest, Message, Meter, ModelError, ObserveRequest, Sample
from gpu_workers.engine.models.served.structured import clean
from gpu_workers.engine.models.served.vision import check_text, observe_text, spread
from gpu_workers.engine.prompts import load


class ObserverChecker:
    """A roles.Checker without eyes: the reasoner reads the measurements around each frame.

    Its name says so, and whoever shows its verdict must say so, too.
    """

    sees = False

    def __init__(self, reasoner: ChatModel, *, max_frames: int = 24, max_tokens: int = 512) -> None:
        self.name = f"measurements read by {reasoner.name}"
        self.max_frames = max_frames
        self.capabilities = reasoner.capabilities
        self._reasoner = reasoner
        self._max_tokens = max_tokens

    def check(
        self,
        request: CheckRequest,
        *,
        n: int,
        schema: Mapping[str, Any],
        meter: Meter,
        timeout_s: float | None = None,
    ) -> list[Sample]:
        """Check by measurements alone. Raises ModelError (no_observations) if no frame has a measurement."""
        system = load("check_observed_noted" if request.known else "check_observed").substitute()
        # Frames of one chunk carry one observation: it is shown once, with its first frame.
        first: dict[str, int] = {}
        for frame in request.frames:
            if frame.observation.strip():
                first.setdefault(clean(frame.observation), frame.ms)
        if not first:
            raise ModelError("no_observations", "no measurement to check against", retryable=False)
        spent = self._reasoner.count_tokens(system + check_text(request, evidence="")) + 128 + self._max_tokens
        lines = [f"[{clock(ms)}] {text}" for text, ms in sorted(first.items(), key=lambda item: item[1])]
        shown = self._fitting(lines, spent)
        evidence = f"Measurements at {len(shown)} of {len(lines)} moments:\n" + "\n".join(shown)
        messages = [Message("system", (system,)), Message("user", (check_text(request, evidence=evidence),))]
        return self._reasoner.sample(
            messages, stage="check", meter=meter, schema=schema, n=n, temperature=0.5 if n > 1 else 0.0,
            max_tokens=self._max_tokens, timeout_s=timeout_s,
        )  # fmt: skip

    def observe(
        self, request: ObserveRequest, *, schema: Mapping[str, Any], meter: Meter, timeout_s: float | None = None
    ) -> Sample:
        """Report by measurements alone. Raises ModelError (no_observations) if no frame has a measurement."""
        system = load("observe_measured").substitute()
        first: dict[str, tuple[int, int]] = {}
        for number, frame in enumerate(request.frames, start=1):
            if frame.observation.strip():
                first.setdefault(clean(frame.observation), (number, frame.ms))
        if not first:
            raise ModelError("no_observations", "no measurement to look at", retryable=False)
        spent = self._reasoner.count_tokens(system + observe_text(request, evidence="")) + 128 + self._max_tokens
        lines = [f"Frame {number} at {ms} ms: {text}" for text, (number, ms) in first.items()]
        shown = self._fitting(lines, spent)
        evidence = f"Measurements at {len(shown)} of {len(lines)} moments:\n" + "\n".join(shown)
        messages = [Message("system", (system,)), Message("user", (observe_text(request, evidence=evidence),))]
        return self._reasoner.sample(
            messages, stage="observe", meter=meter, schema=schema, max_tokens=self._max_tokens, timeout_s=timeout_s
        )[0]  # fmt: skip

    def _fitting(self, lines: Sequence[str], spent: int) -> list[str]:
        """Return as many of lines, evenly spread, as the window holds with spent tokens; at least one."""
        shown = spread(lines, self.max_frames)
        while len(shown) > 1 and spent + self._reasoner.count_tokens("\n".join(shown)) > self._reasoner.context_tokens:
            shown = spread(lines, len(shown) - 1)
        return shown
