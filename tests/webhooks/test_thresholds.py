"""The events about the monthly budget and about the life of a video."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import override_settings

from backend.api import public_ids
from backend.billing.models import TenantBudget
from backend.billing.services.limits import budgets
from backend.billing.services.limits.budgets import Limits
from backend.jobs.models import Job, JobKind
from backend.library.indexing import intake
from backend.library.models import Video, VideoStatus
from backend.library.services.videos import drop_video
from backend.tenancy.services import set_notice_email
from backend.webhooks.models import WebhookEvent
from backend.webhooks.notices import mail_about
from backend.webhooks.thresholds import report_budget
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.engine.indexing.probe import ProbeResult
from tests.factories import make_video, set_limits
from tests.questions.world import ask, finish
from tests.webhooks.test_schemas import errors

AT = datetime(2026, 11, 22, 20, 0, tzinfo=UTC)


def events(*types: str) -> list[Any]:
    rows = WebhookEvent.objects.filter(type__in=types).order_by("id")
    for row in rows:
        assert list(errors(row)) == []
    return [json.loads(row.body) for row in rows]


def used(monkeypatch: pytest.MonkeyPatch, tokens: int, cost: str = "0") -> None:
    """Let the month have used this much."""
    consumed = budgets.Consumed(tokens=tokens, cost=Decimal(cost))
    monkeypatch.setattr(budgets, "_used", lambda *_: consumed)


BOTH = ("usage.threshold_reached", "budget.exceeded")


def test_each_threshold_of_each_limit_is_reported_once_a_month(acme: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with acme.scope():
        set_limits(Limits(max_tokens=1000, max_cost=Decimal("2.5")))
        seen = []
        for tokens, cost in ((499, "1.9"), (799, "1.9"), (800, "1.9"), (850, "2.0"), (1000, "2.1"), (1200, "2.1")):
            used(monkeypatch, tokens, cost)
            report_budget()
            seen.append(len(events(*BOTH)))
        rows = events(*BOTH)
        budget = public_ids.encode("bud", TenantBudget.objects.get().id)

    # The operator's limit of our cost is nothing that a customer hears of.
    assert seen == [0, 1, 2, 2, 3, 3]
    assert [(row["type"], row["data"]["limit"], row["data"]["used"], row["data"]["percent"]) for row in rows] == [
        ("usage.threshold_reached", "max_tokens", "799", 79),
        ("usage.threshold_reached", "max_tokens", "800", 80),
        ("budget.exceeded", "max_tokens", "1000", 100),
    ]
    assert {row["data"]["id"] for row in rows} == {budget}


def test_a_raised_limit_is_reported_again(acme: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with acme.scope():
        used(monkeypatch, 1000)
        for limit in (1000, 1100, 5000):
            set_limits(Limits(max_tokens=limit))
            report_budget()
        rows = events(*BOTH)

    assert [(row["type"], row["data"]["amount"]) for row in rows] == [
        ("usage.threshold_reached", "1000"),
        ("usage.threshold_reached", "1000"),
        ("budget.exceeded", "1000"),
        ("usage.threshold_reached", "1100"),
        ("usage.threshold_reached", "1100"),
    ]


def test_the_answer_that_passes_a_limit_emits_the_event_with_its_outcome(acme: Any) -> None:
    with acme.scope():
        set_limits(Limits(max_tokens=1))
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)
    with acme.scope():
        (spent,) = [row["data"] for row in events("budget.exceeded")]
        total = budgets.monthly_budget().used.tokens

    assert (spent["limit"], spent["amount"], spent["used"]) == ("max_tokens", "1", str(total))
    assert total > 1


def test_a_threshold_is_mailed_and_of_several_at_once_the_last_one(acme: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with acme.scope(), override_settings(EMAIL_HOST="mail.example.org"):
        set_notice_email(address="ops@acme.example")
        set_limits(Limits(max_tokens=1000))
        subjects = []
        for tokens in (499, 500, 500, 1000, 1000):
            used(monkeypatch, tokens)
            report_budget()
            mails = [mail_about(job.subject_id) for job in Job.objects.filter(kind=JobKind.SEND_NOTICE).order_by("id")]
            subjects.append([mail.subject for mail in mails if mail is not None])

    half, whole = "max_tokens: 50 % of the limit are used", "max_tokens: 100 % of the limit are used"
    assert subjects == [[], [half], [half], [half, whole], [half, whole]]


def test_no_limit_no_event(acme: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    used(monkeypatch, 10**9)
    with acme.scope():
        report_budget()
        assert events(*BOTH) == []


def test_a_video_says_when_its_index_begins_and_when_it_is_gone(acme: Any) -> None:
    probed = ProbeResult(
        duration_ms=60_000, source_start_ms=0, width=640, height=360, fps=None, rotation=0, container="mp4",
        codec="h264", has_video=True, bitrate=1, size=1_000,
        clock=FileClock.steady(0, 60_000),
    )  # fmt: skip
    with acme.scope():
        video = make_video(status=VideoStatus.PROBING, external_id="camera 1")
        intake.store_probe(video.id, probed)
        intake.plan_again(video.id)
        (begun,) = events("video.indexing")
        drop_video(video.id)
        drop_video(video.id)
        (gone,) = events("video.deleted")
        assert not Video.objects.exists()

    public_id = public_ids.encode("vid", video.id)
    assert begun["data"] == {
        "id": public_id, "object": "video", "status": "indexing", "external_id": "camera 1", "duration_ms": 60_000,
        "index_version": 1,
    }  # fmt: skip
    assert gone["data"] == {"id": public_id, "object": "video", "status": "deleted", "external_id": "camera 1"}
