"""How long an open question will still take, out of what answers of its kind took before."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db.models import F

from backend.jobs.models import Job, JobState
from backend.questions import stream
from backend.questions.models import Question, QuestionPace
from backend.questions.queries.questions import job_key
from backend.questions.services import questions
from backend.questions.services.paces import WEIGHT_OF, StageClock, add_pace
from tests.conftest import Cast
from tests.questions.test_api import qst
from tests.questions.world import ask

MEASURED = {"": 120_000.0, "search": 60_000.0}


def begun(cast: Cast, *, reasoner: str = "qwen", stage: str = "", **fields: Any) -> UUID:
    """A question that a worker has begun, and that is at this stage."""
    question_id, _ = ask(cast, **fields)
    with cast.scope():
        Job.objects.filter(dedupe_key=job_key(question_id)).update(state=JobState.RUNNING)
        assert questions.begin(question_id=question_id, reasoner=reasoner) is not None
        if stage:
            questions.set_progress(question_id=question_id, stage=stage)
    return question_id


def measure(cast: Cast, left_ms: dict[str, float] = MEASURED) -> None:
    """Roll up an answer of qwen that took so long from its stages on."""
    question_id = begun(cast)
    with cast.scope():
        add_pace(Question.objects.get(id=question_id), left_ms)


def left(cast: Cast, question_id: UUID) -> int | None:
    seconds: int | None = cast.client.get(f"/v1/questions/{qst(question_id)}").json()["progress"]["seconds_left"]
    return seconds


def later(cast: Cast, question_id: UUID, seconds: float) -> None:
    """Let the stage have begun so much earlier."""
    with cast.scope():
        Question.objects.filter(id=question_id).update(stage_at=F("stage_at") - timedelta(seconds=seconds))


def test_nothing_is_said_while_nothing_was_measured(acme: Cast) -> None:
    assert left(acme, begun(acme)) is None


def test_the_time_left_is_that_of_the_stage_less_what_the_stage_has_taken(acme: Cast) -> None:
    measure(acme)
    at_start, in_search = begun(acme), begun(acme, stage="search")
    for question_id in (at_start, in_search):
        later(acme, question_id, 30)

    # The reading itself takes less than a minute, whatever else the machine does.
    assert 30 <= (left(acme, at_start) or 0) <= 90
    assert 0 <= (left(acme, in_search) or 0) <= 30
    later(acme, at_start, 300)
    assert left(acme, at_start) == 0


@pytest.mark.parametrize(
    "other", [{"method": "vector"}, {"effort": "high"}, {"reasoner": "another"}, {"stage": "citations"}]
)
def test_answers_of_another_kind_say_nothing(acme: Cast, other: dict[str, str]) -> None:
    measure(acme)
    assert left(acme, begun(acme, **other)) is None


def test_another_tenants_answers_say_nothing(acme: Cast, globex: Cast) -> None:
    measure(globex)
    assert left(acme, begun(acme)) is None


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.DEAD])
def test_a_question_that_waits_has_no_time_left(acme: Cast, state: JobState) -> None:
    measure(acme)
    question_id = begun(acme)
    with acme.scope():
        Job.objects.filter(dedupe_key=job_key(question_id)).update(state=state)
    assert left(acme, question_id) is None


def test_the_latest_answers_decide_the_mean(acme: Cast) -> None:
    measure(acme, {"": 1_000.0})
    measure(acme, {"": 3_000.0})
    with acme.scope():
        assert QuestionPace.objects.values_list("stage", "left_ms", "samples").get() == ("", 2_000.0, 2)
        QuestionPace.objects.update(samples=10 * WEIGHT_OF)
    measure(acme, {"": 2_000.0 + WEIGHT_OF})
    with acme.scope():
        assert QuestionPace.objects.get().left_ms == pytest.approx(2_001.0)


def test_a_stage_that_begins_twice_counts_with_its_mean() -> None:
    now = iter([0.0, 10.0, 12.0, 16.0, 20.0])
    clock = StageClock(lambda: next(now))
    for stage in ("search", "search", "check", "search"):
        clock.enter(stage)
    assert clock.left_ms() == {"": 20_000.0, "search": (10_000.0 + 4_000.0) / 2, "check": 8_000.0}


def test_the_stream_does_not_send_the_estimate_alone(acme: Cast) -> None:
    measure(acme)
    question_id = begun(acme)
    events = stream.QuestionEvents(tenant_id=acme.tenant_id, question_id=question_id)
    assert b'"seconds_left":null' not in events.look().replace(b" ", b"")
    later(acme, question_id, 30)
    assert events.look() == b""
