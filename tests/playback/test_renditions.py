"""A recording becomes what browsers play: in pieces, by byte ranges, on the video's own clock."""

from __future__ import annotations

from decimal import Decimal
from io import BytesIO, StringIO
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit
from uuid import UUID

import httpx
import numpy as np
import pytest
import webvtt
from django.utils import timezone
from PIL import Image

from backend.billing.models import UsageEvent
from backend.billing.rates import quantity
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Video, VideoStatus
from backend.library.queries import stored_bytes, stored_bytes_since
from backend.library.services.storage_metering import meter_storage
from backend.playback.models import PieceState, RenditionPiece
from backend.playback.queries import rendition_bytes
from tests.conftest import Cast
from tests.engine.media.burnt_in import H264, HEVC, made, time_in, times_in
from tests.playback.watched import lines_of, media, path_of, playlist, watched
from tests.tasks.world import RENDERING, WITHOUT_MODELS, arrived, exists, run_due


def pieces(cast: Cast, video_id: UUID) -> list[RenditionPiece]:
    with cast.scope():
        return list(RenditionPiece.objects.filter(video_id=video_id).order_by("n"))


@pytest.mark.parametrize(
    ("name", "codecs", "is_copy"),
    [
        ("v.mp4", H264, True),
        ("v.mkv", ("-c:v", "libx265", "-x265-params", "log-level=error:keyint=40", "-c:a", "libopus"), False),
        ("v.avi", ("-c:v", "mpeg4", "-bf", "2", "-q:v", "2", "-c:a", "libmp3lame"), False),
    ],
)
def test_every_picture_is_shown_at_its_time(acme: Cast, name: str, codecs: tuple[str, ...], is_copy: bool) -> None:
    video_id = watched(acme, made(name, *codecs))

    text = playlist(acme, video_id)

    lines = lines_of(text)
    assert [piece.is_copy for piece in pieces(acme, video_id)] == [is_copy]
    assert sum(line.seconds for line in lines) == pytest.approx(14, abs=0.05)
    assert all(5.9 <= line.seconds < 8 for line in lines[:-1])
    assert text.startswith("#EXTM3U\n")
    assert "#EXT-X-PLAYLIST-TYPE:VOD" in text
    assert text.endswith("#EXT-X-ENDLIST\n")
    times = times_in(media(acme, video_id, text))
    assert len(times) == pytest.approx(140, abs=2)
    assert max(abs(at - says) for at, says in times) <= 0.06


def test_a_part_is_played_from_its_exact_start(acme: Cast) -> None:
    video_id = watched(acme, made("v.mp4", *H264))

    text = playlist(acme, video_id, start_ms=7_500, end_ms=9_000)

    begins = [sum(line.seconds for line in lines_of(playlist(acme, video_id))[:n]) for n in range(3)]
    assert begins[1] < 7.5 < 9 < begins[2]
    assert len(lines_of(text)) == 1
    assert f"#EXT-X-START:TIME-OFFSET={7.5 - begins[1]:.3f},PRECISE=YES" in text
    assert text.endswith("#EXT-X-ENDLIST\n")


def test_a_piece_is_a_redirect_that_stays_the_same_within_its_window(acme: Cast, globex: Cast) -> None:
    video_id = watched(acme, made("v.mp4", *H264))

    first, second = (acme.client.get(f"{path_of(video_id)}/hls/p/0.mp4") for _ in range(2))

    assert (first.status_code, first["Location"]) == (302, second["Location"])
    assert first["Cache-Control"].startswith("private, max-age=")
    assert parse_qs(urlsplit(first["Location"]).query)["X-Amz-Expires"] == ["1800"]
    for caller, path in ((acme, "hls/p/1.mp4"), (globex, "hls/p/0.mp4"), (globex, "hls/index.m3u8"), (globex, "hls")):
        assert caller.client.get(f"{path_of(video_id)}/{path}").status_code == 404


def test_what_is_missing_is_made_when_somebody_wants_to_watch(acme: Cast) -> None:
    response = acme.client.post("/v1/collections", {"name": "Archive", "keeps_renditions": False})
    assert response.json()["keeps_renditions"] is False
    video_id = arrived(acme, made("v.mp4", *H264))
    with acme.scope():
        from backend.library.models import Collection

        Video.objects.filter(id=video_id).update(collection_id=Collection.objects.get().id)
    run_due(classes=WITHOUT_MODELS)
    run_due(classes=RENDERING)
    assert pieces(acme, video_id) == []

    refused = acme.client.get(f"{path_of(video_id)}/hls/index.m3u8")

    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (409, "rendition_pending", "5")
    run_due(classes=RENDERING)
    body = acme.client.get(f"{path_of(video_id)}/hls").json()
    assert (body["state"], body["playable_ms"]) == ("complete", 14_000)
    assert lines_of(playlist(acme, video_id))


