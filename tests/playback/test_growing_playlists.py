"""What can be played of a recording whose rendition grows, and of one that was recorded in many files."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from backend.jobs.dispatching import claim_next
from backend.library.models import Video, VideoStatus
from backend.playback.queries import pieces
from backend.playback.services import renditions
from tests.conftest import Cast
from tests.engine.media.burnt_in import H264, HEVC, made, times_in
from tests.library import growing
from tests.playback.recorded_days import BEGAN, FILES, MISSING, UNPLAYABLE, forty_files
from tests.playback.watched import lines_of, media, path_of, playlist, without_tokens
from tests.tasks.world import RENDERING, WITHOUT_MODELS, arrived, run_due
from workers.runner import run_leased


def render_one() -> None:
    lease = claim_next("cpu.render", worker="w:1")
    assert lease is not None
    run_leased(lease, worker="w:1")


def uploaded(cast: Cast) -> UUID:
    return arrived(cast, made("v.mkv", *HEVC))


def sent_in_files(cast: Cast) -> UUID:
    video_id = growing.begin(cast)
    for _ in range(3):
        growing.send(cast, video_id, made("v.mp4", *H264, seconds=4))
    growing.close(cast, video_id)
    return video_id


@pytest.mark.parametrize(("record", "first_s", "whole_s"), [(uploaded, 5, 14), (sent_in_files, 4, 12)])
def test_the_first_piece_plays_before_anything_is_indexed(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, record: Callable[[Cast], UUID], first_s: int, whole_s: int
) -> None:
    monkeypatch.setattr(renditions, "PIECE_MS", 5_000)
    monkeypatch.setattr(renditions, "SHORTEST_MS", 1_000)
    video_id = record(acme)
    run_due(classes=WITHOUT_MODELS)
    render_one()

    begun = playlist(acme, video_id)

    with acme.scope():
        video = Video.objects.get(id=video_id)
        assert (video.status, video.indexed_until_ms) == (VideoStatus.INDEXING, 0)
        assert pieces(video_id).count() == 3
    assert "#EXT-X-PLAYLIST-TYPE:EVENT" in begun
    assert "#EXT-X-ENDLIST" not in begun
    assert {line.uri for line in without_tokens(begun)} == {"p/0.mp4"}
    assert sum(line.seconds for line in lines_of(begun)) == pytest.approx(first_s, abs=0.05)
    shown = times_in(media(acme, video_id, begun))
    assert len(shown) == pytest.approx(10 * first_s, abs=1)
    assert max(abs(at - says) for at, says in shown) <= 0.06
    run_due(classes=RENDERING)
    whole = playlist(acme, video_id)
    assert "#EXT-X-PLAYLIST-TYPE:VOD" in whole
    assert whole.endswith("#EXT-X-ENDLIST\n")
    # What a player has read stays as it is.
    assert without_tokens(whole)[: len(lines_of(begun))] == without_tokens(begun)
    assert sum(line.seconds for line in lines_of(whole)) == pytest.approx(whole_s, abs=0.05)


def test_forty_files_with_a_missing_one_are_one_playlist_on_the_clock_of_the_day(acme: Cast) -> None:
    video_id = forty_files(acme)
    moments = [BEGAN + timedelta(seconds=30 * n) for n in range(FILES) if n != MISSING]

    text = playlist(acme, video_id)

    assert "#EXT-X-PLAYLIST-TYPE:VOD" in text
    lines = lines_of(text)
    assert len(lines) == 5 * (FILES - 1)
    assert sum(line.seconds for line in lines) == pytest.approx(30 * (FILES - 1))
    parts = text.split("#EXT-X-DISCONTINUITY\n")
    said = [re.findall(r"#EXT-X-PROGRAM-DATE-TIME:(\S+)", part) for part in parts]
    assert said == [[moment.isoformat(timespec="milliseconds")] for moment in moments]
    gaps = [line.offset is None for line in lines]
    assert (sum(gaps), gaps.index(True)) == (5, 5 * (UNPLAYABLE - 1))
    assert acme.client.get(f"{path_of(video_id)}/hls").json()["state"] == "complete"
