"""The route of a question and the price of its scan, before it is asked. No model is asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import redis
from django.utils import timezone

from backend.api.monitoring import model_reports
from backend.ekg.kept_verdicts import KeptVerdicts
from backend.ekg.reader import GraphOfRequest, Scope, ScopedVideo
from backend.library.models import Video
from backend.questions.queries.scopes import ScopeWish, resolve
from backend.questions.services.drafts import new_question
from backend.tenancy.context import current_tenant_id
from gpu_workers.engine.answering.asking.routing import ROUTED_METHOD
from gpu_workers.engine.answering.contract import Effort, QuestionInput, RouteWish
from gpu_workers.engine.answering.foresight import SCANNING_ROUTES, foresee
from gpu_workers.engine.answering.presets import TYPICAL
from gpu_workers.engine.models.roles import ChatCapabilities


@dataclass(frozen=True, slots=True)
class ForeseenScan:
    """Likely values of a scan's model calls. seconds: if the model is idle."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ForeseenQuestion:
    """route: None for a method without routes. certain: whether rules alone choose it. scan: None without a scan."""

    route: str | None
    certain: bool
    scan: ForeseenScan | None = None


def foresee_question(wish: ScopeWish, **fields: Any) -> ForeseenQuestion:
    """Return how a question would be answered. fields: arguments of new_question().

    Raises Refused as new_question() and scopes.resolve() do.
    """
    question = new_question(**fields)
    wanted = [video.id for video in resolve(wish)]
    if question.method != ROUTED_METHOD:
        return ForeseenQuestion(None, True)
    videos = list(Video.objects.filter(id__in=wanted).order_by("id"))
    name, capabilities = _reasoner()
    scope = _scope(videos, question.start_ms, question.end_ms)
    with GraphOfRequest(scope) as graph:
        found = foresee(
            QuestionInput(
                question=question.text,
                choices=tuple(question.choices),
                profile=videos[0].profile,
                method=question.method,
                effort=cast(Effort, question.effort),
                now=timezone.now(),
                route=cast(RouteWish, question.route),
            ),
            graph,
            reasoner=name,
            capabilities=capabilities,
            verdicts=KeptVerdicts(scope),
        )
    route = found.understood.route
    scan = ForeseenScan(found.calls, found.prompt_tokens, found.completion_tokens, round(found.seconds, 1))
    # Without an object memory, things are counted by a scan.
    return ForeseenQuestion(
        route, found.certain, scan if route == "scan" or (route in SCANNING_ROUTES and scan.calls) else None
    )


def _scope(videos: Sequence[Video], start_ms: int | None, end_ms: int | None) -> Scope:
    """Return the filter of a question that would begin now (services.questions.begin)."""
    limits = {name: limit for name, limit in (("start_ms", start_ms), ("end_ms", end_ms)) if limit is not None}
    scoped = tuple(ScopedVideo(video.id, video.active_index_version or 1, video.indexed_until_ms) for video in videos)
    return Scope(current_tenant_id(), scoped, **limits)


def _reasoner() -> tuple[str, ChatCapabilities]:
    """Return the model that answers and what its server does, as the workers last found out; else what is typical."""
    try:
        report = model_reports.last_known().get("reasoner", {})
    except redis.RedisError:
        report = {}
    window, abilities = report.get("window"), report.get("abilities")
    capabilities = ChatCapabilities(
        context_tokens=window or TYPICAL.context_tokens,
        log_probabilities=TYPICAL.log_probabilities if abilities is None else "log_probabilities" in abilities,
    )
    return str(report.get("model", "")), capabilities
