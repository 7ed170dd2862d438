"""The end of a comparison: settled once, over pinned versions, within its budget, without what was deleted."""

from __future__ import annotations

import threading
from collections import Counter
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from django.utils.dateparse import parse_datetime

from backend.api import public_ids
from backend.billing import queries as ledger
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Video, VideoStatus
from backend.questions.models import Comparison, ComparisonItem, Question, QuestionVideo
from backend.questions.queries.pinned_versions import is_read
from backend.questions.services import comparison_outcomes, comparisons
from backend.questions.services import questions as services
from backend.webhooks.payloads import timestamp
from tests.conftest import Cast
from tests.factories import make_video
from tests.questions.comparing import (
    ARMS,
    TRUTH,
    cmp,
    compared,
    events,
    item,
    post,
    questions_of,
    results,
    shown,
    vid,
)
from tests.questions.world import CALLS, answer, finish
from tests.running import run_job

PRICE = Decimal("0.02")
"""Charge of a question."""


@pytest.fixture
def video(acme: Cast) -> UUID:
    with acme.scope():
        return UUID(str(make_video(indexed_until_ms=30_000).id))


def cancel(cast: Cast, comparison_id: UUID) -> Any:
    return cast.client.post(f"/v1/comparisons/{cmp(comparison_id)}/cancel")


def stop_job(cast: Cast) -> Job:
    with cast.scope():
        return Job.objects.get(kind=JobKind.STOP_COMPARISON)


def purge(cast: Cast, video_id: UUID) -> None:
    """Delete a video's row, which takes its scopes and pins along, as the end of a purge does."""
    with cast.scope():
        Video.objects.filter(id=video_id).delete()


# --- ends -------------------------------------------------------------------------------------------------------------


def test_a_comparison_ends_with_its_last_question(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, grading="exact")
    first, second, third = questions_of(acme, comparison_id)
    finish(acme, first, video, text=TRUTH, choice=None)
    finish(acme, second, video, choice=None)
    assert (shown(acme, comparison_id)["status"], events(acme)) == ("running", [])
    with acme.scope():
        services.fail_question(question_id=third, code="model_unavailable", message="No model.")

    body = shown(acme, comparison_id)
    assert (body["status"], body["finish_detail"]) == ("completed", None)
    counts = {"queued": 0, "running": 0, "succeeded": 2, "failed": 1, "canceled": 0}
    assert body["counts"] == {"total": 3, **counts, "items_left_out": 0}
    assert Decimal(body["charge"]["amount"]) == 2 * PRICE
    assert body["completed_at"] is not None
    (event,) = events(acme)
    assert event == {
        "id": body["id"], "object": "comparison", "status": "completed", "finish_detail": None, "name": "",
        "external_id": "", "counts": body["counts"], "charge": body["charge"],
        "completed_at": timestamp(parse_datetime(body["completed_at"])),
    }  # fmt: skip
    with acme.scope():
        grades = dict(Question.objects.values_list("id", "grade"))
        assert grades == {first: "right", second: "wrong", third: ""}
        assert ledger.mismatches() == []
        prices = Counter(ledger.cost_of_question(id).price for id in (first, second, third))
        assert prices == {Decimal("0.02"): 2, Decimal(0): 1}
    told = {e["id"]: e for e in (*events(acme, "question.completed"), *events(acme, "question.failed"))}
    assert len(told) == 3
    assert not any(TRUTH in str(data) for id, data in told.items() if id != public_ids.encode("qst", first))


def test_the_last_two_questions_at_once_end_a_comparison_once(acme: Cast, video: UUID) -> None:
    for round_ in range(5):
        comparison_id = compared(acme, video, 1, arms=ARMS[:2])
        begun = []
        for id in questions_of(acme, comparison_id):
            with acme.scope():
                begun.append(services.begin(question_id=id))
        both = threading.Barrier(2)

        def end(question: Any, both: threading.Barrier = both) -> None:
            try:
                with acme.scope():
                    both.wait()
                    services.store_answer(question=question, answer=answer(video))
            finally:
                connections.close_all()

        threads = [threading.Thread(target=end, args=(question,)) for question in begun]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        body = shown(acme, comparison_id)
        assert (body["status"], Decimal(body["charge"]["amount"])) == ("completed", 2 * PRICE)
        assert len(events(acme)) == round_ + 1


