"""Thought consistency by hand (AVA, eq. 4 to 6)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from gpu_workers.engine.answering.ending.vote import Signals, confidence
from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.search.consistency import Scoring, score_votes
from gpu_workers.engine.models.calibration import UNMEASURED, Coefficients, Fit
from gpu_workers.engine.models.roles import Meter
from tests.engine.answering.world import EMBEDDED, ScriptedSimilarity

scored = partial(score_votes, thresholds=UNMEASURED.thresholds, meter=Meter())

CHOICES = ("left", "right", "up")


def vote(choice: int, reasoning: str) -> ParsedAnswer:
    return ParsedAnswer(CHOICES[choice], choice, True, reasoning)


def say(text: str, reasoning: str = "seen in one event") -> ParsedAnswer:
    return ParsedAnswer(text, None, True, reasoning)


def test_scores_by_hand() -> None:
    # F1 of shared words: (a b, a c) 0.5, (a b, a b) 1, (a c, a b) 0.5: mean 2/3.
    samples = [vote(0, "a b"), vote(0, "a c"), vote(0, "a b"), vote(1, "x y")]

    best, other = scored(samples, ScriptedSimilarity())

    assert best.members == (0, 1, 2)
    assert (best.agreement, best.thought) == pytest.approx((0.75, 2 / 3))
    assert best.score == pytest.approx(0.3 * 0.75 + 0.7 * 2 / 3)
    assert (other.agreement, other.thought) == (0.25, 0.0)
    assert other.score == pytest.approx(0.075)


def test_each_unordered_pair_is_scored_once_and_no_pair_across_answers() -> None:
    similarity = ScriptedSimilarity()

    scored([vote(0, "a"), vote(0, "b"), vote(0, "c"), vote(1, "d"), vote(1, "e")], similarity)

    assert similarity.pairs == [("a", "b"), ("a", "c"), ("b", "c"), ("d", "e")]


def test_rescaling_takes_the_baseline_off_and_clips() -> None:
    samples = [vote(0, "a b"), vote(0, "a c"), vote(1, "x"), vote(1, "y")]

    best, other = scored(samples, ScriptedSimilarity(baseline=0.25))

    assert best.thought == pytest.approx((0.5 - 0.25) / 0.75)
    assert other.thought == 0.0


def test_the_paper_compares_raw_scores() -> None:
    samples = [vote(0, "a b"), vote(0, "a c")]

    assert scored(samples, ScriptedSimilarity(0.25), scoring=Scoring(rescale=False))[0].thought == pytest.approx(0.5)


def test_two_coherent_votes_beat_three_that_reason_apart() -> None:
    samples = [vote(0, "p"), vote(0, "q"), vote(0, "r"), vote(1, "s t"), vote(1, "s t")]

    assert scored(samples, ScriptedSimilarity())[0].members == (3, 4)


def test_unreadable_samples_count_in_n_and_vote_for_nothing() -> None:
    votes = scored([None, vote(2, "a"), None, None], ScriptedSimilarity())

    assert [(item.members, item.agreement) for item in votes] == [((1,), 0.25)]
    assert scored([None, None], ScriptedSimilarity()) == []


def test_open_answers_are_grouped_by_meaning() -> None:
    samples = [say("a black dog runs away"), say("the black dog runs away"), say("two people talk")]

    votes = scored(samples, ScriptedSimilarity())

    assert sorted(item.members for item in votes) == [(0, 1), (2,)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("there are 3 cars on the street", "there are 4 cars on the street"),
        ("there are two cars on the street", "there are three cars on the street"),
        ("the man is carrying a bag", "the man is not carrying a bag"),
        ("the man walks to the left side", "the man walks to the right side"),
        ("the car on the street is red", "the car on the street is blue"),
    ],
)
def test_numbers_negation_directions_and_colours_keep_answers_apart(left: str, right: str) -> None:
    assert len(scored([say(left), say(right)], ScriptedSimilarity())) == 2


def test_an_answer_may_repeat_the_question_or_not() -> None:
    question = "Where does the person in red stand?"
    samples = [say("Near the pole."), say("The person in red stands near the pole."), say("Near the blue car.")]

    votes = scored(samples, ScriptedSimilarity(), question=question)

    assert sorted(item.members for item in votes) == [(0, 1), (2,)]
    either = [say("It is red."), say("It is blue.")]
    assert len(scored(either, ScriptedSimilarity(), question="Is it red or blue?")) == 2


def test_a_number_is_the_same_in_words_and_digits() -> None:
    samples = [say("there are two cars on the street"), say("there are 2 cars on the street")]

    assert len(scored(samples, ScriptedSimilarity())) == 1


def test_the_sample_closest_to_the_others_speaks_for_them() -> None:
    samples = [vote(0, "a z"), vote(0, "a b c"), vote(0, "a b d")]

    assert scored(samples, ScriptedSimilarity())[0].representative == 1


def test_empty_traces_agree_with_nothing() -> None:
    assert scored([vote(0, ""), vote(0, "")], ScriptedSimilarity())[0].thought == 0.0


def test_without_a_calibration_there_is_no_confidence() -> None:
    assert confidence(Signals(0.9, 0.9, 0.9), UNMEASURED) is None
    assert confidence(Signals(0.9, 0.9, 0.9, support=0.9), UNMEASURED) is None
    assert confidence(Signals(0.9, 0.9, 0.9), EMBEDDED) is None, "only support was calibrated"
    assert confidence(Signals(0.9, 0.9, 0.9), EMBEDDED, "sample") is None


def test_an_initial_curve_is_no_calibration() -> None:
    guessed = replace(UNMEASURED, confidences={"votes": Fit(Coefficients(bias=-2.8, score=3.6))})

    assert confidence(Signals(0.9, 0.9, 0.9), guessed) is None


def test_confidence_takes_agreement_claims_and_retrieval_as_they_were_fitted() -> None:
    """By hand: 1 / (1 + exp(-(-1 + 2 * 0.5 + 1 * 0.4 + 0.5 * 1))) = 1 / (1 + exp(-0.9))."""
    curve = Coefficients(bias=-1.0, score=2.0, similarity=1.0, supported=0.5, contradicted=-3.0)
    fitted = replace(UNMEASURED, confidences={"votes": Fit(curve, "answers", "command")})

    assert confidence(Signals(0.5, 0.2, 0.4, supported=1.0), fitted) == pytest.approx(0.7109, abs=0.0001)
    assert confidence(Signals(0.5, 0.2, 0.4, supported=0.0), fitted) == pytest.approx(0.5987, abs=0.0001)
    assert confidence(Signals(0.5, 0.2, 0.4, supported=0.5, contradicted=0.5), fitted) < 0.3


def test_a_contradicted_answer_is_never_sure() -> None:
    """The fitted curve does not know of contradictions and would give 0.94."""
    sure = Signals(0.9, 0.9, 0.9, support=1.0, supported=0.0, contradicted=1.0)

    assert confidence(replace(sure, contradicted=0.0), EMBEDDED) > 0.9
    assert confidence(sure, EMBEDDED) == 0.5


def test_with_support_confidence_is_what_was_fitted() -> None:
    # 1 / (1 + exp(2.88 - 5.70 * 0.5)), whatever the votes.
    assert confidence(Signals(0.5, 0.2, 0.4, support=0.5), EMBEDDED) == pytest.approx(0.4925, abs=0.0001)
    assert confidence(Signals(0.9, 0.9, 0.9, support=0.5), EMBEDDED) == pytest.approx(0.4925, abs=0.0001)
    assert confidence(Signals(0.5, 0.2, 0.4, support=0.2), EMBEDDED) < 0.2


def test_answers_that_each_describe_another_part_hold_together_but_count_less() -> None:
    seen = "cars bicycles trains dogs people houses trees birds"
    broad = [say(seen), say(seen.replace("cars bicycles trains", "buses horses boats")), None]
    (vote,) = scored(broad, ScriptedSimilarity(), thresholds=EMBEDDED.thresholds)
    assert vote.members == (0, 1)
    # (0.3 * 2/3 + 0.7 * 1.0) * 0.6 for equal traces.
    assert vote.score == pytest.approx(0.54)
