"""The console's pages of searches: across tenants, with what matched, and with text of videos as text."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone
from uuid6 import uuid7

from backend.library.models import Video
from backend.questions.models import Search
from backend.questions.queries.searches import FoundEvent, FoundObject, Match, Reason, ScoreReport
from backend.questions.services import searches
from gpu_workers.engine.models.roles import ModelCall
from tests.conftest import Cast
from tests.console.signing_in import open_content
from tests.factories import make_video

SCRIPT = "<script>alert(1)</script> a red van"


@pytest.fixture
def staff(staff: Client, acme: Cast, globex: Cast) -> Client:
    """An operator who has opened the content of both tenants."""
    for cast in (acme, globex):
        assert open_content(staff, cast).status_code == 302
    return staff


def page(client: Client, path: str) -> str:
    reply = client.get(f"/console/questions/search/{path}")
    assert reply.status_code == 200, path
    return reply.content.decode()


def searched(cast: Any, **values: Any) -> UUID:
    """Make a search of cast's that found one event in a video called Gate <1>. Returns its id."""
    with cast.scope():
        video = make_video(indexed_until_ms=30_000)
        Video.objects.filter(id=video.id).update(title="Gate <1>")
        search = searches.create_search(**{"text": "a red <van>", "video_ids": [video.id], **values})
    with cast.scope():
        assert searches.begin(search_id=search.id) is not None
    event_id, car = uuid7(), uuid7()
    found = FoundEvent(
        video_id=video.id, event_id=event_id, n=1, start_ms=3_000, end_ms=9_000, summary=SCRIPT, score=0.0312,
        frame_ms=4_000, frame_key="t/frames/4000.jpg",
        reasons=(Reason("object", 0.5, "red truck", car), Reason("event", 0.25, "", event_id)),
        highlights=(
            Match("summary", SCRIPT, ((28, 31), (32, 35))), Match("speech", "van ahead", ((0, 3),), 61_000, 62_000),
        ),
    )  # fmt: skip
    calls = (ModelCall("embedding", "minilm", wall_ms=30, prompt_tokens=8, items=2),)
    with cast.scope():
        searches.store_results(
            search_id=search.id,
            found=[found],
            calls=calls,
            began_at=timezone.now(),
            retrieval_ms=50,
            scores=ScoreReport(True, 0.5),
        )
    return UUID(str(search.id))


def test_a_search_is_shown_with_its_results_reasons_and_what_matched(staff: Client, acme: Any) -> None:
    shown = page(staff, f"{searched(acme)}/change/")

    assert "<script>alert(1)" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt; a <mark>red</mark> <mark>van</mark>" in shown
    for words in ("a red &lt;van&gt;", "Gate &lt;1&gt;", "hybrid", "sum", "red truck", "0.0312", "t/frames/4000.jpg",
                  "0:01:01", "<mark>van</mark> ahead", "2 reasons", "words 0.3"):  # fmt: skip
        assert words in shown


def test_a_search_for_objects_shows_them_with_a_picture(staff: Client, acme: Any) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
        search = searches.create_search(text="a <man>", video_ids=[video.id], mode="objects")
    with acme.scope():
        assert searches.begin(search_id=search.id) is not None
    found = FoundObject(video.id, uuid7(), 2, "person", "dark", 61_000, 62_000, 0.0312, 61_000, "t/frames/61000.jpg")
    with acme.scope():
        searches.store_results(
            search_id=search.id,
            found=[found],
            calls=(),
            began_at=timezone.now(),
            retrieval_ms=50,
            scores=ScoreReport(False, 0.0, compared_by="pictures"),
        )

    shown = page(staff, f"{search.id}/change/")

    for words in ("a &lt;man&gt;", "dark person", "compared by pictures", "0.0312", "t/frames/61000.jpg", "0:01:01"):
        assert words in shown


def test_an_empty_search_shows_why(staff: Client, acme: Any) -> None:
    search_id = searched(acme)
    with acme.scope():
        scores = {"calibrated": True, "min_score": 0.6, "left_out": 3, "best_left_out": 0.42}
        Search.objects.filter(id=search_id).update(results=[], scoring=scores)

    shown = page(staff, f"{search_id}/change/")

    assert "below_min_score" in shown
    assert "3 events were found, with scores below 0.6" in shown
    assert "Best score: 0.42" in shown


def test_the_list_shows_searches_of_all_tenants_by_mode(staff: Client, acme: Any, globex: Any) -> None:
    searched(acme)
    searched(globex, text="gates", mode="words")

    mine, theirs = page(staff, f"?tenant={acme.tenant_id}"), page(staff, f"?mode=words&tenant={globex.tenant_id}")
    assert "a red &lt;van&gt;" in mine
    assert "gates" in theirs
    everything, words = page(staff, ""), page(staff, "?mode=words")
    assert (everything.count("hybrid</td>"), words.count("hybrid</td>")) == (1, 0)
    assert not any(text in everything for text in ("a red", "gates"))


def test_an_open_and_a_failed_search_have_a_page(staff: Client, acme: Any) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
        waiting, failed = (searches.create_search(text=text, video_ids=[video.id]) for text in ("one", "two"))
        searches.fail_search(search_id=failed.id, code="model_unavailable", message="No model.")

    assert "Nothing was found." in page(staff, f"{waiting.id}/change/")
    assert "model_unavailable" in page(staff, f"{failed.id}/change/")
    assert staff.get(f"/console/questions/search/{uuid7()}/change/").status_code == 404
    assert Client().get(f"/console/questions/search/{waiting.id}/change/").status_code == 302
