"""Every method runs against the fixed-rate server as its figures count it, and the figures say what they hold to."""

from __future__ import annotations

import pytest

from bench import method_calls
from bench.answer import FIGURES, METHOD_KINDS
from bench.answer_calls import SLOTS
from bench.method_calls import EYES, LOOPS, MOST_CALLS, Spent, ask
from bench.method_world import SHORT, whole_day
from bench.model_server import ModelServer, Rates
from bench.tool_user import sensible
from gpu_workers.engine.answering.catalogue import METHOD_SETTINGS
from gpu_workers.engine.models.roles import Meter

FAST = Rates(latency_s=0.0, prefill=1e9, decode=1e9)


def test_a_whole_day_has_everything_that_a_method_asks_for() -> None:
    graph = whole_day(SHORT)
    (video, extent), *others = graph.extents().items()

    assert others == []
    assert extent.duration_ms == 75 * 60_000
    assert len(graph.timeline(limit=2 * SHORT)) == SHORT
    assert 10 <= len(graph.topics(video)) <= 50
    assert graph.overview(video) is not None
    assert len(graph.objects(limit=500)) == 200
    assert len(graph.frames_between(video, extent, limit=10_000)) == 4_500
    assert graph.chunks_between(video, extent, limit=1)[0].transcript


@pytest.mark.long
@pytest.mark.parametrize("name", METHOD_SETTINGS)
def test_every_method_answers_and_its_looks_are_counted_apart(name: str) -> None:
    with ModelServer(FAST, slots=SLOTS, words=sensible) as server:
        answer = ask(server, name, salt=f"test {name}")

    calls = [call for call in answer.usage.calls if call.completion_tokens]
    assert answer.finish_reason == "answered"
    assert {call.model for call in calls} <= {"scripted", EYES}
    assert sum(call.model == "scripted" for call in calls) <= MOST_CALLS.get(name, 20)


def test_questions_share_a_prefix_only_inside_one_cache() -> None:
    with ModelServer(FAST, slots=SLOTS, words=sensible) as server:
        first, again, other = (ask(server, "videoagent", salt=salt) for salt in ("one", "one", "two"))
        alone, after = (ask(server, "videoagent", number=2, salt=salt) for salt in ("three", "one"))

    def cached(answer: object) -> int:
        return answer.usage.cached_tokens  # type: ignore[attr-defined,no-any-return]

    assert cached(other) == cached(first) < cached(again)
    assert cached(alone) < cached(after) < cached(again)


def test_figures_hold_to_the_targets_of_loops_and_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    ava = Spent(3.5, 5, 9_000, 8_000, 4_000, 0.1, 0, 0)
    loop = Spent(5.0, 6, 20_000, 12_000, 6_000, 0.69, 1, 300)
    monkeypatch.setattr(method_calls, "spent", lambda name, words, one_cache=False: loop)

    figures = {figure.name: figure for name in LOOPS for figure in method_calls._told(name, loop, ava)}

    assert figures["dvd_lite_fresh_tokens"].value == 1.5
    assert figures["dvd_lite_fresh_tokens"].holds
    shares = [figures[f"dvd_lite_{name}"] for name in ("cached_share", "own_cached_share")]
    assert [(share.value, share.holds) for share in shares] == [(0.4, False), (0.69, False)]
    calls = next(iter(method_calls._told("videoagent", Spent(8.5, 9, 1, 1, 1, 0, 0, 0), ava)))
    assert (calls.value, calls.target, calls.holds) == (9, "<= 8", False)
    assert {f"{name}_{kind}" for name in METHOD_SETTINGS for kind in METHOD_KINDS} <= set(FIGURES)


def test_growth_is_the_larger_change_of_calls_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    def grown(name: str, words: object, *, events: int = SHORT) -> Spent:
        return Spent(4.0, 4, 1_000, 500, 500, 0, 0, 0) if events == SHORT else Spent(4.1, 4, 1_100, 500, 500, 0, 0, 0)

    monkeypatch.setattr(method_calls, "spent", grown)
    figure = method_calls.growth("videoagent")

    assert (figure.value, figure.target, figure.holds) == (1.1, "<= 1.05", False)
    assert Meter("").cache_salt == ""
