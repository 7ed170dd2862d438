"""Searches run in this process over an index on the real stack: results, usage, and what is out of reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from backend.api.public_ids import decode, encode
from backend.billing import queries as ledger
from backend.billing.models import ModelCall as ModelCallRow
from backend.billing.models import UsageEvent
from backend.ekg.models import Event, Frame
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Video
from backend.questions.models import Search
from gpu_workers.engine.models.roles import Meter, ModelCall, ModelError
from gpu_workers.engine.retrieval import scores
from gpu_workers.tasks import models, search_events
from tests.conftest import Cast
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.eyes import GREEN, RED, STORIES
from tests.tasks.kept_index import KeptIndex
from tests.tasks.world import TWELVE_SECONDS, indexed_video, run_due, run_past_deadlines

pytestmark = pytest.mark.slow

DOGS = "dogs chasing a tennis ball"


@pytest.fixture
def video_id(kept_index: KeptIndex, vlm: ScriptedOpenAIServer, llm: ScriptedOpenAIServer) -> UUID:
    """Index red, then green with the dogs."""
    vlm.requests.clear()
    llm.requests.clear()
    return kept_index.video_id


def _run(cast: Cast) -> None:
    run_due()


def search(cast: Cast, video_id: UUID, query: str = DOGS, *, run: Callable[[Cast], None] = _run, **fields: Any) -> Any:
    """Return the result of a search for this query after the workers have run."""
    body = {"query": query, "video_ids": [encode("vid", video_id)], **fields}
    asked = cast.client.post("/v1/search", body, format="json", headers={"Prefer": "respond-async"})
    assert asked.status_code == 202, asked.content
    run(cast)
    return cast.client.get(asked.headers["Location"]).json()


def test_the_event_that_matches_comes_first_and_says_why(
    acme: Cast, globex: Cast, video_id: UUID, llm: ScriptedOpenAIServer, vlm: ScriptedOpenAIServer
) -> None:
    body = search(acme, video_id)

    assert (body["status"], body["error"]) == ("succeeded", None)
    with acme.scope():
        dogs = Event.objects.get(summary__startswith=STORIES[GREEN])
        events = {encode("evt", event.id): event for event in Event.objects.all()}
        frames = set(Frame.objects.filter(event_id=dogs.id).values_list("ms", flat=True))
    first = body["results"][0]
    assert (first["event_id"], first["video_id"]) == (encode("evt", dogs.id), encode("vid", video_id))
    assert (first["start_ms"], first["end_ms"], first["summary"]) == (6_000, 12_000, dogs.summary)
    scores = [found["score"] for found in body["results"]]
    assert scores == sorted(scores, reverse=True)
    reasons = {reason["view"]: reason for reason in first["reasons"]}
    assert reasons["event"]["text"] == ""
    assert reasons["event"]["similarity"] > 0.5
    assert first["frame"]["ms"] in frames
    assert "X-Amz-Signature" in first["frame"]["thumbnail_url"]
    assert {found["event_id"] for found in body["results"]} <= set(events)
    # No language or vision model takes part.
    assert llm.requests == []
    assert vlm.requests == []
    assert globex.client.get(f"/v1/searches/{body['id']}").status_code == 404


def test_what_it_consumed_is_in_the_ledger_once(acme: Cast, video_id: UUID) -> None:
    body = search(acme, video_id)
    search_id = decode("sea", body["id"])

    with acme.scope():
        calls = list(ModelCallRow.objects.filter(source_type="search", source_id=search_id))
        bound = models.answer_models()
        assert bound.text_embedder.name in {call.model for call in calls}
        assert body["usage"]["calls"] == len(calls)
        rows = UsageEvent.objects.filter(source_type="search")
        assert {(row.source_id, row.api_key_id) for row in rows} == {(str(search_id), acme.key_id)}
        assert not rows.exclude(video_id=None, question_id=None).exists()
        assert ledger.mismatches() == []
        assert Job.objects.get(kind=JobKind.SEARCH_EVENTS).state == JobState.SUCCEEDED


def test_the_span_and_the_videos_are_a_hard_limit(acme: Cast, video_id: UUID) -> None:
    both = f"{STORIES[RED]} {STORIES[GREEN]}"
    early = search(acme, video_id, both, end_ms=6_000)
    late = search(acme, video_id, both, start_ms=7_000, min_score=0)

    def forgotten(cast: Cast) -> None:
        with cast.scope():
            Video.objects.filter(id=video_id).update(indexed_until_ms=0)
        run_due()

    unseen = search(acme, video_id, both, run=forgotten)

    assert {found["end_ms"] for found in early["results"]} == {6_000}
    assert {found["start_ms"] for found in late["results"]} == {6_000}
    assert all(found["frame"]["ms"] >= 7_000 for found in late["results"])
    assert (unseen["status"], unseen["results"]) == ("succeeded", [])
    assert unseen["empty_reason"]["code"] == "nothing_indexed"


def test_what_is_not_there_is_not_found_and_the_reply_says_so(acme: Cast, video_id: UUID) -> None:
    for query in ("purple elephant dancing on the moon", "interest rates of the central bank", "🦄🦄🦄", "the the"):
        body = search(acme, video_id, query)
        assert (body["status"], body["results"], body["moments"]) == ("succeeded", [], []), query
        assert body["empty_reason"]["code"] in ("below_min_score", "no_match"), query
    anyway = search(acme, video_id, "purple elephant dancing on the moon", min_score=0)
    assert anyway["results"]
    assert anyway["empty_reason"] is None
    assert max(found["score"] for found in anyway["results"]) < 0.3
    assert search(acme, video_id)["results"][0]["score"] > 0.9


def test_the_moments_of_a_search_and_of_each_event_do_not_overlap(acme: Cast, video_id: UUID) -> None:
    for mode in ("semantic", "words", "hybrid"):
        body = search(acme, video_id, f"{DOGS} woman bus stop", mode=mode, min_score=0)
        for moments in (body["moments"], *(found["moments"] for found in body["results"])):
            spans = sorted((moment["start_ms"], moment["end_ms"]) for moment in moments)
            assert all(one[1] <= other[0] for one, other in pairwise(spans)), mode
        for found in body["results"]:
            for moment in found["moments"]:
                assert found["start_ms"] <= moment["start_ms"] < moment["end_ms"] <= found["end_ms"], mode
    assert any(found["moments"] for found in search(acme, video_id, DOGS, min_score=0)["results"])


def test_an_embedder_that_nobody_calibrated_returns_similarities_and_says_so(
    acme: Cast, video_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "curves", dict)

    body = search(acme, video_id)

    assert (body["calibrated"], body["min_score"]) == (False, 0)
    assert all(0 <= found["score"] <= 1 for found in body["results"])
    assert body["results"][0]["summary"].startswith(STORIES[GREEN])
    assert search(acme, video_id, min_score=0.99)["empty_reason"]["code"] == "below_min_score"


def test_without_a_scope_it_finds_in_every_own_video(acme: Cast, globex: Cast, video_id: UUID) -> None:
    indexed_video(globex, TWELVE_SECONDS)
    body = {"query": DOGS}
    asked = acme.client.post("/v1/search", body, format="json", headers={"Prefer": "respond-async"})
    run_due()
    found = acme.client.get(asked.headers["Location"]).json()

    assert found["video_ids"] == [encode("vid", video_id)]
    assert {result["video_id"] for result in found["results"]} == {encode("vid", video_id)}
    assert found["charge"]["amount"] == "0.001"


def test_another_tenants_events_are_never_found(acme: Cast, globex: Cast, video_id: UUID) -> None:
    theirs = indexed_video(globex, TWELVE_SECONDS)

    for cast, own in ((acme, video_id), (globex, theirs)):
        body = search(cast, own)
        assert {found["video_id"] for found in body["results"]} == {encode("vid", own)}


def test_views_of_weight_zero_have_no_say(acme: Cast, video_id: UUID) -> None:
    others = {"entity": 0, "frame": 0, "transcript": 0, "topic": 0, "graph": 0}
    alone = search(acme, video_id, mode="semantic", views=others)
    reciprocal = search(
        acme,
        video_id,
        mode="semantic",
        views={"event": 2, "entity": 0, "frame": 0, "topic": 0, "graph": 0},
        fusion="rrf",
    )

    views = {reason["view"] for found in alone["results"] for reason in found["reasons"]}
    assert views == {"event"}
    assert reciprocal["results"][0]["score"] == alone["results"][0]["score"], "a score does not depend on the fusion"


def test_the_limit_bounds_results(acme: Cast, video_id: UUID) -> None:
    assert len(search(acme, video_id, limit=1)["results"]) == 1


class ScriptedReranker:
    """Prefers passages that have these words, or fails."""

    name = "scripted reranker"

    def __init__(self, words: str, error: ModelError | None = None) -> None:
        self.words, self.error = words, error
        self.passages: list[str] = []

    def rerank(self, query: str, passages: Sequence[str], *, meter: Meter) -> Any:
        if self.error is not None:
            raise self.error
        self.passages += passages
        meter.record(ModelCall("rerank", self.name, 1, prompt_tokens=1, items=len(passages)))
        return [float(self.words in passage) for passage in passages]


def bind(monkeypatch: pytest.MonkeyPatch, **roles: Any) -> None:
    """Let searches use the bound models with other ones in some roles."""
    bound = replace(models.answer_models(), **roles)
    monkeypatch.setattr(search_events, "answer_models", lambda: bound)


def test_a_reranker_orders_a_hybrid_search_and_no_other(
    acme: Cast, video_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert search(acme, video_id)["results"][0]["summary"].startswith(STORIES[GREEN])
    reranker = ScriptedReranker(STORIES[RED])
    bind(monkeypatch, reranker=reranker)

    body = search(acme, video_id, min_score=0)
    assert body["results"][0]["summary"].startswith(STORIES[RED])
    assert "rerank" not in {reason["view"] for found in body["results"] for reason in found["reasons"]}
    assert body["degraded"] == []
    with acme.scope():
        spent = ModelCallRow.objects.filter(source_id=decode("sea", body["id"]), stage="rerank")
        assert spent.get().model == reranker.name

    read = len(reranker.passages)
    assert read == 2
    assert len(search(acme, video_id, limit=1, min_score=0)["results"]) == 1
    assert len(reranker.passages) == 2 * read, "the limit bounds the results, not what is read"
    search(acme, video_id)
    assert len(reranker.passages) == 2 * read + 1, "what does not fit is not read"
    for mode in ("semantic", "words"):
        search(acme, video_id, mode=mode)
    assert len(reranker.passages) == 2 * read + 1


def test_a_reranker_that_fails_leaves_the_order_of_the_views(
    acme: Cast, video_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    bind(monkeypatch, reranker=ScriptedReranker("", ModelError("model_unavailable", "away", retryable=True)))

    body = search(acme, video_id)
    assert (body["status"], body["degraded"]) == ("succeeded", ["no_reranking"])
    assert body["results"][0]["summary"].startswith(STORIES[GREEN])


def test_a_language_that_the_embedder_does_not_know_is_told(
    acme: Cast, video_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = "Hunde jagen auf der Wiese einen Tennisball"
    assert models.answer_models().embedder_languages == ("en",)
    assert search(acme, video_id, german)["degraded"] == ["query_language"]
    assert search(acme, video_id, german, mode="words")["degraded"] == []
    assert search(acme, video_id)["degraded"] == []

    for many in ((), ("de", "en")):
        bind(monkeypatch, embedder_languages=many)
        assert search(acme, video_id, german)["degraded"] == []


def test_an_embedder_that_stays_away_fails_the_search_at_its_deadline_and_bills_nobody(
    acme: Cast, video_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away:
        name = "away"

        def embed(self, texts: Any, *, meter: Meter) -> Any:
            raise ModelError("model_unavailable", "away", retryable=True)

    bound = models.answer_models()
    monkeypatch.setattr(type(bound.text_embedder), "embed", Away.embed)
    body = search(acme, video_id, run=run_past_deadlines)

    assert (body["status"], body["error"]["code"], body["results"]) == ("failed", "deadline_exceeded", [])
    with acme.scope():
        job = Job.objects.get(kind=JobKind.SEARCH_EVENTS)
        assert (job.state, job.error_code) == (JobState.DEAD, "deadline_exceeded")
        assert job.outages >= 4
        assert not UsageEvent.objects.filter(source_type="search").exists()


def test_a_purged_video_takes_its_results_out_of_stored_searches(acme: Cast, video_id: UUID) -> None:
    body = search(acme, video_id)
    assert body["results"]
    assert acme.client.delete(f"/v1/videos/{encode('vid', video_id)}").status_code == 202
    run_due()

    after = acme.client.get(f"/v1/searches/{body['id']}").json()
    assert (after["status"], after["results"], after["video_ids"]) == ("succeeded", [], [])
    with acme.scope():
        assert STORIES[GREEN] not in str(Search.objects.values())


def test_words_are_found_marked_and_cost_no_model(acme: Cast, video_id: UUID) -> None:
    body = search(acme, video_id, "tennis balls", mode="words")

    first = body["results"][0]
    assert STORIES[GREEN] in first["summary"]
    words = next(reason for reason in first["reasons"] if reason["view"] == "words")
    assert (words["item_id"], words["similarity"] > 0) == (first["event_id"], True)
    summary = next(shown for shown in first["highlights"] if shown["kind"] == "summary")
    marked = [summary["text"][part["start"] : part["end"]].lower() for part in summary["ranges"]]
    assert {"tennis", "ball"} <= set(marked)
    assert body["usage"]["calls"] == 0
    assert all(reason["view"] in {"words", "name", "title", "object"} for reason in first["reasons"])


def test_words_in_quotation_marks_are_exact(acme: Cast, video_id: UUID) -> None:
    for mode in ("words", "hybrid", "semantic"):
        found = search(acme, video_id, f'"{STORIES[GREEN]}"', mode=mode)["results"]
        assert [STORIES[GREEN] in event["summary"] for event in found] == [True], mode
        assert found[0]["score"] == 1.0, mode
        assert search(acme, video_id, '"ball tennis a chasing dogs"', mode=mode)["results"] == [], mode


HOSTILE = {
    "injection": "'; DROP TABLE ekg_event; --",
    "wildcards": "%",
    "wildcard": "_",
    "operators": "&|!",
    "query language": "dogs & !(ball | <-> ) :*",
    "backslash": "\\",
    "braces": "{} %(tenant)s $1",
    "long word": "x" * 4_000,
    "many words": "dogs " * 799,
    "many quotes": '"a" ' * 999,
    "unbalanced": '"dogs',
    "right to left": "\u05db\u05dc\u05d1\u05d9\u05dd \u202e dogs",
    "joined": "\u200d\ufe0f\U0001f468\u200d\U0001f469",
    "marks alone": "\u0301" * 200,
    "controls": "dogs \x01\x1b[31m",
}


@pytest.mark.parametrize("mode", ["words", "hybrid"])
def test_hostile_words_have_a_legal_result(acme: Cast, video_id: UUID, mode: str) -> None:
    for what, query in HOSTILE.items():
        body = search(acme, video_id, query, mode=mode)
        assert (body["status"], body["error"]) == ("succeeded", None), what
        for found in body["results"]:
            for shown in found["highlights"]:
                places = [(part["start"], part["end"]) for part in shown["ranges"]]
                assert places == sorted(places), what
                assert all(0 <= start < end <= len(shown["text"]) for start, end in places), what
    with acme.scope():
        assert Event.objects.count() == 2


@override_settings(FREE_REQUESTS_PER_MINUTE=10**9)
def test_hostile_words_in_lists_have_a_legal_result(acme: Cast, video_id: UUID) -> None:
    for part in ("events", "chunks", "frames", "transcript", "objects", "tracks", "entities", "relations"):
        for what, query in HOSTILE.items():
            reply = acme.client.get(f"/v1/videos/{encode('vid', video_id)}/{part}", {"q": query[:200]})
            assert reply.status_code in (200, 400), (part, what)
        assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}/{part}", {"q": "a\0b"}).status_code == 400
        assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}/{part}?q=%ff%fe").status_code in (200, 400)