def test_outcomes_a_cancellation_and_a_stop_at_once_all_end(acme: Cast, video: UUID) -> None:
    """Workers hold a job, then its question, then the comparison; whoever ends many takes them in the same order."""
    comparison_id = compared(acme, video, 3, max_total_charge="0.000001")
    questions = questions_of(acme, comparison_id)
    errors: list[BaseException] = []

    def run(work: Any) -> None:
        try:
            with acme.scope():
                work()
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    def end(id: UUID) -> None:
        Job.objects.select_for_update().get(subject_id=id)
        begun = services.begin(question_id=id)
        if begun is not None:
            services.store_answer(question=begun, answer=answer(video))

    works: list[Any] = [lambda id=id: end(id) for id in questions]
    works[6:6] = [lambda: comparison_outcomes.stop(comparison_id=comparison_id)]
    works[3:3] = [lambda: comparison_outcomes.cancel_comparison(comparison_id=comparison_id)]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == [], [str(e) for e in errors]
    body = shown(acme, comparison_id)
    assert body["status"] in ("completed", "canceled")
    assert body["counts"]["succeeded"] + body["counts"]["canceled"] == 9
    assert Decimal(body["charge"]["amount"]) == body["counts"]["succeeded"] * PRICE
    assert len(events(acme)) == 1
    with acme.scope():
        assert ledger.mismatches() == []


def test_canceling_ends_what_is_open_and_keeps_what_is_done(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1)
    done, running, queued = questions_of(acme, comparison_id)
    finish(acme, done, video)
    with acme.scope():
        services.begin(question_id=running)
        Job.objects.filter(subject_id=running).update(state=JobState.RUNNING)
    reply = cancel(acme, comparison_id)

    assert (reply.status_code, reply.json()["status"]) == (200, "canceled")
    assert [reply.json()["counts"][name] for name in ("succeeded", "canceled")] == [1, 2]
    assert [event["status"] for event in events(acme)] == ["canceled"]
    with acme.scope():
        assert Job.objects.get(subject_id=running).cancel_requested_at is not None
        assert Job.objects.get(subject_id=queued).state == JobState.CANCELED
        assert Question.objects.get(id=done).answer == "a red car"
    again = cancel(acme, comparison_id)
    assert (again.status_code, again.json()["status"], len(events(acme))) == (200, "canceled", 1)


def test_a_completed_comparison_cannot_be_canceled(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2])
    for id in questions_of(acme, comparison_id):
        finish(acme, id, video)
    reply = cancel(acme, comparison_id)
    assert (reply.status_code, reply.json()["code"]) == (409, "comparison_over")
    assert shown(acme, comparison_id)["status"] == "completed"


# --- the total charge -------------------------------------------------------------------------------------------------


def test_open_questions_are_canceled_once_the_settled_charge_passes_the_limit(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 2, max_total_charge="0.03")
    first, second, third, running, claimed, queued = questions_of(acme, comparison_id)
    finish(acme, first, video)
    with acme.scope():
        assert not Job.objects.filter(kind=JobKind.STOP_COMPARISON).exists()
        services.begin(question_id=running)
        Job.objects.filter(subject_id=running).update(state=JobState.RUNNING)
    finish(acme, second, video)
    body = shown(acme, comparison_id)
    assert (body["status"], body["finish_detail"], body["counts"]["canceled"]) == ("running", "comparison_budget", 0)

    # A worker that claims a question before the stop has run begins no search.
    with acme.scope():
        assert services.begin(question_id=claimed) is None
        ended = Question.objects.get(id=claimed)
        assert (ended.status, ended.finish_reason) == ("canceled", "canceled")
        assert ended.finish_detail == "comparison_budget"
    run_job(stop_job(acme).id, acme.tenant_id, worker="test")

    body = shown(acme, comparison_id)
    assert (body["status"], body["finish_detail"]) == ("completed", "comparison_budget")
    assert (body["counts"]["succeeded"], body["counts"]["canceled"]) == (2, 4)
    with acme.scope():
        states = dict(Job.objects.values_list("subject_id", "state"))
        assert (states[queued], states[third]) == (JobState.CANCELED, JobState.CANCELED)
        assert Job.objects.get(subject_id=running).cancel_requested_at is not None
        details = Question.objects.filter(status="canceled").values_list("finish_detail", flat=True)
        assert set(details) == {"comparison_budget"}
        assert sum(ledger.cost_of_question(id).price for id in questions_of_all(acme)) == Decimal("0.04")
    assert [event["finish_detail"] for event in events(acme)] == ["comparison_budget"]
    assert stop_job(acme).state == JobState.SUCCEEDED
    run_job(stop_job(acme).id, acme.tenant_id, worker="test")
    assert len(events(acme)) == 1