def test_a_rendition_that_fails_leaves_the_index_alone(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpu_workers.engine.media.encoding import EncodingFailed
    from workers.playback import render_piece

    def refuse(*_: Any, **__: Any) -> None:
        raise EncodingFailed("no")

    monkeypatch.setattr(render_piece, "render_piece", refuse)
    video_id = watched(acme, made("v.mp4", *H264))

    assert [piece.state for piece in pieces(acme, video_id)] == [PieceState.FAILED]
    refused = acme.client.get(f"{path_of(video_id)}/hls/index.m3u8")
    assert (refused.status_code, refused.json()["code"]) == (409, "rendition_failed")
    with acme.scope():
        assert Video.objects.get(id=video_id).status == VideoStatus.INDEXING
        assert Job.objects.get(kind=JobKind.RENDER_PIECE).state == JobState.FAILED


def test_each_picture_of_the_storyboard_shows_its_time(acme: Cast) -> None:
    video_id = watched(acme, made("v.mkv", *HEVC))

    board = acme.client.get(f"{path_of(video_id)}/storyboard.vtt")

    cues = webvtt.from_buffer(StringIO(board.content.decode()))
    assert [(cue.start_in_seconds, cue.end_in_seconds) for cue in cues] == [(at, at + 2) for at in range(0, 14, 2)]
    for cue in cues:
        address, _, part = cue.text.partition("#xywh=")
        sheet = acme.client.get(urljoin(f"{path_of(video_id)}/storyboard.vtt", address))
        picture = Image.open(BytesIO(httpx.get(sheet["Location"]).content)).convert("L")
        assert picture.size == (5 * 160, 2 * 90), "as large as its seven pictures need"
        left, top, width, height = map(int, part.split(","))
        tile = picture.crop((left, top, left + width, top + height))
        assert time_in(np.asarray(tile)) == pytest.approx(cue.start_in_seconds, abs=0.01)


def test_storage_counts_renditions_and_retention_takes_them(acme: Cast) -> None:
    from backend.erasure.services.retention import drop_source

    video_id = watched(acme, made("v.mp4", *H264))
    (piece,) = pieces(acme, video_id)
    with acme.scope():
        assert rendition_bytes() == piece.size_bytes > 0
        drop_source(video_id)
    run_due(classes=WITHOUT_MODELS)

    assert pieces(acme, video_id) == []
    assert not exists(piece.object_key)
    refused = acme.client.get(f"{path_of(video_id)}/hls/index.m3u8")
    assert (refused.status_code, refused.json()["code"]) == (409, "source_deleted")


def test_the_quota_counts_what_the_meter_counts_and_refuses_no_rendition(acme: Cast) -> None:
    acme.client.put("/v1/budgets", {"stored_bytes": len(made("v.mp4", *H264)) + 1})
    video_id = arrived(acme, made("v.mp4", *H264))
    run_due(classes=WITHOUT_MODELS)
    upload = {"filename": "v.mp4", "size_bytes": 1, "content_type": "video/mp4"}
    assert acme.client.post("/v1/uploads", upload).status_code == 201

    run_due(classes=RENDERING)

    (piece,) = pieces(acme, video_id)
    assert piece.size_bytes > 1
    with acme.scope():
        video = Video.objects.get(id=video_id)
        assert stored_bytes() == video.size_bytes + piece.size_bytes
        assert stored_bytes_since(timezone.now()) == stored_bytes()
        assert stored_bytes(acme.key_id) == 0
        Video.objects.update(api_key_id=acme.key_id)
        assert stored_bytes(acme.key_id) == stored_bytes()
    meter_storage([acme.tenant_id], at=timezone.now())
    with acme.scope():
        metered = UsageEvent.objects.get(meter="storage_gb_hours").quantity
        assert metered == quantity(Decimal(stored_bytes()) / 10**9) > 0
    assert acme.client.get("/v1/storage").json()["stored_bytes"] == video.size_bytes + piece.size_bytes
    refused = acme.client.post("/v1/uploads", upload)
    assert (refused.status_code, refused.json()["code"]) == (402, "storage_quota_exceeded")


def test_a_playlist_grows_while_pieces_are_missing(acme: Cast) -> None:
    video_id = watched(acme, made("v.mp4", *H264))
    with acme.scope():
        RenditionPiece.objects.create(
            tenant_id=acme.tenant_id, video_id=video_id, n=1, start_ms=14_000, end_ms=20_000, tile_ms=2_000
        )

    growing = playlist(acme, video_id)

    assert "#EXT-X-PLAYLIST-TYPE:EVENT" in growing
    assert "#EXT-X-ENDLIST" not in growing
    assert "#EXT-X-ENDLIST" in playlist(acme, video_id, start_ms=1_000, end_ms=2_000)
    assert acme.client.get(f"{path_of(video_id)}/hls").json()["state"] == "growing"
