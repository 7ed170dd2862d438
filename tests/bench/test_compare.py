"""`make compare` from results to figures: what each result counts as, and what the command refuses."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from bench.evaluation import compare
from bench.evaluation.arms import measured_of, outcome_of_answer
from bench.evaluation.compare import compare_reports, reply_of, summary
from bench.evaluation.report import ItemResult, Measured
from gpu_workers.engine.answering.contract import Answer, CitationRecord, NodeRecord, Usage
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import ModelCall
from tests.engine.answering.world import VIDEO


def result(id: str, given: int | None, **fields: Any) -> ItemResult:
    """A result whose right choice is 1."""
    return ItemResult(
        id, **{"kind": "", "right": {1: given == 1}, "given": given, "truth": 1, "seconds": 2.0, **fields}
    )


def test_each_result_counts_as_its_outcome() -> None:
    reasons = {"answered": "abstained", "insufficient_evidence": "abstained", "budget": "abstained",
               "refused": "refused", "error": "failed"}  # fmt: skip
    assert {reason: reply_of(result("x", None, finish_reason=reason)).outcome for reason in reasons} == reasons
    assert [reply_of(result("x", given)).outcome for given in (1, 0)] == ["right", "wrong"]


def test_a_reply_holds_what_the_result_measured() -> None:
    reply = reply_of(
        result("x", 1, confidence=0.7, calls=3, seconds=1.25, head="votes", degraded=("no_speech",),
               measured=Measured(calls=4, prompt_tokens=100, completion_tokens=9, hit=True, engine_ms=1_400,
                                 llm_ms=1_250, version="2", prompts="ab"))
    )  # fmt: skip

    assert (reply.confidence, reply.head, reply.calls) == (0.7, "votes", 4)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.hit) == (100, 9, True)
    assert (str(reply.amount), reply.degraded) == ("1.25", ("no_speech",))
    assert (reply.engine_ms, reply.llm_ms, reply.version, reply.prompts) == (1_400, 1_250, "2", "ab")


def test_what_is_measured_of_an_answer_is_what_the_api_counts() -> None:
    calls = (
        ModelCall("answer", "m", wall_ms=900, prompt_tokens=3_000, cached_tokens=1_700, completion_tokens=20),
        ModelCall("answer", "m", wall_ms=100, prompt_tokens=500, cached_tokens=400, cache_shared=True, ok=False),
        ModelCall("embedding", "e", wall_ms=30, prompt_tokens=7),
    )
    spans = ((0, 3_000, "supported"), (6_000, 9_000, "unverified"))
    cited = [CitationRecord(VIDEO, VIDEO, start, end, None, None, "", status) for start, end, status in spans]
    nodes = [NodeRecord("", 0, "SA", frames_used=used, frames_available=9) for used in (3, 4)]
    answer = Answer(
        "b", 1, 0.7, "answered", citations=tuple(cited), nodes=tuple(nodes), usage=Usage(calls),
        timings={"search": 40, "total": 1_500}, method_version="2", prompts="ab",
    )  # fmt: skip

    assert measured_of(answer, (Span(3_000, 4_000), Span(8_999, 9_500))) == Measured(
        calls=3, prompt_tokens=3_507, cached_tokens=1_000, completion_tokens=20, citations=2, supported=1, hit=True,
        frames=7, engine_ms=1_500, llm_ms=900, version="2", prompts="ab",
    )  # fmt: skip
    assert measured_of(answer, (Span(3_000, 6_000),)).hit is False, "spans are half-open"
    assert measured_of(answer, ()).hit is None


def test_a_result_is_read_as_it_was_written() -> None:
    item = result("x", 1, measured=Measured(calls=4, hit=False, engine_ms=7))
    assert ItemResult.read(json.loads(json.dumps(asdict(item)))) == item


def test_items_are_compared_pair_by_pair() -> None:
    """8 gained and 1 lost of 20 items, one of which the second arm lacks."""
    first = [result(str(n), 1 if n in {8, 20} else 0, kind="t") for n in range(21)]
    second = [replace(result(str(n), 1 if n < 8 else 0, kind="t"), seconds=1.0) for n in range(20)]
    report = compare_reports({"a": first, "b": second})

    assert (report.items, report.counted, report.left_out, report.labeled) == (21, 20, 1, 20)
    (pair,) = report.pairs
    assert (pair.gained, pair.lost, pair.amount_ratio) == (8, 1, 0.5)
    assert pair.p_value == pytest.approx(0.0391, abs=5e-5)
    assert (pair.groups["gained_cheaper"], pair.groups["lost_cheaper"], sum(pair.groups.values())) == (8, 1, 9)
    lines = summary(report).splitlines()
    assert lines[0] == "20 of 21 items; 9 of 20 right in some arm"
    assert lines[2].startswith("b: 40.0% (95 % ")
    assert lines[2].endswith("1.0 s of models best frontier")
    assert "gained 8, lost 1, McNemar p 0.0391 (0.0391 by Holm), 0.50 x the time. 20 questions can show" in lines[3]


def test_an_outcome_keeps_its_head_and_a_confidence_that_nothing_was_calibrated_for() -> None:
    measured: dict[str, float | str] = {"support": 0.5, "head": "votes"}
    answers = [Answer("b", 1, confidence, "answered", signals=measured) for confidence in (0.7, None)]

    assert [(one.head, one.confidence, one.signals) for one in map(outcome_of_answer, answers)] == [
        ("votes", 0.7, {"support": 0.5}),
        ("votes", None, {"support": 0.5}),
    ]


def test_confidences_of_one_head_are_compared() -> None:
    """The right answers are surer in each pair of a right and a wrong one."""
    items = [result(str(n), n % 2, confidence=0.5 + n % 2 / 4, head="votes") for n in range(4)]
    report = compare_reports({"a": items, "b": [replace(item, confidence=None) for item in items]})

    first, second = (arm.confidence for arm in report.arms)
    assert first is not None
    assert (first.auroc, first.n) == (1.0, 4)
    assert second is None


@pytest.mark.parametrize(
    ("arms", "reported"),
    [
        ("ava", "2 to 8 different arms"),
        ("ava,ava", "2 to 8 different arms"),
        (",".join("abcdefghi"), "2 to 8 different arms"),
        ("ava,nonsense", "no arm 'nonsense'"),
    ],
)
def test_wrong_arms_are_reported_before_anything_is_loaded(
    capsys: pytest.CaptureFixture[str], arms: str, reported: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        compare.main(["--set=egoschema", "--data=/nowhere", f"--arms={arms}"])

    assert ended.value.code == 2
    assert reported in capsys.readouterr().err


def test_a_tape_has_no_choices_to_compare(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        compare.main(["--set=activitynet", "--data=/nowhere", "--arms=ava,tfidf"])
    assert "invalid choice" in capsys.readouterr().err