def questions_of_all(cast: Cast) -> list[UUID]:
    return list(Question.objects.values_list("id", flat=True))


def test_a_limit_that_the_last_answer_passes_stops_nothing(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2], max_total_charge="0.03")
    for id in questions_of(acme, comparison_id):
        finish(acme, id, video)
    body = shown(acme, comparison_id)
    assert (body["status"], body["finish_detail"], body["counts"]["succeeded"]) == ("completed", None, 2)
    with acme.scope():
        assert not Job.objects.filter(kind=JobKind.STOP_COMPARISON).exists()


# --- pinned versions --------------------------------------------------------------------------------------------------


def test_both_arms_read_the_pinned_version_and_extent_and_it_is_read_until_the_last(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2])
    first, second = questions_of(acme, comparison_id)
    finish(acme, first, video)
    with acme.scope():
        assert is_read(video, 1), "the second arm waits for it"
        # A new index, and the recording has grown.
        Video.objects.filter(id=video).update(active_index_version=2, indexed_until_ms=90_000)
    finish(acme, second, video)

    with acme.scope():
        pins = QuestionVideo.objects.values_list("question_id", "index_version", "indexed_until_ms")
        assert set(pins) == {(first, 1, 30_000), (second, 1, 30_000)}
        assert not is_read(video, 1)
    assert shown(acme, comparison_id)["videos"][0]["indexed_until_ms"] == 30_000


def test_a_later_attempt_of_a_comparisons_question_keeps_the_pin(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2])
    (first, _) = questions_of(acme, comparison_id)
    for version in (2, 3):
        with acme.scope():
            Video.objects.filter(id=video).update(active_index_version=version)
            assert services.begin(question_id=first) is not None
    with acme.scope():
        assert QuestionVideo.objects.get(question_id=first).index_version == 1


def test_a_question_outside_comparisons_pins_when_it_begins(acme: Cast, video: UUID) -> None:
    with acme.scope():
        alone = services.create_question(text="Which?", video_ids=[video])
        assert not is_read(video, 1)
        Video.objects.filter(id=video).update(active_index_version=2)
        services.begin(question_id=alone.id)
        assert QuestionVideo.objects.get(question=alone).index_version == 2
        assert is_read(video, 2)


def test_a_version_that_is_replaced_meanwhile_is_pinned_before_or_not_at_all(acme: Cast, video: UUID) -> None:
    """An activation waits for the comparison that reads the old version, so that a retirement sees its questions."""
    activated = threading.Event()

    def activate() -> None:
        try:
            with acme.scope():
                Video.objects.filter(id=video).update(active_index_version=2)
            activated.set()
        finally:
            connections.close_all()

    other = threading.Thread(target=activate)
    with acme.scope():
        comparisons.create_comparison(
            questions=[{"text": "Which?", "video_ids": [video]}],
            arms=[{"method": name, "effort": "low", "check": "auto"} for name in ("ava", "vector")],
        )
        other.start()
        assert not activated.wait(0.5)
    other.join()
    with acme.scope():
        assert Video.objects.get(id=video).active_index_version == 2
        assert is_read(video, 1)


