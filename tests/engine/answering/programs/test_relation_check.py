"""Written relations are looked at before a program uses them: contradicted ones go, unseen ones are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.catalogue import RAVU
from gpu_workers.engine.answering.methods.ravu import relation_check
from gpu_workers.engine.answering.methods.ravu.finding import localize, neighbors
from gpu_workers.engine.answering.methods.ravu.values import Run, Things
from gpu_workers.engine.ekg import Relation, stable_id
from gpu_workers.engine.memory_graph import MemoryVideo
from gpu_workers.engine.models.roles import ObserveRequest
from tests.engine.answering.programs.small_world import juice, run_over, toolbox_over
from tests.engine.answering.world import ScriptedChecker, event_id, make_video, says

BOY, GIRL, DOG, CAT = (stable_id("entity", name) for name in ("boy", "girl", "dog", "cat"))
STATED = {GIRL: (0, "holds hands with"), DOG: (1, "feeds"), CAT: (2, "strokes")}


def family() -> MemoryVideo:
    """Return three events, each with one relation of the boy."""
    video = make_video(
        ["a boy and a girl walk", "a boy and a dog", "a boy and a cat"],
        entities={"boy": [0, 1, 2], "girl": [0], "dog": [1], "cat": [2]},
    )
    relations = {
        n: Relation(stable_id("r", n), BOY, other, words, "", event_id(n), 1.0) for other, (n, words) in STATED.items()
    }
    return replace(video, events=[replace(record, relations=(relations[record.event.n],)) for record in video.events])


def looking(bearing: Callable[[ObserveRequest], str]) -> ScriptedChecker:
    def observed(request: ObserveRequest) -> Any:
        found = bearing(request)
        finding = {"statement": "as seen", "start_ms": 0, "end_ms": 9_000, "frames": [1], "bearing": found}
        return {"findings": [finding] if found else []}

    return ScriptedChecker(lambda request: says("?"), observes=observed)


def run_with(checker: ScriptedChecker | None, *, calls_left: int = 8, video: MemoryVideo | None = None) -> Run:
    run = run_over(toolbox_over(video or family(), checker=checker), calls_left=calls_left)
    run.checks_relations = True
    return run


def related(run: Run) -> set[str]:
    boy = localize(run, "boy", "entity", None)
    assert isinstance(boy, Things)
    only = Things(tuple(thing for thing in boy.items if thing.id == BOY))
    names = {GIRL: "girl", DOG: "dog", CAT: "cat"}
    return {names[thing.id] for thing in neighbors(run, only, None, None).items}


def test_a_relation_that_the_frames_contradict_is_not_used() -> None:
    """Frames support one of three relations and contradict one: two stay, and one of them was not seen."""
    checker = looking(lambda request: "supports" if "holds" in request.hypothesis else
                      "contradicts" if "feeds" in request.hypothesis else "")  # fmt: skip
    run = run_with(checker)

    assert related(run) == {"girl", "cat"}

    assert sorted(request.hypothesis for request in checker.observed) == [
        "boy feeds dog", "boy holds hands with girl", "boy strokes cat",
    ]  # fmt: skip
    assert [[frame.ms for frame in request.frames] for request in checker.observed] == [[1_500], [4_500], [7_500]]
    assert run.calls_left == 5, "each look is one of the program's calls"
    assert run.notes == [
        "left out 1 of 3 written relations, which the frames contradict",
        "1 of 3 written relations were not seen in frames",
    ]
    assert run.limits == ["1 of 3 written relations were not seen in frames"]


def test_no_more_looks_than_calls_and_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    checker = looking(lambda request: "contradicts")
    assert len(related(run_with(checker, calls_left=1))) == 2
    assert len(checker.observed) == 1

    monkeypatch.setattr(relation_check, "MOST_CHECKED", 2)
    assert len(related(run_with(checker))) == 1
    assert len(checker.observed) == 3


def test_without_eyes_or_frames_written_relations_are_used_as_they_are() -> None:
    blind = looking(lambda request: "contradicts")
    blind.sees = False
    assert related(run_with(blind)) == related(run_with(None)) == {"girl", "dog", "cat"}

    seeing = looking(lambda request: "contradicts")
    assert related(run_with(seeing, video=replace(family(), frames=()))) == {"girl", "dog", "cat"}
    assert blind.observed == seeing.observed == []


def test_only_effort_high_pays_for_it() -> None:
    assert {effort for effort, settings in RAVU.items() if settings.checks_relations} == {"high"}
    checker = looking(lambda request: "contradicts")
    run = run_over(toolbox_over(juice(), checker=checker))
    assert not run.checks_relations
