"""Asking, answering, failing and canceling: rows, money, jobs and webhook events together or not at all."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from uuid6 import uuid7

from backend.billing import queries as ledger
from backend.billing.models import ModelCall, UsageEvent
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Collection, Video, VideoStatus
from backend.questions.models import Candidate, Evidence, Node, Question, QuestionStatus, QuestionVideo
from backend.questions.services import questions
from backend.questions.services.drafts import check_choices
from backend.tenancy.refusals import Refused
from backend.webhooks.models import WebhookEvent
from tests.factories import make_video
from tests.questions.world import CALLS, EVENT, answer, ask, finish


def test_asking_writes_question_scope_charge_job_and_wake_up(acme: Any) -> None:
    question_id, video_id = ask(acme, choices=[" blue ", "red"])
    with acme.scope():
        question = Question.objects.get()
        assert (question.id, question.status, question.choices) == (question_id, "queued", ["blue", "red"])
        assert QuestionVideo.objects.get().video_id == video_id
        job = Job.objects.get()
        assert (job.kind, job.subject_id, job.state) == (JobKind.ANSWER_QUESTION, question_id, JobState.QUEUED)
        assert job.due
        charge = UsageEvent.objects.get()
        assert (charge.meter, charge.price_amount, charge.api_key_id) == ("questions", Decimal("0.02"), acme.key_id)


@pytest.mark.parametrize(
    ("choices", "accepted"),
    [
        ([], True),
        (["a", "b"], True),
        ([chr(97 + n) for n in range(26)], True),
        (["a"], False),
        ([f"choice {n}" for n in range(27)], False),
        (["a", " "], False),
        (["Red", "red "], False),
    ],
)
def test_choices_are_none_or_2_to_26_distinct_words(choices: list[str], accepted: bool) -> None:
    if accepted:
        assert check_choices(choices) == choices
        return
    with pytest.raises(Refused) as refused:
        check_choices(choices)
    assert (refused.value.code, refused.value.status) == ("invalid_choices", 400)


def refusal(cast: Any, **values: Any) -> str:
    """The code that a question is refused with; nothing of it may stay behind."""
    with pytest.raises(Refused) as refused, cast.scope():
        questions.create_question(**{"text": "What?", **values})
    with cast.scope():
        assert not Question.objects.exists()
        assert not Job.objects.exists()
        assert not UsageEvent.objects.exists()
    return refused.value.code


def test_a_foreign_video_is_as_unknown_as_one_that_never_was(acme: Any, globex: Any) -> None:
    with globex.scope():
        foreign = make_video().id
        collection = Collection.objects.create(tenant_id=globex.tenant_id, name="theirs").id

    assert refusal(acme, video_ids=[foreign]) == refusal(acme, video_ids=[uuid7()]) == "unknown_video"
    assert refusal(acme, collection_id=collection) == "unknown_collection"


def test_a_video_that_failed_before_anything_was_indexed_cannot_be_asked(acme: Any) -> None:
    with acme.scope():
        failed = make_video(status=VideoStatus.FAILED, indexed_until_ms=0).id
        partly = make_video(status=VideoStatus.FAILED, indexed_until_ms=3_000).id
        begun = make_video(status=VideoStatus.INDEXING, indexed_until_ms=0).id

    assert refusal(acme, video_ids=[failed]) == "nothing_indexed"
    assert refusal(acme, video_ids=[failed, begun]) == "nothing_indexed"
    with acme.scope():
        for videos in ([failed, partly], [begun, partly]):
            questions.create_question(text="What?", video_ids=videos)


def test_an_empty_span_or_scope_is_refused(acme: Any) -> None:
    with acme.scope():
        video = make_video().id
        empty = Collection.objects.create(tenant_id=acme.tenant_id, name="empty").id

    assert refusal(acme, video_ids=[video], start_ms=5, end_ms=5) == "invalid_span"
    assert refusal(acme, collection_id=empty) == "empty_collection"
    assert refusal(acme) == "no_scope"
    assert refusal(acme, video_ids=[video], text="  ") == "empty_question"


def test_beginning_pins_the_version_and_extent_that_the_answer_reads(acme: Any) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        begun = questions.begin(question_id=question_id)
        assert begun is not None
        assert begun.status == QuestionStatus.RUNNING
        scope = QuestionVideo.objects.get()
        assert (scope.index_version, scope.indexed_until_ms) == (1, 30_000)


def test_an_answer_is_stored_with_its_tree_evidence_cost_and_event(acme: Any) -> None:
    question_id, video_id = ask(acme)
    stored = finish(acme, question_id, video_id)

    with acme.scope():
        question = Question.objects.get()
        assert (question.status, question.answer, question.choice) == (QuestionStatus.SUCCEEDED, "a red car", 1)
        assert question.usage == {
            "calls": 2, "prompt_tokens": 900, "cached_tokens": 300, "completion_tokens": 80, "device_seconds": "1.22",
        }  # fmt: skip
        assert question.cost_amount == stored.cost_amount == Decimal("0.0002711111")
        assert question.timings["llm_ms"] == 1_200
        assert (question.timings["retrieval_ms"], question.timings["search_ms"]) == (100, 1_200)
        assert question.timings["engine_ms"] == 1_900
        assert question.timings["total_ms"] >= question.timings["queue_ms"] >= 0

        root, requery = Node.objects.order_by("ordinal")
        assert (root.path, root.score, requery.sub_queries) == ("", 0.7, ["car colour"])
        assert [(node.answer, node.seen, node.started_ms) for node in (root, requery)] == [
            ("a red car", [], 0),
            (None, [], 1_200),
        ]
        assert root.usage == {
            "prompt_tokens": 900, "completion_tokens": 80, "frames_used": 0, "frames_available": 0,
        }  # fmt: skip
        assert root.events[0]["event_id"] == str(EVENT)
        votes = Candidate.objects.filter(node=root).order_by("ordinal").values_list("answer", "agreement", "coherence")
        assert list(votes) == [("a red car", 0.5, 0.8), ("", 0.0, 0.0)]
        cited = Evidence.objects.get()
        assert (cited.event_id, cited.frame_ms, cited.quote) == (EVENT, 4_000, "A red car parks.")

        event = WebhookEvent.objects.get()
        assert event.type == "question.completed"
        assert json.loads(event.body)["data"]["answer"] == "a red car"
        assert ModelCall.objects.count() == 2
        assert ledger.question_mismatches(question_id) == []
        assert set(UsageEvent.objects.values_list("api_key_id", flat=True)) == {acme.key_id}


def test_the_second_answer_of_a_question_changes_nothing_and_bills_nobody(acme: Any) -> None:
    question_id, video_id = ask(acme)
    stored = finish(acme, question_id, video_id)
    with acme.scope():
        before = ledger.cost_of_question(question_id)
        again = questions.store_answer(question=stored, answer=answer(video_id, text="something else"))

        assert again.answer == "a red car"
        assert Node.objects.count() == 2
        assert WebhookEvent.objects.count() == 1
        after = ledger.cost_of_question(question_id)
        assert after.price == before.price
        assert after.amount > before.amount, "the wasted work is attributed all the same"
        assert ledger.mismatches() == []


def test_a_cited_frame_without_a_copy_shows_the_thumbnail_of_the_version_that_was_read(acme: Any) -> None:
    from backend.ekg.models import Frame

    question_id, video_id = ask(acme)
    with acme.scope():
        for version in (1, 2):
            Frame.objects.create(
                tenant_id=acme.tenant_id, video_id=video_id, index_version=version, ms=4_000,
                thumbnail_key=f"t/frames/{version}.jpg",
            )  # fmt: skip
    finish(acme, question_id, video_id)

    with acme.scope():
        assert Evidence.objects.get().frame_key == "t/frames/1.jpg"


def test_a_failed_question_is_not_charged_and_says_so(acme: Any) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        failed = questions.fail_question(
            question_id=question_id, code="model_unavailable", message="No model answered.", calls=CALLS
        )
        assert failed is not None
        assert questions.fail_question(question_id=question_id, code="again", message="") is None

        question = Question.objects.get()
        assert (question.status, question.error_code) == (QuestionStatus.FAILED, "model_unavailable")
        total = ledger.cost_of_question(question_id)
        assert total.price == 0
        assert total.amount == Decimal("0.0002711111")
        assert WebhookEvent.objects.get().type == "question.failed"


def test_an_engine_error_fails_the_question_with_its_code(acme: Any) -> None:
    question_id, video_id = ask(acme)
    stored = finish(acme, question_id, video_id, finish_reason="error", detail="model_timeout", text="", choice=None)

    assert (stored.status, stored.error_code) == (QuestionStatus.FAILED, "model_timeout")
    with acme.scope():
        assert WebhookEvent.objects.get().type == "question.failed"
        assert ledger.cost_of_question(question_id).price == 0


@pytest.mark.parametrize("reason", ["insufficient_evidence", "budget", "refused"])
def test_an_honest_end_without_an_answer_is_an_outcome(acme: Any, reason: str) -> None:
    question_id, video_id = ask(acme)
    stored = finish(acme, question_id, video_id, finish_reason=reason, text="", choice=None)

    assert (stored.status, stored.finish_reason) == (QuestionStatus.SUCCEEDED, reason)


@pytest.mark.parametrize("detail", ["no_consensus", "abstained", "unsupported"])
def test_a_question_without_an_answer_is_free(acme: Any, detail: str) -> None:
    question_id, video_id = ask(acme)
    reason = "insufficient_evidence"
    stored = finish(acme, question_id, video_id, finish_reason=reason, detail=detail, text="", choice=None)

    with acme.scope():
        assert ledger.cost_of_question(question_id).price == 0
        assert stored.charge.amount == 0


def test_canceling_stops_the_job_and_takes_back_the_charge(acme: Any) -> None:
    question_id, video_id = ask(acme)
    with acme.scope():
        canceled = questions.cancel_question(question_id=question_id)
        assert canceled is not None
        assert Job.objects.get().state == JobState.CANCELED
        assert ledger.cost_of_question(question_id).price == 0
        assert [event.type for event in WebhookEvent.objects.all()] == ["question.canceled"]
        assert questions.cancel_question(question_id=question_id) is None
        assert questions.begin(question_id=question_id) is None
        late = questions.store_answer(question=canceled, answer=answer(video_id))
        assert (late.status, late.answer) == (QuestionStatus.CANCELED, "")
        assert not Node.objects.exists()
        assert WebhookEvent.objects.count() == 1, "and is reported once"


def test_nothing_is_read_of_a_video_that_is_being_deleted(acme: Any) -> None:
    question_id, video_id = ask(acme)
    with acme.scope():
        Video.objects.filter(id=video_id).update(status=VideoStatus.DELETING)
        assert questions.begin(question_id=question_id) is not None
        assert QuestionVideo.objects.get().indexed_until_ms == 0
