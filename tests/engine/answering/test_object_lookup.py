"""Objects by words: the category, other words for it, colours, and nearness in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_workers.engine.answering.agent.tools import object_memory
from gpu_workers.engine.answering.agent.tools.object_memory import OBJECT_LOOKUP
from gpu_workers.engine.ekg import Span, stable_id
from gpu_workers.engine.ports import StoredObject
from gpu_workers.engine.retrieval.object_names import Matches, categories_there, matching
from tests.engine.answering.recordings import graph_of, park
from tests.engine.answering.toolboxes import toolbox_of, tracked, use
from tests.engine.answering.world import VIDEO, event_id

SCENE = (
    ("person", "red"), ("person", "dark"), ("car", "blue"), ("truck", "white"), ("dog", "brown"), ("chair", ""),
    ("cell phone", ""), ("potted plant", "green"),
)  # fmt: skip
THINGS = [
    StoredObject(stable_id("object", n), VIDEO, n, category, colour, (Span(0, 1_000),), 1, 0, 1.0)
    for n, (category, colour) in enumerate(SCENE)
]


def never(texts: Sequence[str]) -> NDArray[np.float32]:
    raise AssertionError(f"no vector is needed for {texts}")


def found(words: str) -> list[str]:
    return [f"{thing.colour} {thing.category}".strip() for thing in matching(words, THINGS, never).objects]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("person", ["red person", "dark person"]),
        ("People", ["red person", "dark person"]),
        ("two women and a child", ["red person", "dark person"]),
        ("a man in black", ["dark person"]),
        ("vehicles", ["blue car", "white truck"]),
        ("the white van", ["white truck"]),
        ("animals", ["brown dog"]),
        ("puppies", ["brown dog"]),
        ("chairs", ["chair"]),
        ("smartphone", ["cell phone"]),
        ("plants", ["green potted plant"]),
        ("something red", ["red person"]),
        ("a dog or a car", ["blue car", "brown dog"]),
        ("cups", []),
        ("a bus", []),
        ("bear", []),
    ],
)
def test_words_name_categories(words: str, names: Sequence[str]) -> None:
    assert found(words) == names


def test_a_colour_that_nothing_has_is_told() -> None:
    assert matching("green car", THINGS, never) == Matches((THINGS[2],), colour_missing="green")


def near(**cosines: float) -> object:
    """Return an embedder whose query has these cosines to the names, 0.1 to others."""

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [[1.0, 0.0]]
        for text in texts[1:]:
            cosine = cosines.get(text.replace(" ", "_"), 0.1)
            rows.append([cosine, (1 - cosine**2) ** 0.5])
        return np.array(rows, dtype=np.float32)

    return embed


def test_other_words_are_compared_by_meaning() -> None:
    likely = matching("hatchback", THINGS, near(blue_car=0.7, white_truck=0.6, chair=0.59))  # type: ignore[arg-type]
    assert [thing.category for thing in likely.objects] == ["car", "truck"]
    assert likely.by_meaning
    assert matching("unicorn", THINGS, near(brown_dog=0.55)) == Matches()  # type: ignore[arg-type]


def test_no_objects_need_no_vectors() -> None:
    assert matching("hatchback", (), never) == Matches()
    assert categories_there(THINGS).startswith("person (2), car (1), ")


def filmed() -> object:
    objects = [
        tracked(0, "person", "red", [Span(0, 2_000), Span(9_000, 9_500)]),
        tracked(1, "person", "dark", [Span(6_000, 10_000)], confidence=0.5),
        tracked(2, "dog", "brown", [Span(12_000, 13_000)]),
    ]
    return graph_of(replace(park(objects=False), objects=objects))


def test_the_tool_shows_when_each_is_seen() -> None:
    toolbox = toolbox_of(filmed())  # type: ignore[arg-type]
    shown = use(toolbox, OBJECT_LOOKUP, words="people")
    assert shown.text.splitlines() == [
        "about 2 found:",
        "O1 red person: 0:00:00-0:00:02, 0:00:09-0:00:09; entered 1, left 0; first in E1",
        "O2 dark person: 0:00:06-0:00:10; entered 1, left 0; first in E2; perhaps the same as another",
    ]
    assert shown.events == (event_id(0), event_id(2))
    assert sorted(toolbox.evidence.objects) == [1, 2]
    assert use(toolbox, OBJECT_LOOKUP, words="green dog").text.splitlines()[:2] == [
        "1 found:",
        "None of them is green.",
    ]


def test_a_category_that_is_not_there_names_those_that_are() -> None:
    toolbox = toolbox_of(filmed())  # type: ignore[arg-type]
    for words in ("cup", "unicorn"):
        missing = use(toolbox, OBJECT_LOOKUP, words=words)
        assert missing.error == "nothing_found"
        assert missing.text == "No object of that name is tracked. The object memory has: person (2), dog (1)."
    assert len(toolbox.evidence) == 0


def test_many_objects_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    chairs = [tracked(n, "chair", "", [Span(100 * n, 100 * n + 50)]) for n in range(25)]
    toolbox = toolbox_of(graph_of(replace(park(objects=False), objects=chairs)))
    shown = use(toolbox, OBJECT_LOOKUP, words="chair")
    assert shown.text.splitlines()[0] == "25 found:"
    assert shown.text.splitlines()[-1] == "5 more are not shown."
    assert (len(shown.objects), shown.cut) == (20, True)
    monkeypatch.setattr(object_memory, "MAX_OBJECTS", 24)
    assert use(toolbox, OBJECT_LOOKUP, words="chair").error == "too_wide"


def test_without_tracked_objects_the_tool_is_not_there() -> None:
    toolbox = toolbox_of(graph_of(park(objects=False)))
    assert not OBJECT_LOOKUP.needs <= toolbox.artifacts
    assert toolbox.degraded(OBJECT_LOOKUP.needs) == ("no_object_memory",)
