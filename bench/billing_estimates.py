"""Estimates against charges: what an estimate expects before the work, and what the ledger charged after it.

Recordings and outcomes are drawn, and estimates, charges and reversals are made by the service on a real PostgreSQL.
What POST /v1/questions:estimate and /v1/videos:estimate return comes from the same two functions.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from bench.figures import Figures, at_least, at_most, show_progress

QUESTIONS, RECORDINGS = 400, 300
SEED = 20_260_102
SEGMENT_MS = 60_000
EFFORTS = ("low", "medium", "high")
OUTCOMES = {"answered": 84, "insufficient_evidence": 8, "refused": 3, "error": 3, "canceled": 2}
"""Assumed shares of the outcomes in percent. The first is charged; the next two are free within the share."""
MEDIAN_S, SPREAD_OF_S = 600, 1.2
MEDIAN_BIT_RATE, SPREAD_OF_BIT_RATE = 3_000_000, 0.4
"""Assumed recordings of one tenant: medians, and standard deviations of the natural logarithm."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Amounts in USD. low, expected, high: of the estimate. charged: by the ledger."""

    low: Decimal
    expected: Decimal
    high: Decimal
    charged: Decimal

    @property
    def error(self) -> float:
        return float(abs(self.expected - self.charged) / self.charged)

    @property
    def covered(self) -> bool:
        return self.low <= self.charged <= self.high


def estimated() -> Figures:
    """Estimate QUESTIONS questions and RECORDINGS recordings, do the work, and compare."""
    from bench.stack import database

    with database() as video:
        from backend.tenancy.context import tenant_scope

        chance = random.Random(SEED)
        with tenant_scope(video.tenant_id):
            show_progress(f"{QUESTIONS} questions")
            asked = _questions(chance)
            show_progress(f"{RECORDINGS} recordings")
            by_duration, by_size = _recordings(chance)
    answered = [one for one in asked if one.charged]
    expected = sum((one.expected for one in asked), Decimal(0))
    charged = sum((one.charged for one in asked), Decimal(0))
    yield at_most(
        "question_estimate_error", max(one.error for one in answered), 0, f"{len(answered)} questions that were charged"
    )
    yield at_least("question_estimate_covered", _share(asked), 1, f"{QUESTIONS} questions, those without charge too")
    yield at_most(
        "question_estimate_sum", float(expected / charged), 1.25, f"the charge of {QUESTIONS} questions together"
    )
    yield at_most(
        "video_estimate_error",
        max(one.error for one in by_duration),
        1e-6,
        f"{RECORDINGS} recordings estimated by their duration, the worst one",
    )
    yield at_most(
        "video_estimate_error_by_size",
        statistics.median(one.error for one in by_size),
        0.4,
        f"{RECORDINGS} recordings estimated by their size, the median",
    )
    yield at_least(
        "video_estimate_covered_by_size", _share(by_size), 0.7, "the same, charges from the low to the high amount"
    )


def _share(compared: Sequence[Compared]) -> float:
    return sum(one.covered for one in compared) / len(compared)


def _questions(chance: random.Random) -> list[Compared]:
    from backend.billing.models import UsageEvent
    from backend.library.models import Video
    from backend.questions.services import questions
    from backend.questions.services.estimates import estimate_question
    from gpu_workers.engine.answering.contract import Answer

    video = Video.objects.get()
    compared = []
    for n in range(QUESTIONS):
        effort, (outcome,) = chance.choice(EFFORTS), chance.choices(list(OUTCOMES), list(OUTCOMES.values()))
        span = estimate_question(method="ava", effort=effort).charge
        row = questions.create_question(text=f"Who is {n}?", video_ids=[video.id], method="ava", effort=effort)
        if outcome == "canceled":
            questions.cancel_question(question_id=row.id)
        elif outcome == "error":
            questions.fail_question(question_id=row.id, code="internal_error", message="drawn")
        else:
            begun = questions.begin(question_id=row.id)
            assert begun is not None
            text = "a red car" if outcome == "answered" else ""
            questions.store_answer(question=begun, answer=Answer(text, None, None, outcome))  # type: ignore[arg-type]
        booked = UsageEvent.objects.filter(question_id=row.id).values_list("price_amount", flat=True)
        compared.append(Compared(span.low, span.expected, span.high, sum(booked, Decimal(0))))
    return compared


def _recordings(chance: random.Random) -> tuple[list[Compared], list[Compared]]:
    """Return the comparisons of estimates by duration, and by size."""
    from django.utils import timezone
    from uuid6 import uuid7

    from backend.billing.charges import FULL
    from backend.billing.services.usage.ledger import record_media_seconds
    from backend.billing.services.usage.rows import Attribution
    from backend.library.indexing.begin import create_video
    from backend.library.models import Profile, Video, VideoStatus
    from backend.library.services.estimates import estimate_video
    from gpu_workers.engine.indexing.segments import plan_segments

    profile, now = str(Profile.GENERAL), timezone.now()
    by_duration: list[Compared] = []
    by_size: list[Compared] = []
    for n in range(RECORDINGS):
        seconds = min(max(chance.lognormvariate(0, SPREAD_OF_S) * MEDIAN_S, 10), 6 * 3_600)
        duration_ms = round(seconds * 1000)
        size = round(seconds * chance.lognormvariate(0, SPREAD_OF_BIT_RATE) * MEDIAN_BIT_RATE / 8)
        spans = [
            estimate_video(profile=profile, duration_ms=duration_ms).charge,
            estimate_video(profile=profile, size_bytes=size).charge,
        ]
        video = create_video(object_key=f"t/bench/{n}", size_bytes=size, profile=profile)
        charged = sum(
            (
                record_media_seconds(
                    segment_id=uuid7(),
                    video_id=video.id,
                    seconds=Decimal(span.duration_ms) / 1000,
                    stages=FULL,
                    attribution=Attribution(profile=profile),
                ).price
                for span in plan_segments(duration_ms, segment_ms=SEGMENT_MS)
            ),
            Decimal(0),
        )
        Video.objects.filter(id=video.id).update(
            status=VideoStatus.READY,
            duration_ms=duration_ms,
            index_started_at=now + timedelta(hours=n),
            ready_at=now + timedelta(hours=n, milliseconds=duration_ms / 2),
        )
        for found, span in zip((by_duration, by_size), spans, strict=True):
            found.append(Compared(span.low, span.expected, span.high, charged))
    return by_duration, by_size
