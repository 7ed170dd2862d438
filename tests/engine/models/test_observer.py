"""The observer on scripted detections: its measurements, and descriptions that hold nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import cv2
import numpy as np
import pytest

from gpu_workers.engine.ekg import Chunk, Picture, SampledFrame, Span, TranscriptLine, Vector, unit
from gpu_workers.engine.indexing.objects import with_objects
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.observer.checker import ObserverChecker
from gpu_workers.engine.models.observer.colour import colour_word
from gpu_workers.engine.models.observer.detection import Detection, suppress
from gpu_workers.engine.models.observer.detector import SsdDetector
from gpu_workers.engine.models.observer.events import ObserverExtractor, ObserverSummariser
from gpu_workers.engine.models.observer.following import Follower
from gpu_workers.engine.models.observer.measured import CategoryCount, MeasuredChunk, MeasuredObject, at_once
from gpu_workers.engine.models.observer.movement import movement
from gpu_workers.engine.models.observer.observer import Observer, OnScreen, ScreenReading, on_screen
from gpu_workers.engine.models.observer.scene import SceneClassifier
from gpu_workers.engine.models.observer.sentences import describe, noun, verb
from gpu_workers.engine.models.observer.text_reader import TextReader
from gpu_workers.engine.models.observer.tracking import Track, rejoin
from gpu_workers.engine.models.roles import (
    CheckRequest,
    ChunkView,
    FrameEvidence,
    Meter,
    ModelError,
    ObserveRequest,
    SegmentDescription,
    SegmentView,
)
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from tests.scripted_openai import ScriptedOpenAIServer

RED, WHITE = (200, 20, 20), (240, 240, 240)


class ScriptedDetector(SsdDetector):
    """Finds a box of each colour drawn on the picture: red is a person, white a car."""

    def __init__(self) -> None:
        self.calls = 0

    def detect(self, picture: Picture, *, tile: int | None = None, floor: float = 0.3) -> list[Detection]:
        self.calls += 1
        found = []
        for name, colour in (("person", RED), ("car", WHITE)):
            ys, xs = np.nonzero((picture == np.array(colour)).all(axis=2))
            if len(xs):
                h, w = picture.shape[:2]
                box = (xs.min() / w, ys.min() / h, (xs.max() + 1) / w, (ys.max() + 1) / h)
                found.append(Detection(name, 0.9, box))
        return found


class ScriptedScene(SceneClassifier):
    def __init__(self) -> None:
        self.labels = ("patio",)

    def features(self, crop: Picture) -> Vector:
        return unit(crop.reshape(-1, 3).mean(axis=0))

    def tags(self, picture: Picture, *, floor: float = 0.4, limit: int = 2) -> list[tuple[str, float]]:
        return [("patio", 0.6)]


def _picture(person_x: int | None, *, car: bool = True) -> Picture:
    picture = np.full((240, 320, 3), (90, 100, 80), dtype=np.uint8)
    if person_x is not None:
        picture[80:140, person_x : person_x + 24] = RED
    if car:
        picture[180:210, 200:260] = WHITE
    return picture


def _observe(pictures: list[Picture]) -> SegmentDescription:
    end = -(-len(pictures) * 200 // 3000) * 3000
    frames = [SampledFrame(k * 200, picture) for k, picture in enumerate(pictures)]
    chunks = tuple(
        ChunkView(
            n,
            Span(n * 3000, n * 3000 + 3000),
            tuple(f for f in frames if n * 3000 <= f.ms < n * 3000 + 3000),
            (TranscriptLine(Span(n * 3000, n * 3000 + 100), "hello there"),) if n == 0 else (),
        )
        for n in range(end // 3000)
    )
    return Observer(Follower(ScriptedDetector(), ScriptedScene()), ScriptedScene()).describe(
        SegmentView(Span(0, end), chunks), meter=Meter()
    )


@pytest.fixture(scope="module")
def walk() -> SegmentDescription:
    return _observe([_picture(20 + 8 * k) for k in range(30)])


def test_it_writes_what_was_measured(walk: SegmentDescription) -> None:
    assert walk.chunks[0].description == (
        "One person and one car are in view. A person in red walks right; a white car stays in place. "
        'The picture resembles a patio. Speech: "hello there"'
    )


def test_facts_survive_json(walk: SegmentDescription) -> None:
    facts = walk.chunks[1].facts
    assert json.loads(json.dumps(facts)) == facts
    assert facts["counts"] == {"person": {"most": 1, "distinct": 1}, "car": {"most": 1, "distinct": 1}}
    assert {o["category"]: o["motion"] for o in facts["objects"]} == {"person": "walks right", "car": "stays in place"}


def test_tracks_are_reported_with_their_boxes(walk: SegmentDescription) -> None:
    (person,) = [t for t in walk.tracks if t.category == "person"]
    (shown,) = [thing for thing in walk.chunks[0].facts["objects"] if thing["category"] == "person"]
    assert (person.colour, person.motion, person.span.start_ms) == ("red", "walks right", shown["start_ms"])
    assert person.appearance is not None
    assert np.linalg.norm(person.appearance) == pytest.approx(1.0)


def test_black_and_missing_pictures_are_said_or_a_gap() -> None:
    result = _observe([np.zeros((240, 320, 3), dtype=np.uint8)] * 15)
    assert result.chunks[0].description == 'The picture is black. Speech: "hello there"'
    view = SegmentView(Span(0, 3000), (ChunkView(0, Span(0, 3000), ()),))
    empty = Observer(Follower(ScriptedDetector(), ScriptedScene()), ScriptedScene()).describe(view, meter=Meter())
    assert empty.chunks[0].gap == "no_frames"


def test_an_exit_is_reported_once_and_in_its_chunk() -> None:
    pictures = [_picture(max(0, 160 - 8 * k)) if k < 22 else _picture(None) for k in range(30)]
    result = _observe(pictures)
    leaves = ["leaves at the left" in str(chunk.description) for chunk in result.chunks]
    assert leaves == [False, True]


def test_an_event_is_summed_up_from_all_its_chunks(walk: SegmentDescription) -> None:
    summary = ObserverSummariser().summarise(walk.chunks, profile="general", meter=Meter())
    assert summary.startswith("From 00:00 to 00:06: one person and one car in view. A person in red")
    assert "walks right" in summary
    assert "A white car is standing still." in summary
    assert "hello there" in summary


def test_entities_are_the_objects_the_scene_and_nothing_else(walk: SegmentDescription) -> None:
    graph = ObserverExtractor().extract("", walk.chunks, [(1000, b"x")], profile="general", meter=Meter())
    assert [(m.name, m.type, m.role) for m in graph.mentions] == [
        ("person in red", "person", "walks right"),
        ("white car", "vehicle", "stays in place"),
        ("patio", "place", "scene"),
    ]
    assert graph.mentions[0].frame_ms == (1000,)
    names = {m.name for m in graph.mentions}
    assert all(r.subject in names and r.object in names and r.subject != r.object for r in graph.relations)


def test_a_fragment_joins_the_track_that_it_goes_on_from_and_no_other() -> None:
    def track(number: int, start: int, x: float) -> Track:
        made = Track(number, looks=[np.array([1.0, 0.0], dtype=np.float32)])
        for k in range(5):
            made.ms.append(start + 200 * k)
            made.boxes.append((x, 0.4, x + 0.05, 0.6))
            made.scores.append(0.9)
            made.names["person"] += 1
        return made

    assert [len(t.ms) for t in rejoin([track(1, 0, 0.5), track(2, 2000, 0.52)])] == [10]
    assert [len(t.ms) for t in rejoin([track(1, 0, 0.5), track(2, 800, 0.5)])] == [5, 5], "they share a frame"
    assert [len(t.ms) for t in rejoin([track(1, 0, 0.1), track(2, 2000, 0.9)])] == [5, 5], "too far apart"
    assert [len(t.ms) for t in rejoin([track(1, 0, 0.5), track(2, 9000, 0.5)])] == [5, 5], "too late"


def test_one_box_under_two_vehicle_names_is_one_vehicle() -> None:
    box = (0.1, 0.1, 0.3, 0.3)
    found = suppress(
        [Detection("truck", 0.5, box), Detection("car", 0.7, box), Detection("person", 0.6, (0.5, 0.5, 0.6, 0.8))]
    )
    assert [d.category for d in found] == ["car", "person"]


@pytest.mark.parametrize(
    ("rgb", "word"),
    [((10, 10, 12), "black"), ((240, 240, 238), "white"), ((130, 130, 130), "grey"), ((200, 30, 30), "red"),
     ((30, 60, 190), "blue"), ((40, 160, 60), "green"), ((230, 210, 40), "yellow"), ((110, 65, 30), "brown")],
)  # fmt: skip
def test_colours_have_plain_names(rgb: tuple[int, int, int], word: str) -> None:
    assert colour_word(np.full((8, 8, 3), rgb, dtype=np.uint8)) == word


@pytest.mark.parametrize(
    ("step", "words"),
    [((0.0, 0.0), "stands"), ((0.02, 0.0), "walks right"), ((-0.02, 0.0), "walks left"),
     ((0.0, 0.02), "walks towards the camera"),
     ((0.0, -0.02), "walks away from the camera"), ((0.12, 0.0), "runs right")],
)  # fmt: skip
def test_movement_is_relative_to_the_height_of_the_box(step: tuple[float, float], words: str) -> None:
    ms = [200 * k for k in range(6)]
    boxes = [(0.1 + step[0] * k, 0.3 + step[1] * k, 0.2 + step[0] * k, 0.5 + step[1] * k) for k in range(6)]
    assert movement("person", ms, boxes, 1.0).words == words


def test_words_agree_with_their_number() -> None:
    assert (noun("person", "black", 3), verb("walks left", 3)) == ("three people in black", "walk left")
    assert (noun("umbrella", ""), noun("bus", "", 2), verb("stays in place", 2)) == (
        "an umbrella",
        "two buses",
        "stay in place",
    )


@pytest.mark.long
def test_drawn_text_is_read() -> None:
    picture = np.full((120, 480, 3), 255, dtype=np.uint8)
    cv2.putText(picture, "MAIN STREET 42", (20, 75), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (0, 0, 0), 3)
    assert "".join(TextReader().read(picture)).replace(" ", "") == "MAINSTREET42"


def test_the_detector_loads_and_finds_nothing_on_a_plain_wall() -> None:
    detector = SsdDetector(weights.fetch("ssd-mobilenet-v2"))
    assert detector.detect(np.full((300, 400, 3), 128, dtype=np.uint8), tile=0, floor=0.5) == []
    with pytest.raises(ValueError, match="empty"):
        detector.detect(np.zeros((0, 0, 3), dtype=np.uint8))


def test_the_scene_of_a_real_photograph() -> None:
    from sklearn.datasets import load_sample_images

    photos = dict(zip(("china", "flower"), load_sample_images().images, strict=True))
    classifier = SceneClassifier(weights.fetch("efficientnet-lite3"))
    assert len(classifier.labels) == 1000
    best = classifier.labels[int(np.argmax(classifier.probabilities(photos["china"])))]
    assert best in {"palace", "monastery", "stupa", "library"}


def test_the_checker_reads_each_measurement_once_and_says_what_it_is() -> None:
    frames = (
        FrameEvidence(0, b"", "One person."),
        FrameEvidence(500, b"", "One person."),
        FrameEvidence(3000, b"", "A car."),
    )
    request = CheckRequest("What?", (), ("a", "b"), frames)
    with ScriptedOpenAIServer('{"answer": "a car"}') as server:
        checker = ObserverChecker(OpenAIChatModel(base_url=server.url, model="small"))
        checker.check(request, n=1, schema={"type": "object"}, meter=Meter())
        assert checker.name == "measurements read by small"
        assert server.requests[0].user.count("One person.") == 1
        assert "[00:03] A car." in server.requests[0].user
        with pytest.raises(ModelError) as caught:
            checker.check(CheckRequest("What?", (), (), (FrameEvidence(0, b""),)), n=1, schema={}, meter=Meter())
    assert caught.value.code == "no_observations"


def test_the_checker_reads_notes_next_to_measurements() -> None:
    frames = (FrameEvidence(3000, b"", "A car."),)
    request = CheckRequest("What?", (), (), frames, ("Summary: a street.",))
    with ScriptedOpenAIServer('{"answer": "a car"}') as server:
        checker = ObserverChecker(OpenAIChatModel(base_url=server.url, model="small"))
        checker.check(request, n=1, schema={"type": "object"}, meter=Meter())
        (sent,) = server.requests
    assert "<text>\nSummary: a street.\n</text>\nMeasurements at 1 of 1 moments:\n[00:03] A car." in sent.user
    assert "and from notes about it" in " ".join(sent.system.split())


def test_what_goes_on_in_the_next_segment_is_the_same_thing() -> None:
    def chunk(n: int, track_id: int, start_ms: int, end_ms: int) -> Chunk:
        car = {
            "track_id": track_id,
            "category": "car",
            "colour": "blue",
            "motion": "stays in place",
            "entered": "",
            "left": "",
            "start_ms": start_ms,
            "end_ms": end_ms,
            "frames_ms": [start_ms, end_ms],
            "first_box": [0.1, 0.1, 0.3, 0.3],
            "box": [0.1, 0.1, 0.3, 0.3],
        }
        facts = {
            "objects": [car],
            "counts": {"car": {"most": 1, "distinct": 1}},
            "scene": [],
            "motion_level": "none",
            "camera_moves": False,
            "brightness": "normal",
            "text": [],
            "speech": "",
            "aspect": 1.5,
        }
        return Chunk(n, Span(n * 3000, n * 3000 + 3000), "A blue car stays in place.", facts=facts)

    tracks = [chunk(9, 1, 27_000, 29_800), chunk(10, 10_001, 30_000, 32_800)]
    over_the_boundary = with_objects(tracks, {1: 0, 10_001: 0})
    later = with_objects(tracks, {1: 0, 10_001: 1})
    summary = ObserverSummariser().summarise(over_the_boundary, profile="general", meter=Meter())
    assert summary == "From 00:27 to 00:33: one car in view. A blue car is standing still."
    assert ObserverSummariser().summarise(later, profile="general", meter=Meter()) == (
        "From 00:27 to 00:33: at most one car at once (about two in all) in view. "
        "Blue cars (about two in all) are standing still."
    )


BOX = (0.1, 0.1, 0.3, 0.3)


def _thing(track_id: int, category: str, frames_ms: tuple[int, ...], **values: str) -> MeasuredObject:
    known = {"colour": "", "motion": "stays in place", "entered": "", "left": "", **values}
    return MeasuredObject(
        track_id, category, start_ms=frames_ms[0], end_ms=frames_ms[-1], frames_ms=frames_ms, first_box=BOX, box=BOX,
        **known,
    )  # fmt: skip


def _chunks(*parts: tuple[MeasuredObject, ...]) -> list[Chunk]:
    chunks = []
    for n, objects in enumerate(parts):
        counts = {name: CategoryCount(at_once([o for o in objects if o.category == name]), number)
                  for name, number in Counter(o.category for o in objects).items()}  # fmt: skip
        measured = MeasuredChunk(objects, counts, (), "some", False, "normal", "", 1.5)
        span = Span(3_000 * n, 3_000 * n + 3_000)
        chunks.append(Chunk(n, span, describe(measured), facts=measured.facts()))
    return chunks


def _summary(*parts: tuple[MeasuredObject, ...]) -> str:
    return ObserverSummariser().summarise(_chunks(*parts), profile="general", meter=Meter())


def test_things_that_stay_are_there_while_the_detector_loses_them() -> None:
    """Two of three bottles are found in each picture, and never all three."""
    three = (_thing(1, "bottle", (0, 2_800)), _thing(2, "bottle", (0, 1_400)), _thing(3, "bottle", (1_200, 2_800)))

    [chunk] = _chunks(three)

    assert chunk.description == "Three bottles are in view. Three bottles stay in place."
    later = tuple(replace(one, start_ms=3_000, end_ms=5_800, frames_ms=(3_000, 5_800)) for one in three)
    assert _summary(three, later) == ("From 00:00 to 00:06: three bottles in view. Three bottles are standing still.")


def test_what_comes_and_goes_is_there_only_while_it_is_seen() -> None:
    first, then = _thing(1, "bottle", (0, 200), left="right"), _thing(2, "bottle", (2_000, 2_200), entered="right")
    assert at_once([first, then]) == 1
    walkers = [_thing(1, "person", (0, 2_800), motion="walks left"), _thing(2, "person", (1_400,), motion="stands")]
    assert at_once(walkers) == 1


@pytest.mark.parametrize("category", ["bottle", "person", "car", "dog"])
@pytest.mark.parametrize("motion", ["stays in place", "walks left", ""])
@pytest.mark.parametrize("colours", [("", "", ""), ("white", "white", "dark"), ("white", "red", "dark")])
@pytest.mark.parametrize("passing", [{}, {"entered": "left"}, {"left": "top"}])
@pytest.mark.parametrize("copies", [1, 3])
def test_no_text_names_more_than_it_says_are_there_at_most(
    category: str, motion: str, colours: tuple[str, ...], passing: dict[str, str], copies: int
) -> None:
    """Things one after the other, in one chunk and over two: a few, which get a sentence each, and a crowd."""
    things = [
        _thing(9 * k + n, category, (1_000 * n + 10 * k,), motion=motion, colour=colour, **passing)
        for k in range(copies)
        for n, colour in enumerate(colours)
    ]
    later = tuple(replace(one, track_id=one.track_id + 100, frames_ms=(3_000 + one.frames_ms[0],)) for one in things)
    texts = [str(chunk.description) for chunk in _chunks(tuple(things))] + [_summary(tuple(things), later)]
    numbers = {word: n for n, word in enumerate(("no", "one", "two", "three", "four", "five", "six", "seven", "eight"))}
    for text in texts:
        said = re.search(r"at most (\w+) \w+(?: or \w+)? at once", text, re.IGNORECASE)
        unmarked = re.sub(r"\(about \w+ in all\)", "", text)
        named = [numbers[word] for word in re.findall(r"\w+", unmarked.casefold()) if word in numbers]
        assert said is None or max(named) <= numbers[said.group(1)], text


def test_a_crowd_that_comes_in_without_a_known_movement_is_described() -> None:
    box = (0.1, 0.1, 0.3, 0.3)
    people = tuple(
        MeasuredObject(k, "person", "", "", "left", "", ms, 2_500, (ms, 2_500), box, box)
        for k, ms in enumerate((1_000, 1_000, 1_000, 2_000, 2_000, 2_000))
    )
    measured = MeasuredChunk(people, {"person": CategoryCount(6, 6)}, (), "some", False, "normal", "", 1.5)
    chunks = [Chunk(n, Span(3_000 * n, 3_000 * n + 3_000), "People.", facts=measured.facts()) for n in range(2)]

    summary = ObserverSummariser().summarise(chunks, profile="general", meter=Meter())

    assert summary == (
        "From 00:00 to 00:06: six people in view. Six people are visible. "
        "Six people enter from the left between 00:01 and 00:02."
    )


def test_what_was_measured_comes_back_out_of_the_facts(walk: SegmentDescription) -> None:
    for chunk in walk.chunks:
        assert MeasuredChunk.of(json.loads(json.dumps(chunk.facts))).facts() == chunk.facts
    with pytest.raises(ValueError, match="brightness"):
        MeasuredChunk.of({**walk.chunks[0].facts, "brightness": "bright"})


def test_who_is_lost_and_found_again_at_a_border_has_not_come_in() -> None:
    def picture(k: int) -> Picture:
        made = _picture(None)
        if k < 10 or k >= 25:
            made[0:90, 100:130] = RED
        return made

    result = _observe([picture(k) for k in range(40)])
    assert [(t.category, t.entered, t.left) for t in result.tracks if t.category == "person"] == [
        ("person", False, False)
    ]
    assert not any("enters" in str(c.description) or "leaves" in str(c.description) for c in result.chunks)


def test_what_two_readings_share_stays_on_screen_between_them() -> None:
    read = [
        ScreenReading(0, 1_400, ("NEWS", "GOAL"), read=True),
        ScreenReading(1, 4_400, None, read=False),
        ScreenReading(2, 7_400, ("NEWS",), read=False),
        ScreenReading(3, 10_400, None, read=False),
        ScreenReading(4, 13_400, ("NEWS", "END"), read=True),
        ScreenReading(5, 16_400, None, read=False),
    ]
    shown = on_screen(read)
    assert [shown[n].lines for n in range(6)] == [("NEWS", "GOAL"), *[("NEWS",)] * 3, ("NEWS", "END"), ()]
    assert {shown[n].clock for n in range(6)} == {""}


def test_the_clock_is_reported_for_every_chunk_and_is_no_other_text() -> None:
    def moment(n: int, line: str | None, *, read: bool = True) -> ScreenReading:
        return ScreenReading(n, 3_000 * n + 1_400, None if line is None else ("CAM 2", line), read=read)

    read = [moment(0, "12:00:01"), moment(1, None, read=False), moment(2, "12:00:01", read=False),
            moment(4, "12:00:13"), ScreenReading(5, 16_400, (), read=False), moment(8, "12:80:26"),
            moment(12, "12:00:37")]  # fmt: skip
    shown = on_screen(read)

    assert [shown[n].clock for n in (0, 1, 2, 4, 12)] == ["12:00:01", "12:00:04", "12:00:07", "12:00:13", "12:00:37"]
    assert {shown[n].lines for n in (0, 1, 2, 4, 12)} == {("CAM 2",)}
    assert shown[0].clock_lines == ("12:00:01",)
    assert shown[2].clock_lines == (), "the reading is an earlier frame's"
    assert shown[5] == OnScreen(()), "a black picture shows no clock"
    assert shown[8] == OnScreen(("CAM 2", "12:80:26")), "a text that is no time stays as it was read"


def test_a_time_that_stands_still_is_text() -> None:
    closing = [ScreenReading(n, 3_000 * n, ("OPEN UNTIL 20:00:00",), read=True) for n in range(0, 12, 4)]
    shown = on_screen(closing)
    assert {shown[n] for n in range(0, 12, 4)} == {OnScreen(("OPEN UNTIL 20:00:00",))}


@pytest.mark.long
def test_a_clock_drawn_into_the_picture_is_read_and_told() -> None:
    frames = []
    for k in range(90):
        picture = _picture(20 + 2 * k)
        big = cv2.resize(picture, (960, 720), interpolation=cv2.INTER_NEAREST)
        text = f"2021-03-04 12:00:{k // 5:02}"
        cv2.putText(big, text, (30, 60), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (0, 255, 0), 3)
        frames.append(SampledFrame(k * 200, big))
    chunks = tuple(
        ChunkView(n, Span(n * 3000, n * 3000 + 3000), tuple(f for f in frames if f.ms // 3000 == n)) for n in range(6)
    )
    result = Observer(Follower(ScriptedDetector(), ScriptedScene()), ScriptedScene(), TextReader()).describe(
        SegmentView(Span(0, 18_000), chunks), meter=Meter()
    )
    assert [c.facts["clock"] for c in result.chunks] == [f"2021-03-04 12:00:{3 * n + 1:02}" for n in range(6)]
    assert "The on-screen clock reads 2021-03-04 12:00:04." in str(result.chunks[1].description)
    summary = ObserverSummariser().summarise(result.chunks, profile="general", meter=Meter())
    assert "The on-screen clock goes from 2021-03-04 12:00:01 to 2021-03-04 12:00:16." in summary
    graph = ObserverExtractor().extract("", result.chunks, [], profile="general", meter=Meter())
    assert not any("12" in mention.name for mention in graph.mentions)


def test_a_cut_is_reported_and_ends_every_track() -> None:
    inside = np.full((240, 320, 3), (250, 180, 40), dtype=np.uint8)
    inside[80:140, 76:100] = RED
    result = _observe([_picture(76, car=False)] * 8 + [inside] * 7)

    people = [t for t in result.tracks if t.category == "person"]
    assert [(t.span.end_ms <= 1_600, t.span.start_ms >= 1_600) for t in people] == [(True, False), (False, True)]
    (chunk,) = result.chunks
    assert "The picture cuts to another view." in str(chunk.description)
    assert "camera moves" not in str(chunk.description)


class NamingDetector(ScriptedDetector):
    """Gives the red box another name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def detect(self, picture: Picture, *, tile: int | None = None, floor: float = 0.3) -> list[Detection]:
        found = super().detect(picture, tile=tile, floor=floor)
        return [Detection(self._name if d.category == "person" else d.category, 0.9, d.box) for d in found]


