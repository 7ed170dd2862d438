"""Attacks on the money: model output or model work that nobody pays for, by sequences of requests."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing.models import Reservation, UsageEvent
from backend.billing.rates import rates_at
from backend.billing.services.limits import budgets
from backend.billing.services.limits.budgets import Consumed, Limits
from backend.questions.models import Question, Search
from backend.questions.services import questions, searches
from backend.questions.stream import QuestionEvents
from gpu_workers.engine.answering.contract import ClaimRecord, NodeRecord, PartialAnswer
from tests.conftest import Cast
from tests.factories import make_video, set_limits
from tests.questions.world import CALLS, answer, finish

SECRET = "a quite improbable marmot"
"""Words that only a model knew."""


def vid(cast: Cast) -> str:
    with cast.scope():
        return encode("vid", make_video(indexed_until_ms=30_000).id)


def ask(cast: Cast, video: str, **values: Any) -> UUID:
    body = {"question": "What is it?", "video_ids": [video], "effort": "low", **values}
    reply = cast.client.post("/v1/questions", body)
    assert reply.status_code == 202, reply.content
    with cast.scope():
        return UUID(str(Question.objects.latest("id").id))


def ask_together(cast: Cast, video: str) -> tuple[str, UUID]:
    body = {"questions": [{"question": "What is it?", "effort": "low"}], "video_ids": [video]}
    batch = cast.client.post("/v1/question-batches", body).json()["id"]
    with cast.scope():
        return f"/v1/question-batches/{batch}", UUID(str(Question.objects.latest("id").id))


def url(question_id: UUID) -> str:
    return f"/v1/questions/{encode('qst', question_id)}"


def begin(cast: Cast, question_id: UUID, *, partial: bool = True) -> None:
    """What a worker does until it has the first partial answer."""
    with cast.scope():
        assert questions.begin(question_id=question_id) is not None
        budgets.note_spending(question_id=question_id, consumed=budgets.consumed_by(CALLS, rates_at(timezone.now())))
        if partial:
            questions.set_partial(question_id=question_id, partial=PartialAnswer(SECRET, None, 0.5, "", 1))


def stop(cast: Cast, question_id: UUID) -> None:
    """What a worker does that finds its question over."""
    with cast.scope():
        questions.record_wasted(question_id=question_id, calls=CALLS, reason="stopped")


def paid(cast: Cast) -> Decimal:
    with cast.scope():
        return sum((row.price_amount for row in UsageEvent.objects.all()), Decimal(0))


def read(cast: Cast, question_id: UUID) -> str:
    return str(cast.client.get(url(question_id)).content)


def listed(cast: Cast, question_id: UUID) -> str:
    return str(cast.client.get("/v1/questions").content)


def streamed(cast: Cast, question_id: UUID) -> str:
    return str(QuestionEvents(tenant_id=cast.tenant_id, question_id=question_id).look())


@pytest.mark.parametrize("look", [read, listed, streamed])
@pytest.mark.parametrize("end", ["cancel", "delete", "deadline"])
def test_a_partial_answer_that_was_shown_is_charged(acme: Cast, look: Any, end: str) -> None:
    question_id = ask(acme, vid(acme))
    begin(acme, question_id)
    assert SECRET in look(acme, question_id)

    if end == "cancel":
        body = acme.client.post(f"{url(question_id)}/cancel").json()
        assert (body["charge"]["amount"], body["partial_answer"]["text"]) == ("0.01", SECRET)
    elif end == "delete":
        assert acme.client.delete(url(question_id)).status_code == 204
    else:
        soon = (timezone.now() + timedelta(minutes=5)).isoformat()
        assert acme.client.patch(url(question_id), {"deadline_at": soon}).status_code == 200
        with acme.scope():
            questions.fail_question(question_id=question_id, code="deadline_exceeded", message="too late")
    stop(acme, question_id)

    assert paid(acme) == Decimal("0.01")
    if end != "delete":
        again = acme.client.post(f"{url(question_id)}/retry")
        assert (again.status_code, again.json()["code"]) == (409, "not_retryable")


@pytest.mark.parametrize("end", ["cancel", "delete"])
def test_a_partial_answer_of_a_batch_that_was_shown_is_charged(acme: Cast, end: str) -> None:
    batch, question_id = ask_together(acme, vid(acme))
    begin(acme, question_id)
    assert SECRET in str(b"".join(acme.client.get(f"{batch}/results").streaming_content))

    reply = acme.client.post(f"{batch}/cancel") if end == "cancel" else acme.client.delete(batch)

    assert reply.status_code in (200, 204)
    assert paid(acme) == Decimal("0.01")


def test_a_partial_answer_that_nobody_read_is_not_charged(acme: Cast) -> None:
    question_id = ask(acme, vid(acme))
    begin(acme, question_id)

    body = acme.client.post(f"{url(question_id)}/cancel").json()

    assert (body["charge"]["amount"], body["partial_answer"]) == ("0", None)
    assert paid(acme) == 0
    assert SECRET not in read(acme, question_id)


def test_a_question_that_was_not_begun_is_canceled_for_nothing(acme: Cast) -> None:
    with override_settings(FREE_WORK_PER_HOUR=0):
        question_id = ask(acme, vid(acme))
        acme.client.post(f"{url(question_id)}/cancel")
    assert paid(acme) == 0


def test_a_failure_of_ours_is_not_charged_whatever_was_shown(acme: Cast) -> None:
    with override_settings(FREE_WORK_PER_HOUR=0):
        question_id = ask(acme, vid(acme))
        begin(acme, question_id)
        assert SECRET in read(acme, question_id)
        with acme.scope():
            questions.fail_question(question_id=question_id, code="deadline_exceeded", message="too late")
    assert paid(acme) == 0
    assert SECRET not in read(acme, question_id)


@pytest.mark.parametrize("limit", [Limits(max_tokens=980), Limits(max_cost=Decimal("0.0001"))])
@pytest.mark.parametrize("end", ["cancel", "delete", "deadline", "attempt"])
def test_work_counts_in_budgets_whatever_its_end(acme: Cast, limit: Limits, end: str) -> None:
    video = vid(acme)
    with acme.scope():
        set_limits(limit)
    question_id = ask(acme, video)
    begin(acme, question_id, partial=False)

    if end == "cancel":
        acme.client.post(f"{url(question_id)}/cancel")
    elif end == "delete":
        acme.client.delete(url(question_id))
    elif end == "deadline":
        with acme.scope():
            questions.fail_question(question_id=question_id, code="deadline_exceeded", message="too late")

    for _ in range(2):
        with acme.scope():
            assert budgets.monthly_budget().used.tokens == 980
        refused = acme.client.post("/v1/questions", {"question": "And now?", "video_ids": [video]})
        assert refused.status_code == 402, "before its worker has noticed, and after"
        stop(acme, question_id)


def test_what_staff_ask_counts_in_no_budget(acme: Cast) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
        question_id = questions.create_question(text="Why?", video_ids=[video.id], asked_by_operator=True).id
        questions.begin(question_id=question_id)
    stop(acme, question_id)
    with acme.scope():
        assert budgets.monthly_budget().used == Consumed()


def test_begun_work_is_free_within_a_share_and_charged_beyond_it(acme: Cast, globex: Cast) -> None:
    videos = {cast.slug: vid(cast) for cast in (acme, globex)}

    def canceled(cast: Cast) -> str:
        question_id = ask(cast, videos[cast.slug], effort="high")
        begin(cast, question_id)
        amount: str = cast.client.post(f"{url(question_id)}/cancel").json()["charge"]["amount"]
        return amount

    # 1 USD an hour is 20 questions of 0.05 USD; then as much is free as is charged.
    assert [canceled(acme) for _ in range(24)] == ["0"] * 20 + ["0.05", "0", "0.05", "0"]
    assert canceled(globex) == "0"
    free = next(one for one in acme.client.get("/v1/limits").json()["limits"] if one["name"] == "free_work")
    assert (free["amount"], free["used"], free["left"]) == ("1", "1", "0")
    with acme.scope():
        Reservation.objects.update(settled_at=timezone.now() - timedelta(minutes=61))
    assert canceled(acme) == "0"


TAKEN_BACK = [
    ("insufficient_evidence", "abstained"),
    ("insufficient_evidence", "no_events"),
    ("insufficient_evidence", "outside_video"),
    ("insufficient_evidence", "no_consensus"),
    ("insufficient_evidence", "contradicted"),
    ("insufficient_evidence", "unsupported"),
    ("refused", "model_refused"),
]
"""Ends at which the service says that it has no answer."""


@pytest.mark.parametrize(("reason", "detail"), [*TAKEN_BACK, ("budget", "max_calls")])
def test_work_without_an_answer_to_give_counts_in_the_share(acme: Cast, reason: str, detail: str) -> None:
    with override_settings(FREE_WORK_PER_HOUR=0):
        with acme.scope():
            video = make_video(indexed_until_ms=30_000)
            question_id = questions.create_question(text="Which?", video_ids=[video.id], effort="low").id
        row = finish(acme, question_id, video.id, text="", choice=None, finish_reason=reason, detail=detail, nodes=())
    assert row.charge.amount == paid(acme) == Decimal("0.01")


@pytest.mark.parametrize(("reason", "detail"), TAKEN_BACK)
def test_what_the_service_takes_back_is_free_whatever_it_showed(acme: Cast, reason: str, detail: str) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
    question_id = ask(acme, encode("vid", video.id))
    with acme.scope():
        begun = questions.begin(question_id=question_id)
        questions.set_partial(question_id=question_id, partial=PartialAnswer(SECRET, None, 0.5, "", 1))
    assert begun is not None
    assert SECRET in read(acme, question_id)

    with acme.scope():
        end = answer(video.id, text="", choice=None, confidence=None, finish_reason=reason, detail=detail)
        questions.store_answer(question=begun, answer=end)

    body = acme.client.get(f"{url(question_id)}?include=trace").json()
    assert (body["charge"]["amount"], body["partial_answer"], paid(acme)) == ("0", None, 0)
    assert (body["finish_reason"], body["finish_detail"]) == (reason, detail)
    assert SECRET not in str(body)


def test_an_unsupported_text_is_shown_with_its_mark_and_free(acme: Cast) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
    question_id = ask(acme, encode("vid", video.id))
    claims = (ClaimRecord("It is on the table.", "unverified", (0,)),)

    finish(acme, question_id, video.id, text="It is on the table.", choice=None, confidence=None, claims=claims,
           finish_reason="insufficient_evidence", detail="unsupported")  # fmt: skip

    body = acme.client.get(url(question_id)).json()
    assert (body["status"], body["finish_reason"], body["finish_detail"]) == (
        "succeeded", "insufficient_evidence", "unsupported",
    )  # fmt: skip
    assert (body["answer"], body["claims"][0]["status"]) == ("It is on the table.", "unverified")
    assert (body["charge"]["amount"], paid(acme)) == ("0", 0)
    again = acme.client.post(f"{url(question_id)}/retry")
    assert (again.status_code, again.json()["code"]) == (409, "question_over")


def test_nobody_gets_abstentions_for_nothing_beyond_the_share(acme: Cast) -> None:
    """Questions that cannot be answered, one after the other: at most half of their list price is unpaid."""
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
    charges = []
    for _ in range(24):
        question_id = ask(acme, encode("vid", video.id), effort="high")
        row = finish(acme, question_id, video.id, text="", choice=None, nodes=(),
                     finish_reason="insufficient_evidence", detail="abstained")  # fmt: skip
        charges.append(str(row.charge.amount.normalize()))
    assert charges == ["0"] * 20 + ["0.05", "0", "0.05", "0"]


def test_the_trace_of_an_uncharged_question_has_no_words_of_models(acme: Cast) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
        question_id = questions.create_question(text="Which?", video_ids=[video.id]).id
    nodes = tuple(
        NodeRecord(**{**{name: getattr(node, name) for name in node.__slots__}, "seen": (SECRET,), "answer": SECRET})
        for node in answer(video.id).nodes
    )
    detail = {"finish_reason": "insufficient_evidence", "detail": "no_consensus"}
    finish(acme, question_id, video.id, text="", choice=None, nodes=nodes, **detail)

    body = acme.client.get(f"{url(question_id)}?include=trace")

    assert len(body.json()["trace"]) == 2
    for words in (SECRET, "a red car", "E1 shows it."):
        assert words not in str(body.content)
        assert words not in streamed(acme, question_id)


def test_retries_are_bounded_by_the_hour(acme: Cast) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
        search_id = searches.create_search(text="a van", video_ids=[video.id], api_key_id=acme.key_id).id
    question_id = ask(acme, encode("vid", video.id))
    search = f"/v1/searches/{encode('sea', search_id)}"
    with override_settings(RETRIES_PER_HOUR=3):
        for path in (url(question_id), search, url(question_id)):
            acme.client.post(f"{path}/cancel")
            assert acme.client.post(f"{path}/retry").status_code == 202
        for path in (url(question_id), search):
            acme.client.post(f"{path}/cancel")
            refused = acme.client.post(f"{path}/retry")
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_retries")
            assert acme.client.get(path).json()["status"] == "canceled"
        limit = next(one for one in acme.client.get("/v1/limits").json()["limits"] if one["name"] == "retries")
        assert (limit["amount"], limit["used"], limit["left"]) == ("3", "3", "0")
    assert acme.client.post(f"{search}/retry").status_code == 202


def test_a_key_has_retries_of_its_own(acme: Cast) -> None:
    video = vid(acme)
    body = {"api_key_id": encode("key", acme.key_id), "retries": 1}
    budget = acme.client.put("/v1/budgets", body)
    assert budget.json()["left"]["retries"] == 1
    question_id = ask(acme, video)
    acme.client.post(f"{url(question_id)}/cancel")
    assert acme.client.post(f"{url(question_id)}/retry").status_code == 202
    acme.client.post(f"{url(question_id)}/cancel")

    refused = acme.client.post(f"{url(question_id)}/retry")

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_retries")
    assert "of this API key" in refused.json()["detail"]


def test_searches_that_were_begun_count_in_the_share(acme: Cast) -> None:
    with override_settings(FREE_WORK_PER_HOUR=0), acme.scope():
        video = make_video(indexed_until_ms=30_000)
        for begun, charge in ((False, "0"), (True, "0.001")):
            search = searches.create_search(text="a van", video_ids=[video.id], api_key_id=acme.key_id)
            if begun:
                searches.begin(search_id=search.id)
            searches.cancel_search(search_id=search.id)
            assert Search.objects.get(id=search.id).charge.amount == Decimal(charge)
