"""An answer's claims, the citations of each, and the verdicts by text, reasoner and frames."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Answer, Budget, QuestionInput
from gpu_workers.engine.answering.ending.claims import MAX_CLAIMS, claim_status, claims_of
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import changed, settings_for
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import ModelError, ObserveRequest
from tests.engine.answering.world import (
    QUERIES,
    ScriptedChecker,
    ScriptedReasoner,
    event_id,
    make_video,
    models,
    says,
    verdicts,
)

QUESTION = QuestionInput("What do the dog, the people and the van do?")
STORY = ("a dog runs across the street", "two people talk near the shop", "a van parks near the pole")
LOW = settings_for("low", UNMEASURED)
WITH_FRAMES = replace(LOW, verify_frames=True)


def claims(text: str, choice: int | None = None) -> tuple[str, ...]:
    return claims_of(ParsedAnswer(text, choice, True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog runs.", ("A dog runs.",)),
        ("A dog runs. Two people talk!", ("A dog runs.", "Two people talk!")),
        ("A dog runs; two people talk", ("A dog runs", "two people talk")),
        ("A dog runs, but nobody looks up", ("A dog runs", "but nobody looks up")),
        ("A dog, a cat, and a bird eat.", ("A dog, a cat, and a bird eat.",)),
        ("At 3.5 s Mr. Smith meets Dr. Jones.", ("At 3.5 s Mr. Smith meets Dr. Jones.",)),
        ("Red, then blue.", ("Red, then blue.",)),
        ("", ("",)),
    ],
)
def test_an_open_answer_is_split_where_statements_end(text: str, expected: tuple[str, ...]) -> None:
    assert claims(text) == expected


def test_a_chosen_option_is_one_claim() -> None:
    assert claims("A dog runs. A cat sleeps.", choice=0) == ("A dog runs. A cat sleeps.",)


def test_no_claim_is_lost_where_there_are_many() -> None:
    found = claims(" ".join(f"Dog number {n} runs." for n in range(9)))

    assert len(found) == MAX_CLAIMS
    assert found[-1] == "Dog number 5 runs. Dog number 6 runs. Dog number 7 runs. Dog number 8 runs."


def test_a_supporting_citation_outweighs_contradicting_ones() -> None:
    assert claim_status(["contradicted", "supported", "unverified"]) == "supported"
    assert claim_status(["contradicted", "unverified"]) == "contradicted"
    assert claim_status(["unverified"]) == claim_status([]) == "unverified"


def ask(text: str, evidence: list[int], **more: Any) -> Answer:
    """Return an answer of these words and event numbers. verdicts: the reasoner's, by a word of the statement."""
    by_word = more.pop("verdicts", {})

    def script(request: Any) -> Any:
        if request.stage == "rewrite":
            return QUERIES
        if request.stage == "verify":
            return verdicts(request, lambda text: next((by_word[word] for word in by_word if word in text), "unclear"))
        return says(text, "the same", evidence) | {"sufficient": True}

    graph = more.pop("graph", None) or InMemoryGraph([make_video(STORY)])
    settings = changed(more.pop("settings", LOW), sa_ratio=1.0, n=1)
    roles = models(ScriptedReasoner(script), checker=more.pop("checker", None))
    return answer_question(QUESTION, graph, roles, settings=settings, **more)


def verdicts_of(answer: Answer) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(claim.text, claim.status, claim.citations) for claim in answer.claims]


def test_each_claim_cites_the_events_that_speak_to_it() -> None:
    answer = ask("A dog runs across the street. Two people talk near the shop.", [1, 2])

    assert verdicts_of(answer) == [
        ("A dog runs across the street.", "supported", (0,)),
        ("Two people talk near the shop.", "supported", (1,)),
    ]
    assert [(item.event_id, item.claims, item.status) for item in answer.citations] == [
        (event_id(0), (0,), "supported"),
        (event_id(1), (1,), "supported"),
    ]
    assert [item.quote for item in answer.citations] == list(STORY[:2])


def test_a_claim_that_the_model_cited_nothing_for_gets_what_was_shown_and_bears_it_out() -> None:
    answer = ask("A dog runs across the street. A van parks near the pole.", [1])

    assert [item.event_id for item in answer.citations] == [event_id(0), event_id(2)]
    assert verdicts_of(answer)[1] == ("A van parks near the pole.", "supported", (1,))


def test_a_claim_without_any_citation_is_unverified() -> None:
    answer = ask("A dog runs across the street. Elephants swim under water.", [1])

    assert verdicts_of(answer) == [
        ("A dog runs across the street.", "supported", (0,)),
        ("Elephants swim under water.", "unverified", ()),
    ]


def test_a_contradicted_claim_is_distinguished_from_the_supported_one() -> None:
    answer = ask(
        "A dog runs across the street. Three people talk near the shop.", [1, 2],
        settings=replace(changed(LOW, revise=False), verify_citations=True),
        verdicts={"dog": "supported", "Three": "contradicted"},
    )  # fmt: skip

    assert [(status, cited) for _, status, cited in verdicts_of(answer)] == [
        ("supported", (0,)),
        ("contradicted", (1,)),
    ]
    assert [item.status for item in answer.citations] == ["supported", "contradicted"]


