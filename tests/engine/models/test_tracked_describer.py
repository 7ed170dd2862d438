"""Tracks next to a describer with eyes of its own: the objects of the embedded describer, and no other frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from gpu_workers.engine.answering.agent.object_tools import OBJECT_SQL
from gpu_workers.engine.ekg import Picture, SampledFrame, Span, TrackObservation
from gpu_workers.engine.indexing.memory_index import MemoryIndex
from gpu_workers.engine.indexing.pipeline import index_recording
from gpu_workers.engine.indexing.segments import observe_segment
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models.observer.following import Follower
from gpu_workers.engine.models.observer.observer import Observer
from gpu_workers.engine.models.observer.tracked import TrackedDescriber
from gpu_workers.engine.models.roles import Describer, Meter, ModelError, SegmentDescription, SegmentView
from tests.engine.answering.toolboxes import toolbox_of, use
from tests.engine.indexing.media import write_video
from tests.engine.indexing.scripted import ScriptedDescriber, scripted_models
from tests.engine.models.test_observer import RED, WHITE, ScriptedDetector, ScriptedScene


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return 9 s in which a person walks by a parked car, at a frame rate that no grid divides."""
    times = [round(k * 1000 / 12.5) for k in range(112)]
    pictures = []
    for ms in times:
        picture = np.full((144, 256, 3), 90, dtype=np.uint8)
        picture[90:120, 20:80] = WHITE
        if 1_500 <= ms <= 7_000:
            left = 100 + round((ms - 1_500) / 55)
            picture[40:120, left : left + 30] = RED
        pictures.append(picture)
    return write_video(tmp_path_factory.mktemp("street") / "v.mkv", times, pictures, codec="ffv1", pix_fmt="bgr0")


class ScriptedEyes(ScriptedDescriber):
    def __init__(self) -> None:
        super().__init__(sample_fps=2.0)

    def frames(self) -> list[SampledFrame]:
        return [frame for view in self.views for chunk in view.chunks for frame in chunk.frames]


def observed(path: Path, describer: Describer) -> Sequence[TrackObservation]:
    models = dataclasses.replace(scripted_models(), describer=describer)
    source = Source.of_file(str(path), tracks=())
    return observe_segment(source, Span(0, 9_000), models, profile="general", meter=Meter()).record.tracks


def pictures(frames: Sequence[SampledFrame]) -> list[tuple[int, Picture]]:
    return [(frame.ms, frame.picture) for frame in frames]


def test_objects_are_those_of_the_embedded_describer(street: Path) -> None:
    observer = Observer(Follower(ScriptedDetector(), ScriptedScene()), ScriptedScene())
    tracked = TrackedDescriber(ScriptedEyes(), Follower(ScriptedDetector(), ScriptedScene()))
    expected, found = observed(street, observer), observed(street, tracked)
    assert sorted(track.category for track in found) == ["car", "person"]
    for mine, theirs in zip(found, expected, strict=True):
        assert dataclasses.replace(mine, appearance=None) == dataclasses.replace(theirs, appearance=None)
        assert mine.appearance is not None
        assert theirs.appearance is not None
        assert np.array_equal(mine.appearance, theirs.appearance)


def test_the_inner_describer_sees_the_frames_that_it_sees_alone(street: Path) -> None:
    alone, inside = ScriptedEyes(), ScriptedEyes()
    assert observed(street, alone) == ()
    observed(street, TrackedDescriber(inside, Follower(ScriptedDetector(), ScriptedScene())))
    assert len(alone.frames()) == 18
    assert [frame.ms for frame in inside.frames()] == [frame.ms for frame in alone.frames()]
    for (_, mine), (_, theirs) in zip(pictures(inside.frames()), pictures(alone.frames()), strict=True):
        assert np.array_equal(mine, theirs)


def test_the_objects_of_a_video_that_a_vlm_describes_can_be_asked_by_sql(street: Path) -> None:
    tracked = TrackedDescriber(ScriptedEyes(), Follower(ScriptedDetector(), ScriptedScene()))
    models = dataclasses.replace(scripted_models(), describer=tracked)
    source, index = Source.of_file(str(street), tracks=()), MemoryIndex(UUID(int=1))
    index_recording(
        lambda span: observe_segment(source, span, models, profile="general", meter=Meter()),
        9_000,
        models,
        index,
        video_id=index.video_id,
        meter=Meter(),
    )
    toolbox = toolbox_of(index.graph())
    rows = use(toolbox, OBJECT_SQL, sql="SELECT object_id, category, colour FROM objects ORDER BY category").text
    assert rows.splitlines()[:3] == ["2 rows:", "object_id | category | colour", "O1 | car | white"]
    assert rows.splitlines()[3].endswith(" | person | red")
    assert "objects" in toolbox.artifacts


def test_what_the_inner_describer_says_is_kept(street: Path) -> None:
    tracked = TrackedDescriber(ScriptedEyes(), Follower(ScriptedDetector(), ScriptedScene()))
    models = dataclasses.replace(scripted_models(), describer=tracked)
    source, meter = Source.of_file(str(street), tracks=()), Meter()
    record = observe_segment(source, Span(0, 9_000), models, profile="general", meter=meter).record
    alone = dataclasses.replace(models, describer=ScriptedEyes())
    assert (
        record.chunks == observe_segment(source, Span(0, 9_000), alone, profile="general", meter=Meter()).record.chunks
    )
    assert [call.items for call in meter.calls if call.stage == "tracking"] == [45]
    assert tracked.name == "scripted+tracks"


class ScriptedOutage(ScriptedEyes):
    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        raise ModelError("model_unavailable", "503", retryable=True)


def test_an_error_of_the_inner_describer_is_raised(street: Path) -> None:
    with pytest.raises(ModelError, match="503"):
        observed(street, TrackedDescriber(ScriptedOutage(), Follower(ScriptedDetector(), ScriptedScene())))
