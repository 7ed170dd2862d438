"""A piece that could not be made is tried again: by itself some times, and then when somebody wants to watch it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from backend.jobs.models import Job, JobKind, JobState
from backend.playback import queries
from backend.playback.models import PieceState, RenditionPiece
from backend.playback.services.renditions import PAUSES, VIEWERS_PAUSE, WAITING
from gpu_workers.engine.media.encoding import EncodingFailed
from tests.conftest import Cast
from tests.engine.media.burnt_in import H264, made
from tests.playback.watched import lines_of, path_of, playlist, watched
from tests.tasks.world import RENDERING, WITHOUT_MODELS, arrived, run_due
from workers.playback import render_piece
from workers.runner import run_class


def lost(cast: Cast) -> None:
    """Let a worker take the rendering job whose last attempt lost its worker."""
    with cast.scope():
        Job.objects.filter(kind=JobKind.RENDER_PIECE).update(
            state=JobState.RUNNING, attempt=3, due=True, lease_until=timezone.now() - timedelta(seconds=1)
        )
    run_class("cpu.render", worker="w:1")


def job_of(cast: Cast) -> Job:
    with cast.scope():
        return Job.objects.get(kind=JobKind.RENDER_PIECE)


def piece_of(cast: Cast, video_id: UUID) -> RenditionPiece:
    with cast.scope():
        return queries.pieces(video_id).get()


def pass_time(cast: Cast, pause: timedelta) -> None:
    with cast.scope():
        for job in Job.objects.filter(kind=JobKind.RENDER_PIECE):
            Job.objects.filter(id=job.id).update(not_before=job.not_before - pause)
        for piece in RenditionPiece.objects.exclude(failed_at=None):
            RenditionPiece.objects.filter(id=piece.id).update(failed_at=piece.failed_at - pause)


@pytest.fixture
def video(acme: Cast) -> UUID:
    """A recording whose rendition waits for a worker."""
    video_id = arrived(acme, made("v.mp4", *H264))
    run_due(classes=WITHOUT_MODELS)
    return video_id


def test_a_piece_whose_workers_were_lost_is_made_after_a_pause(acme: Cast, video: UUID) -> None:
    lost(acme)

    assert (piece_of(acme, video).state, piece_of(acme, video).error_code) == (PieceState.FAILED, "worker_lost")
    assert acme.client.get(f"{path_of(video)}/hls").json()["state"] == "failed"
    run_due(classes=RENDERING)
    assert piece_of(acme, video).state == PieceState.FAILED, "its pause is not over"
    waiting = job_of(acme)
    assert (waiting.state, waiting.attempt) == (JobState.QUEUED, 0)
    assert abs(waiting.not_before - timezone.now() - PAUSES[0]) < timedelta(minutes=1)

    pass_time(acme, PAUSES[0])
    run_due(classes=RENDERING)

    assert (piece_of(acme, video).state, piece_of(acme, video).error_code) == (PieceState.READY, "")
    assert sum(line.seconds for line in lines_of(playlist(acme, video)) if line.offset is not None) == pytest.approx(
        14, abs=0.05
    )


def test_a_piece_is_tried_by_itself_some_times_and_then_when_somebody_watches(acme: Cast, video: UUID) -> None:
    lost(acme)
    for pause in PAUSES:
        assert abs(job_of(acme).not_before - timezone.now() - pause) < timedelta(minutes=1)
        pass_time(acme, pause)
        lost(acme)
    assert job_of(acme).state == JobState.DEAD
    pass_time(acme, timedelta(days=30))
    run_due(classes=RENDERING)
    assert (piece_of(acme, video).state, piece_of(acme, video).failures) == (PieceState.FAILED, 4)

    assert acme.client.get(f"{path_of(video)}/hls/index.m3u8").json()["code"] == "rendition_failed"
    run_due(classes=RENDERING)

    assert piece_of(acme, video).state == PieceState.READY
    assert acme.client.get(f"{path_of(video)}/hls").json()["state"] == "complete"


def test_a_recording_that_ffmpeg_refuses_is_tried_again_by_viewers_alone_and_not_often(
    acme: Cast, video: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        tried.append(1)
        raise EncodingFailed("no")

    tried: list[int] = []
    monkeypatch.setattr(render_piece, "render_piece", refuse)
    run_due(classes=RENDERING)
    assert job_of(acme).state == JobState.FAILED
    for pause in (timedelta(0), VIEWERS_PAUSE, timedelta(0)):
        pass_time(acme, pause)
        for _ in range(2):
            acme.client.get(f"{path_of(video)}/hls")
            run_due(classes=RENDERING)

    assert len(tried) == 2


def test_pieces_that_wait_for_their_next_try_hold_up_no_other(acme: Cast) -> None:
    video_id = watched(acme, made("v.mp4", *H264))
    with acme.scope():
        queries.pieces(video_id).delete()
        for n in range(WAITING + 1):
            RenditionPiece.objects.create(
                tenant_id=acme.tenant_id, video_id=video_id, n=n, start_ms=2_000 * n, end_ms=2_000 * (n + 1),
                tile_ms=2_000,
            )  # fmt: skip
    assert acme.client.get(f"{path_of(video_id)}/hls").json()["state"] == "pending"

    lost(acme)

    with acme.scope():
        states = list(queries.pieces(video_id).values_list("state", flat=True))
    assert states == [PieceState.FAILED] * WAITING + [PieceState.READY]