def test_a_choice_is_one_claim_of_all_its_citations() -> None:
    question = replace(QUESTION, choices=("a dog runs across the street", "a cat sleeps"))
    reasoner = ScriptedReasoner(lambda request: QUERIES if request.stage == "rewrite" else says("A", "same", [1, 2]))

    answer = answer_question(
        question, InMemoryGraph([make_video(STORY)]), models(reasoner), settings=changed(LOW, sa_ratio=1.0)
    )

    assert verdicts_of(answer) == [("a dog runs across the street", "supported", (0, 1))]
    assert [item.status for item in answer.citations] == ["supported", "unverified"]


def test_an_abstention_claims_nothing() -> None:
    assert ask("insufficient", []).claims == ()


def test_closeness_is_that_of_the_claim() -> None:
    """Bags of words: the summary's six words are the claim's, in another order."""
    answer = ask("across the street runs a dog", [1])

    assert answer.citations[0].closeness == pytest.approx(1.0)


def test_the_reasoner_judges_each_claim_by_itself() -> None:
    settings = replace(LOW, verify_citations=True)
    by_word = {"dog": "contradicted", "people": "supported"}

    answer = ask("A dog runs across the street. Two people talk near the shop.", [1, 2], settings=settings,
                 verdicts=by_word)  # fmt: skip

    assert [status for _, status, _ in verdicts_of(answer)] == ["contradicted", "supported"]


# --- frames ----------------------------------------------------------------------------------------------------------


def seeing(by_word: dict[str, str], frames: list[int] | None = None) -> ScriptedChecker:
    """Return a checker whose findings depend on a word of the claim."""

    def observes(request: ObserveRequest) -> Any:
        bearing = next((found for word, found in by_word.items() if word in request.hypothesis), "none")
        one = {"statement": "seen", "start_ms": 0, "end_ms": 1, "frames": frames or [], "bearing": bearing}
        return {"findings": [one]}

    return ScriptedChecker(lambda _: pytest.fail("no frame check is due"), observes=observes)


def test_frames_decide_over_text_one_look_per_claim() -> None:
    checker = seeing({"dog": "contradicts", "Elephants": "supports"})

    answer = ask("A dog runs across the street. Elephants talk near the shop.", [1, 2], settings=WITH_FRAMES,
                 checker=checker)  # fmt: skip

    assert [status for _, status, _ in verdicts_of(answer)] == ["contradicted", "supported"]
    assert sorted([frame.ms for frame in request.frames] for request in checker.observed) == [[1_500], [4_500]]
    assert {request.known for request in checker.observed} == {()}


def test_frames_that_show_neither_leave_the_text_s_word() -> None:
    answer = ask("A dog runs across the street.", [1], settings=WITH_FRAMES, checker=seeing({}))

    assert verdicts_of(answer) == [("A dog runs across the street.", "supported", (0,))]


def test_a_look_bears_only_on_the_citations_whose_frames_it_names() -> None:
    answer = ask(
        "A dog runs across the street.", [1, 2], settings=WITH_FRAMES, checker=seeing({"dog": "contradicts"}, [2])
    )

    assert [item.status for item in answer.citations] == ["supported", "contradicted"]
    assert verdicts_of(answer)[0][1] == "supported"


def test_measured_frames_have_no_eyes_and_are_not_looked_at() -> None:
    checker = seeing({"dog": "contradicts"})

    answer = ask("A dog runs across the street.", [1], settings=WITH_FRAMES, checker=checker,
                 graph=InMemoryGraph([make_video(STORY, measured=True)]))  # fmt: skip

    assert checker.observed == []
    assert verdicts_of(answer)[0][1] == "supported"


@pytest.mark.parametrize("fault", [ModelError("model_timeout", "late", retryable=True), "no object", "{}"])
def test_a_look_that_fails_leaves_the_text_s_word(fault: Any) -> None:
    checker = ScriptedChecker(lambda _: "", observes=lambda _: fault)

    answer = ask("A dog runs across the street.", [1], settings=WITH_FRAMES, checker=checker)

    assert len(checker.observed) == 1
    assert (verdicts_of(answer)[0][1], answer.finish_reason) == ("supported", "answered")


def test_without_budget_for_a_look_the_answer_still_stands() -> None:
    checker = seeing({"dog": "contradicts"})

    answer = ask(
        "A dog runs across the street.", [1], settings=WITH_FRAMES, checker=checker, budget=Budget(max_calls=1)
    )

    assert checker.observed == []
    assert (answer.text, verdicts_of(answer)[0][1]) == ("A dog runs across the street.", "supported")


@pytest.mark.parametrize(("effort", "looks"), [("low", 0), ("medium", 0), ("high", 1), ("paper", 1)])
def test_only_high_and_paper_look_at_what_they_cite(effort: Any, looks: int) -> None:
    checker = seeing({})

    ask("A dog runs across the street.", [1], settings=changed(settings_for(effort, UNMEASURED), check="off"),
        checker=checker)  # fmt: skip

    assert len(checker.observed) == looks
