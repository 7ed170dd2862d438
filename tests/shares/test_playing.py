"""The player of a share: what it may open, and for how long."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from backend.api.public_ids import encode
from backend.playback.services.tokens import ends_at
from backend.shares.models import Share
from backend.tenancy.services import issue_api_key
from tests.conftest import Cast
from tests.shares.test_shares import in_days, of_question, opened, question, share, video
from tests.tenancy.test_api_keys import with_key

__all__ = ["question", "video"]


def recordings(reply: Any) -> list[dict[str, Any]]:
    """Return what the page gives its player."""
    found = re.search(r'<script id="recordings" type="application/json">(.*?)</script>', reply.content.decode())
    played: list[dict[str, Any]] = json.loads(found[1]) if found else []
    return played


def token_in(address: str) -> str:
    return parse_qs(urlsplit(address).query)["token"][0]


def test_an_answer_plays_its_recordings_only_if_its_maker_asks_for_it(acme: Cast, question: UUID, video: UUID) -> None:
    assert recordings(opened(of_question(acme, question))) == []

    page = opened(of_question(acme, question, play_recordings=True))

    (played,) = recordings(page)
    assert urlsplit(played["playlist"]).path == f"/v1/videos/{encode('vid', video)}/hls/index.m3u8"
    assert 'href="#t=61.0,3700.0"' in page.content.decode()
    assert [track["track"] for track in played["captions"]] == [1]
    assert played["chapters"] == "", "the index has no topics"
    captions = Client().get(played["captions"][0]["src"])
    assert (captions.status_code, captions.content[:6]) == (200, b"WEBVTT")


def test_the_players_addresses_end_soon_and_with_the_share_and_are_renewed_without_a_view(
    acme: Cast, question: UUID
) -> None:
    made_soon = of_question(acme, question, play_recordings=True, expires_at=in_days(1 / 24 / 12))
    made_late = of_question(acme, question, play_recordings=True)
    for one, minutes in ((made_soon, 5), (made_late, 15)):
        (played,) = recordings(opened(one))
        left = ends_at(token_in(played["playlist"])) - timezone.now().timestamp()
        assert left == pytest.approx(60 * minutes, abs=30)

    path = urlsplit(made_late["url"]).path
    (renewed,) = Client().get(path, {"recordings": "1"}).json()
    assert renewed.keys() == played.keys()
    assert acme.client.get(f"/v1/shares/{made_late['id']}").json()["views"] == 1
    acme.client.delete(f"/v1/shares/{made_late['id']}")
    assert Client().get(path, {"recordings": "1"}).status_code == 404


def test_whoever_may_not_read_videos_shares_an_answer_without_its_recordings(acme: Cast, question: UUID) -> None:
    with acme.scope():
        _, key = issue_api_key(name="a", scopes=["shares:write", "questions:read"])
    body = {"question_id": encode("qst", question), "expires_at": in_days(1)}
    reply = with_key(key).post("/v1/shares", {**body, "play_recordings": True})

    assert (reply.status_code, reply.json()["code"]) == (403, "insufficient_scope")
    with acme.scope():
        assert not Share.objects.exists()
    assert with_key(key).post("/v1/shares", body).status_code == 201


def test_a_span_and_a_video_take_no_wish_to_play(acme: Cast, video: UUID) -> None:
    body = {"video_id": encode("vid", video), "expires_at": in_days(1), "play_recordings": True}
    reply = acme.client.post("/v1/shares", body)
    assert (reply.status_code, reply.json()["errors"][0]["code"]) == (400, "one_required")
    assert recordings(opened(share(acme, video_id=encode("vid", video), start_ms=0))) == []
    assert len(recordings(opened(share(acme, video_id=encode("vid", video))))) == 1


def test_styles_of_the_page_need_its_nonce(acme: Cast, question: UUID) -> None:
    one = of_question(acme, question, play_recordings=True)
    first, second = opened(one), opened(one)
    nonces = [
        re.findall(r"style-src 'self' 'nonce-([\w-]{20,})';", page["Content-Security-Policy"])
        for page in (first, second)
    ]
    assert len(nonces[0]) == len(nonces[1]) == 1
    assert nonces[0] != nonces[1]
    assert f'nonce="{nonces[0][0]}"' in first.content.decode()
    assert "unsafe-inline" not in first["Content-Security-Policy"]
