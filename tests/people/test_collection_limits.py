"""A member who is limited to collections sees nothing of other videos, in lists, by id, or in questions about them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from backend.api.public_ids import encode
from backend.library.models import Collection, Video
from backend.questions.models import Comparison, ComparisonVideo, Question, QuestionBatch, QuestionVideo, Search
from backend.questions.models import Session as Conversation
from backend.questions.models.searches import SearchVideo
from backend.tenancy.context import limited_to
from tests.conftest import Cast
from tests.ekg.recorded import record
from tests.people.cast import Browser, member_of, person


def world(acme: Cast) -> dict[str, dict[str, UUID]]:
    """A video in each of two collections, with what was asked about it; "both" was asked about both videos."""
    made: dict[str, dict[str, UUID]] = {"park": {}, "yard": {}, "both": {}}
    tenant = {"tenant_id": acme.tenant_id}
    for name in ("park", "yard"):
        video_id = record(acme).video_id
        with acme.scope():
            collection = Collection.objects.create(**tenant, name=name)
            Video.objects.filter(id=video_id).update(collection=collection)
        made[name] |= {"vid": video_id, "col": collection.id}
    for name, videos in (("park", ["park"]), ("yard", ["yard"]), ("both", ["park", "yard"])):
        with acme.scope():
            batch = QuestionBatch.objects.create(**tenant, total=1)
            scope = {"video_ids": [str(made[video]["vid"]) for video in videos]}
            session = Conversation.objects.create(**tenant, scope=scope)
            question = Question.objects.create(
                **tenant, text=name, batch=batch, batch_position=0, session=session, turn=1
            )
            search = Search.objects.create(
                **tenant, text=name, settings={"mode": "hybrid", "views": {}, "fusion": "borda", "limit": 16}
            )
            arms = [{"method": one, "effort": "low", "check": "auto", "label": one} for one in ("ava", "vector")]
            comparison = Comparison.objects.create(**tenant, arms=arms, total=2)
            for video in videos:
                linked = {**tenant, "video_id": made[video]["vid"]}
                QuestionVideo.objects.create(**linked, question=question)
                SearchVideo.objects.create(**linked, search=search)
                ComparisonVideo.objects.create(**linked, comparison=comparison, index_version=1, indexed_until_ms=0)
        made[name] |= {
            "qst": question.id, "bat": batch.id, "ses": session.id, "sea": search.id, "cmp": comparison.id,
        }  # fmt: skip
    return made


PATHS = {
    "vid": "/v1/videos", "col": "/v1/collections", "qst": "/v1/questions", "sea": "/v1/searches",
    "bat": "/v1/question-batches", "ses": "/v1/sessions", "cmp": "/v1/comparisons",
}  # fmt: skip


@pytest.fixture
def made(acme: Cast) -> dict[str, dict[str, UUID]]:
    return world(acme)


@pytest.fixture
def limited(acme: Cast, made: dict[str, dict[str, UUID]]) -> Browser:
    eve = person("eve")
    member_of(acme, "analyst", eve, collection_ids=[str(made["park"]["col"])])
    return Browser(eve, acme.slug)


def test_lists_and_single_rows_show_the_own_collections_alone(
    acme: Cast, made: dict[str, dict[str, UUID]], limited: Browser
) -> None:
    for prefix, path in PATHS.items():
        mine = encode(prefix, made["park"][prefix])
        others = [encode(prefix, made[name][prefix]) for name in ("yard", "both") if prefix in made[name]]
        assert limited.api("GET", f"{path}/{mine}").status_code == 200, prefix
        listed = limited.api("GET", path)
        if listed.status_code == 200:
            assert [row["id"] for row in listed.json()["data"]] == [mine], prefix
        for other in others:
            reply = limited.api("GET", f"{path}/{other}")
            assert (reply.status_code, reply.json()["code"]) == (404, "not_found"), prefix
            assert acme.client.get(f"{path}/{other}").status_code == 200, prefix


def test_sessions_and_batches_of_others_are_hidden_before_their_first_question_and_after_their_last(
    acme: Cast, made: dict[str, dict[str, UUID]], limited: Browser
) -> None:
    yard, park = made["yard"], made["park"]
    hidden = []
    for scope in (
        {"collection_id": encode("col", yard["col"])},
        {"video_ids": [encode("vid", yard["vid"])]},
        {"video_ids": [encode("vid", yard["vid"]), encode("vid", park["vid"])]},
    ):
        body = {**scope, "external_id": "case-7", "metadata": {"suspect": "Ada"}}
        hidden.append(("/v1/sessions", acme.client.post("/v1/sessions", body).json()["id"]))
    with acme.scope():
        batch = QuestionBatch.objects.create(tenant_id=acme.tenant_id, total=1, metadata={"suspect": "Ada"})
        hidden.append(("/v1/question-batches", encode("bat", batch.id)))
    for path, name in hidden:
        listed = limited.api("GET", path)
        assert listed.status_code == 405 or name not in [row["id"] for row in listed.json()["data"]]
        assert limited.api("GET", f"{path}/{name}").status_code == 404, path
        assert limited.api("DELETE", f"{path}/{name}").status_code in {404, 405}, path
        assert acme.client.get(f"{path}/{name}").status_code == 200, path
    for scope in ({"collection_id": encode("col", park["col"])}, {"video_ids": [encode("vid", park["vid"])]}):
        mine = limited.api("POST", "/v1/sessions", scope)
        assert mine.status_code == 201, mine.content
        assert limited.api("GET", f"/v1/sessions/{mine.json()['id']}").status_code == 200


def test_what_lies_under_a_foreign_video_or_question_is_hidden(
    made: dict[str, dict[str, UUID]], limited: Browser
) -> None:
    video, question = encode("vid", made["yard"]["vid"]), encode("qst", made["both"]["qst"])
    for path in (
        f"/v1/videos/{video}/events",
        f"/v1/videos/{video}/transcript",
        f"/v1/index-jobs/{encode('job', made['yard']['vid'])}",
        f"/v1/questions/{question}/stream",
        f"/v1/questions/{question}/feedback",
    ):
        assert limited.api("GET", path).status_code == 404, path
    park = encode("vid", made["park"]["vid"])
    assert limited.api("GET", f"/v1/videos/{park}/events").status_code == 200


def test_a_limited_analyst_asks_about_the_own_collections_alone(
    made: dict[str, dict[str, UUID]], limited: Browser
) -> None:
    asked: Any = limited.api(
        "POST", "/v1/questions", {"question": "Who?", "collection_id": encode("col", made["park"]["col"])}
    )
    assert asked.status_code == 202, asked.content
    assert asked.json()["video_ids"] == [encode("vid", made["park"]["vid"])]
    for scope in (
        {"video_ids": [encode("vid", made["yard"]["vid"])]},
        {"collection_id": encode("col", made["yard"]["col"])},
    ):
        assert limited.api("POST", "/v1/questions", {"question": "Who?", **scope}).status_code == 400
        assert limited.api("POST", "/v1/search", {"query": "Who?", **scope}).status_code == 400


def test_a_limited_analyst_who_names_no_scope_searches_the_own_collections_alone(
    acme: Cast, made: dict[str, dict[str, UUID]], limited: Browser
) -> None:
    asked: Any = limited.api("POST", "/v1/search", {"query": "Who?"}, headers={"Prefer": "respond-async"})
    assert asked.status_code == 202, asked.content
    assert asked.json()["video_ids"] == [encode("vid", made["park"]["vid"])]
    whole = acme.client.post("/v1/search", {"query": "Who?"}, headers={"Prefer": "respond-async"})
    assert set(whole.json()["video_ids"]) == {encode("vid", made[name]["vid"]) for name in ("park", "yard")}


def test_the_limit_ends_with_its_work(acme: Cast, made: dict[str, dict[str, UUID]]) -> None:
    with acme.scope():
        with limited_to((made["park"]["col"],)):
            assert Video.objects.count() == 1
        with limited_to(()):
            assert (Video.objects.count(), Question.objects.count()) == (0, 0)
        assert (Video.objects.count(), Question.objects.count()) == (2, 3)