@pytest.mark.parametrize(("name", "category"), [("cell phone", "object"), ("dog", "dog"), ("frisbee", "frisbee")])
def test_a_thing_that_crosses_the_border_on_its_own_is_only_an_object(name: str, category: str) -> None:
    pictures = [_picture(max(0, 160 - 8 * k), car=False) if k < 22 else _picture(None, car=False) for k in range(30)]
    frames = tuple(SampledFrame(k * 200, picture) for k, picture in enumerate(pictures))
    chunks = tuple(
        ChunkView(n, Span(n * 3000, n * 3000 + 3000), tuple(f for f in frames if f.ms // 3000 == n)) for n in range(2)
    )
    result = Observer(Follower(NamingDetector(name), ScriptedScene()), ScriptedScene()).describe(
        SegmentView(Span(0, 6000), chunks), meter=Meter()
    )
    assert [t.category for t in result.tracks] == [category]
    assert f"{category} leaves at the left" in str(result.chunks[1].description)


def test_where_a_fixture_moves_the_camera_does() -> None:
    frames = tuple(SampledFrame(k * 200, _picture(160 - 8 * k, car=False)) for k in range(15))
    view = SegmentView(Span(0, 3000), (ChunkView(0, Span(0, 3000), frames),))
    result = Observer(Follower(NamingDetector("refrigerator"), ScriptedScene()), ScriptedScene()).describe(
        view, meter=Meter()
    )
    assert "The camera moves." in str(result.chunks[0].description)
    assert [t.motion for t in result.tracks] == [""]


def test_a_van_has_no_name_of_its_own_and_dark_is_not_black() -> None:
    assert (noun("truck", "white"), noun("truck", "", 2)) == ("a white van or truck", "two vans or trucks")
    assert (noun("person", "dark"), noun("car", "dark")) == ("a person in dark clothes", "a dark car")
    assert colour_word(np.full((8, 8, 3), (20, 24, 55), dtype=np.uint8)) == "dark"
    half = Track(1, colours=Counter({"black": 4, "dark": 3, "grey": 5}))
    assert half.colour == "dark"


def test_things_go_up_and_down_and_walkers_come_and_go() -> None:
    ms = [200 * k for k in range(6)]
    boxes = [(0.1, 0.3 - 0.02 * k, 0.2, 0.5 - 0.02 * k) for k in range(6)]
    assert movement("bottle", ms, boxes, 1.0).words == "moves up"
    assert movement("dog", ms, boxes, 1.0).words == "moves away from the camera"


def test_the_checker_reports_measurements_by_the_number_of_their_first_frame() -> None:
    frames = (
        FrameEvidence(0, b"", "One person."),
        FrameEvidence(500, b"", "One person."),
        FrameEvidence(3000, b"", "A car."),
        FrameEvidence(3500, b""),
    )
    with ScriptedOpenAIServer('{"findings": []}') as server:
        checker = ObserverChecker(OpenAIChatModel(base_url=server.url, model="small"))
        meter = Meter()
        request = ObserveRequest("What?", "the vehicle", "a bus", ("00:01 a horn",), frames)
        assert checker.observe(request, schema={"type": "object"}, meter=meter).text == '{"findings": []}'
        user = server.requests[0].user
        with pytest.raises(ModelError) as caught:
            checker.observe(ObserveRequest("What?", "x", "", (), frames[3:]), schema={}, meter=meter)
    assert user.count("One person.") == 1
    for text in ("Frame 1 at 0 ms: One person.", "Frame 3 at 3000 ms: A car.", "the vehicle", "a bus", "a horn"):
        assert text in user
    assert caught.value.code == "no_observations"
    assert [call.stage for call in meter.calls] == ["observe"]
