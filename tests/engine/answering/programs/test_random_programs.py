"""Whatever a model writes is a program that ends, or BadProgram. Nothing else is raised."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.program_world import CountingGraph, RandomReasoner, small_world
from bench.random_programs import MOST_READS, random_program, read_or_refuse, run_once
from gpu_workers.engine.answering.methods.ravu.functions import FUNCTIONS
from gpu_workers.engine.answering.methods.ravu.program import RESULTS
from gpu_workers.engine.answering.methods.ravu.values import Frames, Moments, NumberValue, TextValue, is_empty

WORLD = small_world()
TYPES = {"frames": Frames, "moments": Moments, "number": NumberValue, "text": TextValue}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
NEARLY = st.fixed_dictionaries(
    {"op": st.sampled_from([*FUNCTIONS, "__class__"]) | ANYTHING, "out": st.sampled_from(["a", "b"]) | ANYTHING},
    optional={
        name: st.sampled_from(["a", "b", "event", "entity", "near"]) | ANYTHING
        for name in ("of", "phrase", "what", "within", "with", "most", "a", "b", "predicate", "relation")
    },
)


def check_and_run(text: str, choices: random.Random) -> bool:
    """Return whether the program can run; if it can, run it and check what it did."""
    program = read_or_refuse(text)
    if program is None:
        return False
    graph, reasoner = CountingGraph(WORLD), RandomReasoner(choices)
    outcome = run_once(program, graph, reasoner)
    assert len(outcome.records) <= len(program) <= 12
    assert graph.reads.total() <= MOST_READS * len(program)
    asked = sum(record.action in ("localize", "filter") for record in outcome.records)
    assert reasoner.calls <= asked <= 5, "at most one call a step"
    last = program[-1]
    assert last.gives in RESULTS
    if outcome.value is None:
        assert outcome.error
    else:
        assert isinstance(outcome.value, TYPES[last.gives])
        assert not is_empty(outcome.value)
        assert [record.error for record in outcome.records] == [""] * len(program)
    return True


@settings(max_examples=2_000, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(choices=st.randoms(use_true_random=False))
def test_two_thousand_random_programs(choices: random.Random) -> None:
    check_and_run(random_program(choices), choices)


@settings(max_examples=150, database=None, derandomize=True)
@given(text=st.text(max_size=300))
def test_any_text(text: str) -> None:
    check_and_run(text, random.Random(0))


@settings(max_examples=200, database=None, derandomize=True)
@given(steps=st.lists(NEARLY, max_size=5) | ANYTHING)
def test_any_json(steps: Any) -> None:
    check_and_run(json.dumps({"steps": steps}), random.Random(0))


@pytest.mark.parametrize("seed", range(3))
def test_the_generator_makes_programs_that_run_and_programs_that_do_not(seed: int) -> None:
    """The tests above would also pass if every program were refused."""
    choices = random.Random(seed)
    ran = [check_and_run(random_program(choices), choices) for _ in range(100)]
    assert 30 <= sum(ran) <= 90