# --- deleted videos ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["deleting", "purged"])
def test_items_of_a_video_deleted_before_every_arm_was_asked_leave_all_arms(acme: Cast, video: UUID, how: str) -> None:
    with acme.scope():
        other = make_video(indexed_until_ms=30_000).id
    reply = post(acme, [item(0), item(1, video_ids=[vid(other)])], video_ids=[vid(video)], arms=ARMS[:2])
    comparison_id = public_ids.decode("cmp", reply.json()["id"])
    first, second, third, fourth = questions_of(acme, comparison_id)
    finish(acme, first, video)
    if how == "purged":
        purge(acme, video)
    else:
        with acme.scope():
            Video.objects.filter(id=video).update(status=VideoStatus.DELETING)
    with acme.scope():
        assert services.begin(question_id=second) is None
        ended = Question.objects.get(id=second)
        assert (ended.status, ended.finish_detail) == ("canceled", "video_deleted")
        assert ledger.cost_of_question(second).price == 0
    for id in (third, fourth):
        finish(acme, id, other)

    body = shown(acme, comparison_id)
    assert (body["status"], body["counts"]["items_left_out"]) == ("completed", 1)
    assert (body["report"]["items"], body["report"]["counted"], body["report"]["left_out"]) == (2, 1, 1)
    lines = results(acme, comparison_id)
    assert [line["left_out"] for line in lines] == ["video_deleted", ""]
    assert sorted(a["answer"] for a in lines[0]["answers"]) == ["", "a red car"], "the result that is there stays"


def test_an_item_whose_video_goes_while_it_is_answered_leaves_all_arms(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2])
    first, second = questions_of(acme, comparison_id)
    finish(acme, first, video)
    with acme.scope():
        begun = services.begin(question_id=second)
        assert begun is not None
        Video.objects.filter(id=video).update(status=VideoStatus.DELETING)
    with acme.scope():
        services.store_answer(question=begun, answer=answer(video))
        assert ComparisonItem.objects.get().left_out == "video_deleted"
    assert shown(acme, comparison_id)["counts"]["items_left_out"] == 1


def test_a_video_deleted_after_the_last_answer_changes_nothing(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2])
    for id in questions_of(acme, comparison_id):
        finish(acme, id, video)
    before = shown(acme, comparison_id)
    purge(acme, video)
    after = shown(acme, comparison_id)
    assert after["counts"] == before["counts"]
    assert after["report"]["counted"] == 1
    assert after["videos"] == []
    assert len(results(acme, comparison_id)[0]["answers"]) == 2


# --- the judge --------------------------------------------------------------------------------------------------------


def test_a_judge_grades_once_all_answers_are_there(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2], grading="judge")
    first, second = questions_of(acme, comparison_id)
    finish(acme, first, video, choice=None)
    finish(acme, second, video, choice=None, text=TRUTH)

    assert shown(acme, comparison_id)["status"] == "grading"
    assert events(acme) == []
    with acme.scope():
        job = Job.objects.get(kind=JobKind.GRADE_COMPARISON)
        assert (job.subject_id, job.queue, job.state) == (comparison_id, "gpu.query", "queued")
        assert comparison_outcomes.finish_grading(comparison_id, detail="grading_failed")
        assert not comparison_outcomes.finish_grading(comparison_id)
    body = shown(acme, comparison_id)
    assert (body["status"], body["finish_detail"], len(events(acme))) == ("completed", "grading_failed", 1)


def test_without_an_answer_to_judge_a_comparison_ends_at_once(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2], grading="judge")
    for id in questions_of(acme, comparison_id):
        finish(acme, id, video, choice=None, text=TRUTH)
    assert shown(acme, comparison_id)["status"] == "completed"
    with acme.scope():
        assert not Job.objects.filter(kind=JobKind.GRADE_COMPARISON).exists()


def test_canceling_while_a_judge_grades_ends_the_grading(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2], grading="judge")
    for id in questions_of(acme, comparison_id):
        finish(acme, id, video, choice=None)
    reply = cancel(acme, comparison_id)
    assert (reply.status_code, reply.json()["status"]) == (200, "canceled")
    with acme.scope():
        assert Job.objects.get(kind=JobKind.GRADE_COMPARISON).state == JobState.CANCELED
        assert Comparison.objects.get().status == "canceled"
        assert not comparison_outcomes.finish_grading(comparison_id)
    assert len(events(acme)) == 1


def test_calls_of_a_canceled_pair_are_wasted_and_no_arms_cost(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1, arms=ARMS[:2])
    (first, _) = questions_of(acme, comparison_id)
    with acme.scope():
        begun = services.begin(question_id=first)
        assert begun is not None
    cancel(acme, comparison_id)
    with acme.scope():
        late = services.store_answer(question=begun, answer=answer(video))
        assert (late.status, late.cost_amount) == ("canceled", 0)
        assert len(CALLS) == 2
        assert ledger.mismatches() == []
    assert shown(acme, comparison_id)["charge"]["amount"] == "0"
