"""Awkward recordings through the real jobs: the index of any video keeps every invariant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import cv2
import numpy as np
import pytest
from django.utils import timezone

from backend.api.public_ids import encode
from backend.ekg.graph_store import GraphStore
from backend.ekg.invariants import index_faults
from backend.ekg.models import Chunk, Entity, Event, Frame, TranscriptLine
from backend.ekg.writer import VersionWriter
from backend.library.indexing.begin import create_video
from backend.library.indexing.follow_ups import enqueue_assembly
from backend.library.models import Segment, SegmentState, Video, VideoStatus
from gpu_workers.engine import ekg
from gpu_workers.engine.ekg import SegmentRecord, Span
from tests.conftest import Cast
from tests.engine.indexing.media import damage_packets, grey, run_ffmpeg, write_video
from tests.scripted_openai import Fault, ScriptedOpenAIServer, ScriptedRequest
from tests.shared_data import SHARED_DATA, needs
from tests.tasks.eyes import chunk_n
from tests.tasks.world import arrived, run_due

pytestmark = pytest.mark.slow


def watch(request: ScriptedRequest) -> Any:
    """Answer as a VLM that names the brightness of each picture, and takes everything for one quiet place."""
    if request.schema_name == "chunk_description":
        seen = [
            int(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE).mean()) for jpeg in request.images
        ]
        spoken = re.search(r"Spoken: (?!nothing)[^\n]*", request.user)
        words = f"Brightness {sorted(set(seen))}." + (f" {spoken[0]}" if spoken else "")
        return {"description": words, "on_screen_clock": "", "on_screen_text": []}
    summary = {"summary": " ".join(dict.fromkeys(re.findall(r"Brightness \[[\d, ]+\]", request.user)))}
    if request.schema_name == "event_summary":
        return summary
    if request.schema_name in {"event", "event_graph"}:
        place = {"name": "room", "type": "place", "appearance": "A room.", "role": "scene", "aliases": []}
        graph = {"entities": [{**place, "confidence": 0.9, "frames": [0]}], "relations": []}
        return {**summary, **graph} if request.schema_name == "event" else graph
    return Fault(400, "bad_request", "not asked for here")


@pytest.fixture(autouse=True)
def _watching(vlm: ScriptedOpenAIServer) -> None:
    vlm.script = watch


def indexed(cast: Cast, path: Path) -> Video:
    video_id = arrived(cast, path.read_bytes())
    run_due()
    return sound(cast, video_id)


def sound(cast: Cast, video_id: UUID) -> Video:
    """Return the video after asserting that it is ready and without a fault."""
    with cast.scope():
        video: Video = Video.objects.get(id=video_id)
        assert (video.status, video.error_code) == (VideoStatus.READY, "")
        assert index_faults(video, video.active_index_version) == []
        assert video.indexed_until_ms == video.duration_ms
    return video


def rows(cast: Cast, model: Any, video: Video) -> Sequence[Any]:
    with cast.scope():
        found: Sequence[Any] = list(model.objects.filter(video_id=video.id).order_by("id"))
    return found


def test_a_video_of_one_picture(acme: Cast, tmp_path: Path) -> None:
    video = indexed(acme, write_video(tmp_path / "one.mp4", [0], [grey(120)]))
    assert len(rows(acme, Event, video)) == len(rows(acme, Frame, video)) == 1


def test_a_black_video(acme: Cast, tmp_path: Path) -> None:
    times = list(range(0, 20_000, 500))
    video = indexed(acme, write_video(tmp_path / "black.mp4", times, [grey(0)] * len(times)))
    assert {event.summary for event in rows(acme, Event, video)} == {"Brightness [0]."}


def test_a_cut_every_second(acme: Cast, tmp_path: Path) -> None:
    times = list(range(0, 36_000, 250))
    pictures = [grey(40 + 60 * (ms // 1000 % 3)) for ms in times]
    video = indexed(acme, write_video(tmp_path / "cuts.mp4", times, pictures, gop=4))
    assert len(rows(acme, Chunk, video)) == 12


def test_a_silent_video_and_one_whose_sound_says_nothing(acme: Cast, tmp_path: Path) -> None:
    silent, humming = tmp_path / "silent.mp4", tmp_path / "hum.mp4"
    picture = ["-f", "lavfi", "-i", "testsrc=duration=9:rate=5:size=96x64"]
    run_ffmpeg(*picture, "-f", "lavfi", "-i", "anullsrc=r=16000", "-shortest", "-c:v", "mpeg4", str(silent))
    run_ffmpeg(*picture, "-f", "lavfi", "-i", "sine=f=90:d=9", "-c:v", "mpeg4", str(humming))
    for path in (silent, humming):
        assert rows(acme, TranscriptLine, indexed(acme, path)) == []


def test_a_damaged_video_says_so(acme: Cast, tmp_path: Path) -> None:
    path = tmp_path / "damaged.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc2=d=13:r=10:s=96x64", "-c:v", "libx264", "-g", "20", str(path))
    damage_packets(path, every=15)
    video = indexed(acme, path)
    body = acme.client.get(f"/v1/videos/{encode('vid', video.id)}").json()
    assert body["degraded"] == body["probe"]["degraded"] == ["damaged"]
    assert acme.client.get("/v1/videos").json()["data"][0]["degraded"] == ["damaged"]


def test_a_cut_video_says_so(acme: Cast, tmp_path: Path) -> None:
    path = tmp_path / "cut.mkv"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc2=d=20:r=10:s=96x64", "-c:v", "libx264", str(path))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    video = indexed(acme, path)
    assert acme.client.get(f"/v1/videos/{encode('vid', video.id)}").json()["degraded"] == ["truncated"]


JFK = SHARED_DATA / "audio" / "jfk.flac"


@pytest.mark.long
@needs(JFK)
def test_speech_in_the_middle_is_heard_where_it_is_spoken(
    acme: Cast, tmp_path: Path, vlm: ScriptedOpenAIServer
) -> None:
    path = tmp_path / "speech.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=48:rate=4:size=96x64", "-i", str(JFK), "-filter_complex",
               "[1:a]adelay=24000:all=1,apad=whole_dur=48[a]", "-map", "0:v", "-map", "[a]", "-c:v", "mpeg4",
               str(path))  # fmt: skip
    video = indexed(acme, path)
    lines = rows(acme, TranscriptLine, video)
    words = " ".join(line.text for line in sorted(lines, key=lambda line: line.start_ms)).lower()
    # Spoken across the border of two segments, at 30 s.
    assert "my fellow americans" in words
    assert words.count("what you can do for your country") == 1
    assert min(line.start_ms for line in lines) >= 23_500
    assert max(line.end_ms for line in lines) <= 36_000
    assert all(line.embedding is not None and line.words for line in lines)
    with acme.scope():
        assert {"what", "country"} <= {word.strip(" .,?").lower() for line in lines for _, _, word in line.words}
    # Only the chunks of that time get these words.
    told = {chunk_n(r) for r in vlm.requests if r.schema_name == "chunk_description" and "country" in r.user}
    assert told
    assert min(told) >= 8


@pytest.mark.long
@needs(JFK)
def test_speech_on_the_second_audio_track_is_heard(acme: Cast, tmp_path: Path, vlm: ScriptedOpenAIServer) -> None:
    path = tmp_path / "two.mp4"
    run_ffmpeg("-f", "lavfi", "-i", "testsrc=duration=11:rate=4:size=96x64", "-f", "lavfi", "-i", "sine=f=300:d=11",
               "-i", str(JFK), "-map", "0:v", "-map", "1:a", "-map", "2:a", "-c:v", "mpeg4", "-metadata:s:a:1",
               "language=eng", "-metadata:s:a:1", "title=Speech", str(path))  # fmt: skip

    video = indexed(acme, path)

    read = f"/v1/videos/{encode('vid', video.id)}"
    lines = acme.client.get(f"{read}/transcript").json()["data"]
    assert "what you can do for your country" in " ".join(line["text"] for line in lines).lower()
    assert [line["track"] for line in lines] == [{"number": 2, "language": "en", "title": "Speech"}] * len(lines)
    assert [one["heard"] for one in acme.client.get(read).json()["probe"]["audio_tracks"]] == [True, True]
    assert any("country" in r.user for r in vlm.requests if r.schema_name == "chunk_description")

    acme.client.patch(read, {"audio": "1"})
    assert acme.client.post(f"{read}/reindex").status_code == 202
    run_due()
    assert acme.client.get(f"{read}/transcript").json()["data"] == []


def test_two_videos_of_the_same_content_are_two_graphs(acme: Cast, tmp_path: Path) -> None:
    path = write_video(tmp_path / "v.mp4", list(range(0, 9_000, 500)), [grey(90)] * 18)
    one, two = indexed(acme, path), indexed(acme, path)
    for model in (Event, Entity, Frame, Chunk):
        first, second = rows(acme, model, one), rows(acme, model, two)
        assert len(first) == len(second) > 0
        assert {row.id for row in first}.isdisjoint(row.id for row in second)


def test_gaps_of_failed_chunks(acme: Cast, tmp_path: Path, vlm: ScriptedOpenAIServer) -> None:
    def partly(request: ScriptedRequest) -> Any:
        if request.schema_name == "chunk_description" and chunk_n(request) in (1, 2, 7):
            return Fault(400, "bad_request", "no")
        return watch(request)

    vlm.script = partly
    moving = [grey(90) for _ in range(60)]
    for k, picture in enumerate(moving):
        picture[20:26, 8 * k % 56 : 8 * k % 56 + 6] = 130
    video = indexed(acme, write_video(tmp_path / "v.mp4", list(range(0, 30_000, 500)), moving))
    assert [c.n for c in sorted(rows(acme, Chunk, video), key=lambda c: c.n) if c.gap] == [1, 2, 7]
    spans = sorted((e.first_chunk, e.end_chunk) for e in rows(acme, Event, video))
    assert spans == [(0, 1), (1, 3), (3, 7), (7, 8), (8, 10)]


@pytest.mark.long
def test_two_hours_of_a_static_camera_in_simulated_descriptions(acme: Cast) -> None:
    """Index 2,400 equal chunks in 240 segments: 300 events of maximum length, one entity, one chain."""
    with acme.scope():
        video = create_video(object_key="t/none", size_bytes=1, title="static", input_closed_at=timezone.now())
        Video.objects.filter(id=video.id).update(status=VideoStatus.INDEXING, duration_ms=7_200_000)
        for n in range(240):
            span = Span(n * 30_000, (n + 1) * 30_000)
            chunks = tuple(ekg.Chunk(k, piece, "Brightness [90]") for k, piece in ekg.chunk_spans(span))
            VersionWriter(video.id, 1, text_model="", frame_model="").store_segment(
                n, SegmentRecord(span, chunks, ()), thumbnail_keys={}
            )
            Segment.objects.create(
                tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=n, start_ms=span.start_ms,
                end_ms=span.end_ms, state=SegmentState.OBSERVED,
            )  # fmt: skip
        enqueue_assembly(video.id, 1)
    run_due()
    video = sound(acme, video.id)
    assert [event.end_chunk - event.first_chunk for event in rows(acme, Event, video)] == [8] * 300
    (room,) = rows(acme, Entity, video)
    assert (room.name, room.weight) == ("room", 300)
    with acme.scope():
        assert len(GraphStore().topology(video.id, 1).next) == 299
