"""The route of a question, as far as it is known before the question is read, and what a scan of its scope takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import redis

from backend.api.monitoring import model_reports
from backend.ekg.reader import GraphOfRequest, Scope, ScopedVideo
from backend.library.models import Video
from backend.questions.queries.scopes import ScopeWish, resolve
from backend.questions.services.drafts import check_choices, check_span, check_text
from backend.tenancy.context import current_tenant_id
from gpu_workers.engine.answering.contract import ROUTED_METHOD, Effort
from gpu_workers.engine.answering.scan_price import ScanPrice, most_events, scan_price
from gpu_workers.engine.answering.understood import COSTLY
from gpu_workers.engine.models.calibration import calibration_of
from gpu_workers.engine.retrieval.frames import all_places


@dataclass(frozen=True, slots=True)
class RouteEstimate:
    """route: None for a method without routes, and where reading the question will choose it. certain: whether it is
    known. scan: what a scan takes if the question is scanned; None if it cannot be."""

    route: str | None
    certain: bool
    scan: ScanPrice | None = None


def estimate_route(
    wish: ScopeWish,
    *,
    method: str,
    effort: str,
    route: str,
    text: str | None = None,
    choices: Sequence[str] = (),
    start_ms: int | None = None,
    end_ms: int | None = None,
) -> RouteEstimate:
    """Return how a question would be answered, without reading it: no model is asked. text: None if it is not written
    yet.

    Raises Refused as drafts.new_question() and scopes.resolve() do.
    """
    if text is not None:
        check_text(text)
    check_choices(choices)
    check_span(start_ms, end_ms)
    wanted = [video.id for video in resolve(wish)]
    if method != ROUTED_METHOD:
        return RouteEstimate(None, True)
    if route == "auto" and effort == "paper":
        return RouteEstimate("search", True)
    chosen = None if route == "auto" else route
    if chosen is not None and chosen not in COSTLY:
        return RouteEstimate(chosen, True)
    videos = list(Video.objects.filter(id__in=wanted).order_by("id"))
    asked, small = cast(Effort, effort), _reasoner_is_small()
    with GraphOfRequest(_scope(videos, start_ms, end_ms)) as graph:
        events = sum(1 for _ in islice(all_places(graph), most_events(asked, small=small)))
    return RouteEstimate(chosen, chosen is not None, scan_price(events, asked, small=small))


def _scope(videos: Sequence[Video], start_ms: int | None, end_ms: int | None) -> Scope:
    """Return the filter of a question that would begin now (services.questions.begin)."""
    limits = {name: limit for name, limit in (("start_ms", start_ms), ("end_ms", end_ms)) if limit is not None}
    scoped = tuple(ScopedVideo(video.id, video.active_index_version or 1, video.indexed_until_ms) for video in videos)
    return Scope(current_tenant_id(), scoped, **limits)


def _reasoner_is_small() -> bool:
    """Whether the model that answers is small, as the workers last found out; False where they found out nothing."""
    try:
        report = model_reports.last_known().get("reasoner", {})
    except redis.RedisError:
        report = {}
    return calibration_of(reasoner=str(report.get("model", "")), similarity="", text_embedder="").small
