"""Every action that the engine can write fits the column of a node, and the console has words for it.

The actions are read from the engine's source: names of tools, steps of a recorder, and actions of node records. A call
that names its action in a way that cannot be read here fails the test, so that a new action cannot be missed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from backend.console.answers.search_tree import ACTIONS
from backend.questions.models import Node
from gpu_workers.engine.answering.contract import NodeRecord

ENGINE = Path(__file__).parents[2] / "gpu_workers" / "engine" / "answering"
MAKERS = {"Tool": ("name", 0), "NodeRecord": ("action", 2), "step": ("action", 0), "replace": ("action", None)}
"""Calls that name an action: its keyword, and its position."""
COMPUTED = {
    "state.path.rsplit('/', 1)[-1] if state.path else 'root'": {"root", "F", "B", "RQ"},
    "node.path.rsplit('/', 1)[-1]": {"SA", "CA", "IN"},
    # The tool of a step, which is a Tool's name or one of these.
    "step.tool if known else UNKNOWN": {"unreadable", "unknown"},
    "step.action": set(),
    "FINISH": {"finish"},
    "name if name in NAMES else UNKNOWN": {"unknown"},
    "action": set(),
    "OBSERVE": {"observe"},
    "f'action_{side}'": {"action_before", "action_after"},
    # The operations of a program, which methods.ravu.program lists.
    "step.function.name": {
        "localize", "after", "before", "between", "during", "first", "last", "events_of", "track", "neighbors",
        "filter", "union", "intersect", "minus", "count", "describe", "frames",
    },
}  # fmt: skip
"""Expressions that compute an action, and the actions that they give."""


def named(source: str) -> Iterator[ast.expr]:
    """Yield the expression of every action that a source names."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        maker = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if maker not in MAKERS or (maker == "step" and "recorder" not in ast.unparse(function)):
            continue
        keyword, position = MAKERS[maker]
        given = [argument.value for argument in node.keywords if argument.arg == keyword]
        if given:
            yield given[0]
        elif position is not None and len(node.args) > position:
            yield node.args[position]


def written() -> set[str]:
    """Return every action that the engine can write."""
    actions: set[str] = set()
    for file in sorted(ENGINE.rglob("*.py")):
        for expression in named(file.read_text()):
            if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
                actions.add(expression.value)
                continue
            spelled = ast.unparse(expression)
            assert spelled in COMPUTED, f"{file.name}: which actions does {spelled} give?"
            actions |= COMPUTED[spelled]
    return actions


def test_every_action_fits_its_column_and_is_known_to_the_console() -> None:
    longest = Node._meta.get_field("action").max_length
    actions = written()

    assert {"root", "SA", "CS"} <= actions
    assert longest == 32
    assert [action for action in sorted(actions) if len(action) > longest] == []
    assert sorted(actions - ACTIONS.keys()) == [], "backend.console.answers.search_tree has no words for these"


def test_the_reader_finds_each_way_to_name_an_action() -> None:
    source = """
Tool("a", x)
Tool(description="", name="b")
NodeRecord("", 0, "c")
NodeRecord(path="", depth=0, action="d")
self.recorder.step("e", n=1)
other.step("not")
replace(record, action="f")
"""
    assert [ast.literal_eval(expression) for expression in named(source)] == ["a", "b", "c", "d", "e", "f"]
    assert NodeRecord("", 0, "c").action == "c"
