"""A token opens the rendition of one video until it ends; anything else is a resource that is not there."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from backend.playback.services.tokens import LIFETIME_S, ROUNDED_S, ends_at, tenant_of, token_of
from tests.conftest import Cast
from tests.engine.media.burnt_in import H264, made
from tests.playback.watched import lines_of, path_of, watched


def test_a_token_ends_within_its_lifetime_and_is_the_same_for_a_while() -> None:
    tenant, video = uuid4(), uuid4()
    now = 1_800_000_000.0

    token = token_of(tenant, video, now=now)

    assert token == token_of(tenant, video, now=now + ROUNDED_S - 1)
    assert now + LIFETIME_S - ROUNDED_S < ends_at(token) <= now + LIFETIME_S
    assert tenant_of(token, video, now=ends_at(token) - 1) == tenant
    assert tenant_of(token, video, now=ends_at(token)) is None
    assert tenant_of(token, uuid4(), now=now) is None


@pytest.mark.parametrize("token", ["", "a", "é", "=" * 50, "A" * 50, "A" * 5_000, "\x00"])
def test_nonsense_opens_nothing(token: str) -> None:
    assert tenant_of(token, uuid4()) is None


def test_a_token_ends_no_later_than_asked() -> None:
    now = 1_800_000_000.0
    for minutes, left in ((5, 300), (600, LIFETIME_S)):
        until = datetime.fromtimestamp(now + 60 * minutes, UTC)
        assert ends_at(token_of(uuid4(), uuid4(), until=until, now=now)) == now + left


def test_every_altered_character_closes_a_token() -> None:
    video = uuid4()
    token = token_of(uuid4(), video)
    altered = [token[:n] + ("A" if each != "A" else "B") + token[n + 1 :] for n, each in enumerate(token)]
    assert [one for one in altered if tenant_of(one, video) is not None] == []


def test_a_token_opens_one_video_and_nothing_else(acme: Cast, globex: Cast) -> None:
    video_id, other_id = watched(acme, made("v.mp4", *H264)), watched(globex, made("v.mp4", *H264))
    anybody, path = APIClient(), path_of(video_id)
    token = token_of(acme.tenant_id, video_id)

    playlist = anybody.get(f"{path}/hls/index.m3u8?token={token}")

    assert playlist.status_code == 200
    uri = lines_of(playlist.content.decode())[0].uri
    assert uri == f"p/0.mp4?token={token}"
    assert anybody.get(f"{path}/hls/{uri}").status_code == 302
    board = anybody.get(f"{path}/storyboard.vtt?token={token}")
    assert board.status_code == 200
    sheet = board.content.decode().split("\n")[3].partition("#")[0]
    assert anybody.get(f"{path}/{sheet}").status_code == 302

    for track in ("captions.vtt?track=1&", "captions.srt?", "chapters.vtt?"):
        assert anybody.get(f"{path}/{track}token={token}").status_code == 200, track

    theirs = token_of(globex.tenant_id, other_id)
    for address in (
        f"{path}/hls/index.m3u8?token={theirs}",
        f"{path}/hls/p/0.mp4?token={theirs}",
        f"{path}/hls/index.m3u8?token={token_of(globex.tenant_id, video_id)}",
        f"{path_of(other_id)}/hls/index.m3u8?token={token}",
        f"{path}/hls/index.m3u8?token={token[:-1]}",
        f"{path}/hls/index.m3u8?token=",
        f"{path}/hls/p/0.mp4?token={token_of(acme.tenant_id, video_id, now=0)}",
        f"{path}/hls/s/0-0.jpg?token={theirs}",
        f"{path}/captions.vtt?token={theirs}",
        f"{path}/chapters.vtt?token={theirs}",
    ):
        assert anybody.get(address).status_code == 404, address
    for address in (f"{path}?token={token}", f"{path}/hls?token={token}", f"{path}/timeline?token={token}"):
        assert anybody.get(address).status_code == 401, address


def test_a_token_ends_with_its_video(acme: Cast) -> None:
    video_id = watched(acme, made("v.mp4", *H264))
    address = f"{path_of(video_id)}/hls/index.m3u8?token={token_of(acme.tenant_id, video_id)}"
    assert APIClient().get(address).status_code == 200
    acme.client.delete(path_of(video_id))
    assert APIClient().get(address).status_code == 404
