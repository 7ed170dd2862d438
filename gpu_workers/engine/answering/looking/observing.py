"""Making the looks of a plan in parallel, and collecting what they find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.looking.closer_look import in_full
from gpu_workers.engine.answering.looking.findings import Finding, findings_schema, read_findings
from gpu_workers.engine.answering.looking.looks import Look
from gpu_workers.engine.models.roles import Meter, ModelError, ObserveRequest
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.retrieval.frames import frame_evidence


@dataclass(frozen=True, slots=True)
class LookReport:
    """The outcome of one look. error: code of its failure, "" without one. halt: set if a limit forbade the call."""

    findings: tuple[Finding, ...] = ()
    error: str = ""
    halt: Halt | None = None


def observe(
    asked: Asked,
    calls: Calls,
    looks: Sequence[tuple[Look, Sequence[StoredFrame]]],
    events: Sequence[StoredEvent],
    *,
    hypothesis: str,
    known: Sequence[str],
    meter: Meter,
) -> list[LookReport]:
    """Return the reports of looks at their frames, at least one each, in the order of looks.

    events: those of the frames, whose measurements a checker without eyes reads. hypothesis, known: see ObserveRequest.
    """
    tasks: list[Callable[[], LookReport]] = []
    for look, frames in looks:
        evidence = frame_evidence(asked.graph, frames, events)
        if look.high:
            evidence = in_full(calls, evidence, frames)
        request = ObserveRequest(asked.question.question, look.find, hypothesis, tuple(known), evidence, look.high)
        tasks.append(partial(_report, calls, request, look, frames, meter))
    return calls.together("check", tasks, details=["IN"] * len(tasks))


def _report(
    calls: Calls, request: ObserveRequest, look: Look, frames: Sequence[StoredFrame], meter: Meter
) -> LookReport:
    try:
        sample = calls.observe_frames(request, schema=findings_schema(), meter=meter)
    except Halt as halt:
        return LookReport(error=halt.code, halt=halt)
    except ModelError as error:
        return LookReport(error=error.code)
    if sample.refused:
        return LookReport(error="model_refused")
    findings = read_findings(sample.text, look, frames)
    return LookReport(error="unreadable") if findings is None else LookReport(tuple(findings))
