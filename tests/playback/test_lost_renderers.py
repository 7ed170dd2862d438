"""A worker may die at any moment of rendering: what is played and what is billed stay the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import LeaseLost
from backend.library.storage import ObjectStorage
from backend.playback.queries import pieces, rendition_bytes
from backend.playback.services import renditions
from backend.playback.services.renditions import rendition_prefix
from tests.conftest import Cast
from tests.engine.media.burnt_in import HEVC, made
from tests.playback.watched import Line, playlist, watched, without_tokens
from tests.tasks.world import WITHOUT_MODELS, arrived, run_due
from workers.playback import render_piece
from workers.runner import run_class

MOMENTS: dict[str, tuple[object, str]] = {
    "after the recording was rendered": (render_piece, "render"),
    "after the first object was stored": (ObjectStorage, "put"),
    "after all objects were stored": (render_piece, "store"),
    "before the row was committed": (renditions, "store_piece"),
}


class Killed(BaseException):
    """The end of a worker's process: nothing after it runs, and no handler of errors sees it."""


def dying_once(real: Callable[..., Any], death: type[BaseException]) -> Callable[..., Any]:
    died: list[bool] = []

    def dying(*arguments: Any, **named: Any) -> Any:
        done = real(*arguments, **named)
        if not died:
            died.append(True)
            raise death("the worker is gone")
        return done

    return dying


@pytest.mark.parametrize("death", [Killed, LeaseLost])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_lost_worker_leaves_the_same_playlist_and_the_same_bytes(
    acme: Cast, globex: Cast, monkeypatch: pytest.MonkeyPatch, moment: str, death: type[BaseException]
) -> None:
    content = made("v.mkv", *HEVC, seconds=4)
    undisturbed = watched(globex, content)
    video_id = arrived(acme, content)
    run_due(classes=WITHOUT_MODELS)
    where, name = MOMENTS[moment]
    with monkeypatch.context() as patch:
        patch.setattr(where, name, dying_once(getattr(where, name), death))
        if death is Killed:
            with pytest.raises(Killed):
                run_class("cpu.render", worker="w:1")
        else:
            run_class("cpu.render", worker="w:1")
        with acme.scope():
            assert rendition_bytes() == 0
            assert Job.objects.get(kind=JobKind.RENDER_PIECE).state == JobState.RUNNING
            Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        run_class("cpu.render", worker="w:2")

    assert outcome(acme, video_id) == outcome(globex, undisturbed)


def outcome(cast: Cast, video_id: UUID) -> tuple[list[Line], int, int]:
    """Return the playlist of a rendition, the bytes that are billed for it, and the bytes that are stored."""
    with cast.scope():
        (piece,) = pieces(video_id)
        billed = rendition_bytes()
    storage = ObjectStorage()
    kept = {piece.object_key, *(sheet[0] for sheet in piece.sheets)}
    stored = set(storage.list_keys(rendition_prefix(cast.tenant_id, video_id)))
    # A lost attempt leaves nothing that the row does not name.
    assert stored == kept
    return without_tokens(playlist(cast, video_id)), billed, sum(storage.head(key).size_bytes for key in stored)
