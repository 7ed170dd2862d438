"""The shape of the tree, its caps, and what is answered only once (AVA, section 5.2)."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import Answer, PartialAnswer, QuestionInput
from gpu_workers.engine.answering.presets import SearchSettings, changed, settings_for
from gpu_workers.engine.answering.search.actions import State, step_backward, step_forward
from gpu_workers.engine.answering.search.summary_answer import selected
from gpu_workers.engine.answering.search.tree_search import ActionPlan, most_informative
from gpu_workers.engine.memory_graph import InMemoryGraph
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.retrieval.fusion import RankedEvent
from tests.engine.answering.world import (
    QUERIES,
    Request,
    ScriptedReasoner,
    event_id,
    long_street,
    make_video,
    models,
    says,
    scripted,
    street,
)

QUESTION = QuestionInput("Which way does the person walk?", ("left", "right", "up"))
PAPER = settings_for("paper", UNMEASURED)
OURS = settings_for("high", UNMEASURED)


def paths(answer: Answer, action: str) -> list[str]:
    return [node.path for node in answer.nodes if node.action == action]


def disagreeing() -> ScriptedReasoner:
    """Return samples that never agree, so that the adaptive search has no reason to stop."""
    return scripted(lambda request: [says("ABC"[n % 3], f"thought{n}of{request.seed}") for n in range(request.n)])


@pytest.mark.parametrize(("depth", "count"), [(1, 1), (2, 4), (3, 13), (4, 40)])
def test_the_papers_tree_has_1_4_13_40_answers(depth: int, count: int) -> None:
    reasoner = scripted(says("A"))

    answer = answer_question(
        QUESTION, long_street(), models(reasoner), settings=changed(PAPER, max_depth=depth, in_flight=4)
    )

    found = paths(answer, "SA")
    assert len(found) == len(set(found)) == count
    assert max(path.count("/") + 1 for path in found) == depth
    assert len(reasoner.asked("answer")) == count
    assert {request.n for request in reasoner.asked("answer")} == {8}


def test_the_paths_are_all_words_over_f_b_rq() -> None:
    answer = answer_question(QUESTION, long_street(), models(scripted(says("A"))), settings=PAPER)

    steps = ("F", "B", "RQ")
    states = ["", *steps, *(f"{a}/{b}" for a in steps for b in steps)]
    assert sorted(paths(answer, "SA")) == sorted(f"{state}/SA".lstrip("/") for state in states)


def test_no_list_is_longer_than_16_events() -> None:
    answer = answer_question(QUESTION, long_street(), models(scripted(says("A"))), settings=PAPER)

    assert max(len(node.events) for node in answer.nodes) == 16


def state_of(*numbers: int) -> State:
    return State("", tuple(RankedEvent(event_id(n), 1.0 - n / 100) for n in numbers))


def asked_of(graph: InMemoryGraph) -> Asked:
    return Asked(QUESTION, graph, models(scripted(says("A"))), PAPER, searched=QUESTION.question)


def test_f_adds_the_next_event_of_each_and_b_the_previous() -> None:
    asked = asked_of(long_street())
    state = state_of(10, 20)

    forward, backward = step_forward(asked, state), step_backward(asked, state)

    assert {event.event_id for event in forward.events} == {event_id(n) for n in (10, 11, 20, 21)}
    assert {event.event_id for event in backward.events} == {event_id(n) for n in (9, 10, 19, 20)}
    assert (forward.path, backward.path) == ("F", "B")


def test_f_first_drops_the_worst_fifth() -> None:
    state = state_of(10, 20, 30, 40, 50)
    asked = replace(asked_of(long_street()), settings=OURS)

    kept = {event.event_id for event in step_forward(asked, state).events}

    assert kept == {event_id(n) for n in (10, 11, 20, 21, 30, 31, 40, 41)}


def test_an_event_past_the_end_of_the_video_is_not_invented() -> None:
    forward = step_forward(asked_of(long_street(30)), state_of(29))

    assert [event.event_id for event in forward.events] == [event_id(29)]


@pytest.mark.parametrize(("events", "shown"), [(1, 1), (2, 2), (3, 3), (4, 3), (16, 12)])
def test_an_answer_sees_three_quarters_but_never_nothing(events: int, shown: int) -> None:
    assert len(selected(state_of(*range(events)), 0.75)) == shown


def test_a_video_of_one_event_is_answered_from_it() -> None:
    reasoner = scripted(says("A"))
    graph = InMemoryGraph([make_video(["a person walks left"])])

    answer = answer_question(QUESTION, graph, models(reasoner))

    assert answer.finish_reason == "answered"
    assert "a person walks left" in reasoner.asked("answer")[0].text


def test_ours_stops_at_depth_one_when_samples_agree() -> None:
    reasoner = scripted(says("A", "the same thought"))

    answer = answer_question(QUESTION, long_street(), models(reasoner), settings=OURS)

    assert paths(answer, "SA") == ["SA"]
    assert answer.finish_reason == "answered"


def test_two_samples_with_the_same_words_are_no_consensus_of_eight() -> None:
    """Eq. 6 scores them 0.3 * 2/8 + 0.7 = 0.775, over the gate."""
    replies = [says("A", "copied"), says("A", "copied"), *(says("BC"[n % 2], f"t{n}") for n in range(6))]
    reasoner = scripted(lambda request: replies[: request.n])
    once = changed(OURS, early_majority=False, max_depth=2)

    answer = answer_question(QUESTION, long_street(), models(reasoner), settings=once)

    assert len(paths(answer, "SA")) > 1


def test_a_certain_majority_spares_the_remaining_samples() -> None:
    reasoner = scripted(says("A", "the same thought"))

    answer_question(QUESTION, long_street(), models(reasoner), settings=OURS)

    assert [request.n for request in reasoner.asked("answer")] == [5]


def test_split_samples_are_all_drawn() -> None:
    reasoner = disagreeing()

    answer_question(QUESTION, long_street(), models(reasoner), settings=changed(OURS, max_depth=1))

    assert [request.n for request in reasoner.asked("answer")] == [5, 3]


def test_ours_expands_while_samples_disagree_up_to_its_width_and_depth() -> None:
    answer = answer_question(
        QUESTION, long_street(), models(disagreeing()), settings=changed(OURS, level_width=2, max_depth=3)
    )

    assert Counter(path.count("/") + 1 for path in paths(answer, "SA")) == {1: 1, 2: 2, 3: 2}


def test_equal_event_sets_are_answered_once_in_ours_and_each_time_in_paper() -> None:
    # Two events: every F and B leads back to the same list.
    graph = InMemoryGraph([make_video(["a person walks left", "a person walks right"])])
    ours, paper = disagreeing(), disagreeing()

    answer = answer_question(QUESTION, graph, models(ours), settings=changed(OURS, level_width=6, sa_ratio=1.0))
    answer_question(QUESTION, graph, models(paper), settings=PAPER)

    answered = [node for node in answer.nodes if node.action == "SA" and not node.reused_from]
    assert len(answered) == 1
    reused = [node for node in answer.nodes if node.reused_from]
    assert reused
    assert {node.reused_from for node in reused} == {"SA"}
    assert sum(node.prompt_tokens for node in reused) == 0
    assert len(paper.asked("answer")) == 13


def test_all_answers_of_a_level_are_in_flight_together() -> None:
    """Each of the nine answers of depth 3 waits until all nine are in flight: sequential calls would never end."""
    barrier = threading.Barrier(9)
    counts: Counter[str] = Counter()
    lock = threading.Lock()

    def answers(request: Request) -> Any:
        with lock:
            counts["asked"] += 1
            third_level = counts["asked"] > 4
        if third_level:
            barrier.wait(timeout=30)
        return says("A")

    answer = answer_question(QUESTION, long_street(), models(scripted(answers)), settings=PAPER)

    assert len(paths(answer, "SA")) == 13
    assert not barrier.broken


@pytest.mark.parametrize(
    ("settings", "fields", "sub_query"),
    [
        (PAPER, {"keywords"}, "car colour"),
        (
            changed(OURS, gate=1.1, level_width=None, reuse=False),
            {"missing", "sub_query", *QUERIES},
            "what colour is the car",
        ),
    ],
    ids=["keywords alone, as in the paper", "a query per view"],
)
def test_a_requery_searches_for_what_is_missing_and_the_answer_prompt_names_it(
    settings: SearchSettings, fields: set[str], sub_query: str
) -> None:
    reasoner = scripted(lambda request: says("AB"[request.n % 2]))

    answer = answer_question(QUESTION, street(), models(reasoner), settings=changed(settings, max_depth=2))

    assert {frozenset(request.schema["properties"]) for request in reasoner.asked("requery")} == {frozenset(fields)}
    node = next(node for node in answer.nodes if node.path == "RQ/SA")
    assert node.sub_queries == (sub_query,)
    assert any(sub_query in request.text for request in reasoner.asked("answer"))


def test_a_requery_reads_all_events_in_brief() -> None:
    long = ["a person " + f"walks past window {n}, " * 200 for n in range(16)]
    reasoner = scripted(says("A"))

    settings = changed(OURS, requery_tokens=1_600, adaptive=False)
    answer_question(QUESTION, InMemoryGraph([make_video(long)]), models(reasoner), settings=settings)

    asked = reasoner.asked("requery")
    assert asked
    assert all(request.text.count("a person walks past window") >= 8 for request in asked)
    assert all(len(request.text.split()) < 1_600 + 200 for request in asked)


def test_events_found_again_by_a_requery_gain_score() -> None:
    answer = answer_question(QUESTION, street(), models(scripted(says("A"))), settings=changed(PAPER, max_depth=2))

    before = {event.event_id: event.score for event in next(n for n in answer.nodes if n.path == "").events}
    after = {event.event_id: event.score for event in next(n for n in answer.nodes if n.path == "RQ").events}
    raised = [event for event in before if after.get(event, 0.0) > before[event]]
    assert raised


def test_ours_follows_shared_entities_and_shows_the_graphs_facts() -> None:
    """Our presets also follow shared entities: event 5 shares no word with the question, only an entity with event
    4."""
    world: dict[str, Any] = {"entities": {"owner": [4, 5]}}
    question = QuestionInput("Where does the dog run?", ("street", "roof"))
    ours, paper = scripted(says("A", "same")), scripted(says("A", "same"))
    graph = InMemoryGraph([make_video(["sunny"] * 4 + ["dog run", "meeting outside"] + ["rainy"] * 4, **world)])
    plain = changed(settings_for("low", UNMEASURED), sa_ratio=1.0)
    plain = replace(plain, retrieval=replace(plain.retrieval, context=0.0))

    answer_question(question, graph, models(ours), settings=plain)
    flat = replace(plain, retrieval=replace(plain.retrieval, graph_events=0))
    answer_question(question, graph, models(paper), settings=flat)

    assert "meeting outside" in ours.asked("answer")[0].text
    assert "Facts: owner (person), participant" in ours.asked("answer")[0].text
    assert "meeting outside" not in paper.asked("answer")[0].text


def test_the_same_seed_asks_the_same_and_another_asks_otherwise() -> None:
    def seeds(seed: int) -> list[int]:
        reasoner = scripted(says("A", "same"))
        answer_question(replace(QUESTION, seed=seed), street(), models(reasoner), settings=PAPER)
        return sorted(request.seed or 0 for request in reasoner.requests)

    assert seeds(1) == seeds(1)
    assert not set(seeds(1)) & set(seeds(2))


# --- which action is taken, and when sampling stops -----------------------------------------------------------------


def plan_of(state: State, action: str, *numbers: int, gain: float = 0.0) -> ActionPlan:
    child = None if action == "RQ" else State(action, state_of(*numbers).events)
    return ActionPlan(state, action, gain, child)


def test_actions_go_by_what_they_add_to_those_already_chosen() -> None:
    """F and B both bring events 3 and 4: after the one, the other adds only event 5, less than the re-query."""
    state = state_of(1, 2)
    shown = {event_id(1), event_id(2)}
    forward, backward = plan_of(state, "F", 3, 4, 6), plan_of(state, "B", 3, 4, 5)
    requery = plan_of(state, "RQ", gain=1.5)

    chosen = most_informative([backward, requery, forward], shown, 2)

    assert [plan.action for plan in chosen] == ["B", "RQ"]
    assert [plan.action for plan in most_informative([backward, requery, forward], shown, 3)] == ["B", "RQ", "F"]


def test_an_action_that_adds_nothing_is_not_taken() -> None:
    state = state_of(1, 2)
    shown = {event_id(n) for n in (1, 2, 3)}

    assert most_informative([plan_of(state, "F", 2, 3)], shown, 5) == []


def test_the_tree_ends_where_no_action_adds_anything() -> None:
    """F and B of the only event lead back to it, and a re-query is not among the actions."""
    graph = InMemoryGraph([make_video(["a person walks left"])])

    answer = answer_question(QUESTION, graph, models(disagreeing()), settings=changed(OURS, requery=False))

    assert [node.path for node in answer.nodes] == ["", "SA"]


def test_a_level_queries_again_once_per_event_set() -> None:
    """Every F and B of two events leads back to them: three states of level 2, one set, one re-query."""
    graph = InMemoryGraph([make_video(["a person walks left", "a person walks right"])])
    ours, paper = disagreeing(), disagreeing()

    answer_question(QUESTION, graph, models(ours), settings=changed(OURS, level_width=None, sa_ratio=1.0))
    answer_question(QUESTION, graph, models(paper), settings=PAPER)

    # One at level 2 and one at level 3, where the paper asks at each of the root's three children.
    assert [len(reasoner.asked("requery")) for reasoner in (ours, paper)] == [2, 4]


def test_questions_on_the_same_events_share_their_prompt_up_to_the_question() -> None:
    """A server with a prefix cache reads rules and events once."""
    prompts = []
    for words in ("Which way does the person walk?", "Where does the person walk to?"):
        reasoner = scripted(says("A", "same"))
        graph = InMemoryGraph([make_video([f"a person walks along street {n}" for n in range(3)])])
        question = replace(QUESTION, question=words, effort="low")
        answer_question(question, graph, models(reasoner))
        prompts.append(reasoner.asked("answer")[0].text)

    left, right = (prompt.split("Question: ")[0] for prompt in prompts)
    assert left == right
    assert "E3 " in left


@pytest.mark.parametrize(
    ("letters", "requests"),
    [
        ("AAAAA", [5]),
        ("AAAAB" + "A", [5, 1]),
        ("AAAAB" + "B" + "A", [5, 1, 1]),
        ("AAABB" + "AA", [5, 2]),
        ("AAABB" + "BA" + "C", [5, 2, 1]),
        ("AABBC" + "ABC", [5, 3]),
        ("AAAA?", [5]),
        ("AAA??" + "A?", [5, 2]),
    ],
)
def test_sampling_stops_when_the_rest_cannot_change_who_leads(letters: str, requests: list[int]) -> None:
    drawn = iter(letters)

    def answers(request: Request) -> Any:
        return ["nonsense" if one == "?" else says(one, "t") for one in (next(drawn) for _ in range(request.n))]

    reasoner = scripted(answers)
    answer_question(QUESTION, long_street(), models(reasoner), settings=changed(OURS, max_depth=1))

    assert [request.n for request in reasoner.asked("answer")] == requests
    assert next(drawn, None) is None
    assert len({request.seed for request in reasoner.asked("answer")}) == len(requests)


def test_the_paper_draws_all_samples_at_once() -> None:
    reasoner = scripted(says("A", "same"))

    answer_question(QUESTION, long_street(), models(reasoner), settings=changed(PAPER, max_depth=1))

    assert [request.n for request in reasoner.asked("answer")] == [8]


# --- reports during the search ---------------------------------------------------------------------------------------


def test_the_best_answer_so_far_is_reported_after_each_level() -> None:
    partials: list[PartialAnswer] = []

    def better_with_more(request: Request) -> Any:
        if "what colour" in request.text:
            return says("B", "all of one mind")
        return [says("A", "one two"), says("A", "one three"), says("C", "four")] + [
            says("C", f"x{n}") for n in range(5)
        ]

    settings = changed(OURS, max_depth=2, level_width=None, early_majority=False)
    answer_question(
        QUESTION, long_street(), models(scripted(better_with_more)), settings=settings, on_partial=partials.append
    )

    assert [(partial.level, partial.path, partial.text, partial.choice) for partial in partials] == [
        (1, "SA", "left", 0),
        (2, "RQ/SA", "right", 1),
    ]
    assert partials[0].score == pytest.approx(0.3 * 2 / 8 + 0.7 * 0.5)
    assert partials[1].score == pytest.approx(1.0)


def test_nothing_is_reported_while_there_is_no_answer() -> None:
    partials: list[PartialAnswer] = []

    answer_question(
        QUESTION, long_street(), models(scripted(says("insufficient"))), settings=OURS, on_partial=partials.append
    )

    assert partials == []
