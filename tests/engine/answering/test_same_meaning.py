"""Open answers are one answer when they mean the same: pairs by hand, measured with the real similarity."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_workers.engine.answering.parsing import ParsedAnswer
from gpu_workers.engine.answering.presets import SampleSettings
from gpu_workers.engine.answering.search.consistency import group_answers, score_votes
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import EMBEDDED_SIMILARITY, SIMILARITIES, Fit
from gpu_workers.engine.models.local.similarity import MINILM_BASELINE, BertScoreSimilarity
from gpu_workers.engine.models.roles import Meter

THRESHOLDS = SIMILARITIES[EMBEDDED_SIMILARITY]

SAME = (
    ("A man in a black coat walks to the left.", "The man wearing a black coat walks left."),
    ("Two people are talking near the shop.", "Near the shop, 2 people have a conversation."),
    ("A dog chases a ball across the street.", "The dog runs after a ball over the street."),
    ("The person enters the building.", "Someone goes into the building."),
    ("He pours milk into a bowl.", "Milk is poured into the bowl by him."),
    ("The giraffe eats leaves from a tree.", "A giraffe is feeding on tree leaves."),
    ("The light turns green and cars start moving.", "Cars begin to drive when the light becomes green."),
    ("The bird lands on the fence.", "A bird comes down on the fence."),
    ("The child is crying because it fell.", "The kid cries after falling down."),
    ("It is a cat.", "A cat."),
    ("The kitchen", "In the kitchen."),
)
# Paraphrases that share too few words for this similarity: they cost a vote.
MISSED = (
    ("A woman picks up a bag and leaves.", "She takes her bag and walks away."),
    ("They are playing football.", "They play a game of soccer."),
    ("The car stops at the crossing.", "The vehicle comes to a halt at the crosswalk."),
    ("A cyclist rides past the parked van.", "Someone on a bicycle passes the parked van."),
)
OTHER = (
    ("A man in a black coat walks to the left.", "A man in a black coat sits on a bench."),
    ("Two people are talking near the shop.", "Two people are fighting near the shop."),
    ("Two people are talking near the shop.", "Three people are talking near the shop."),
    ("A dog chases a ball across the street.", "A dog sleeps on the street."),
    ("The car stops at the crossing.", "The car speeds through the crossing."),
    ("The car stops at the crossing.", "The car does not stop at the crossing."),
    ("A woman picks up a bag and leaves.", "A woman puts down a bag and stays."),
    ("The person enters the building.", "The person leaves the building."),
    ("He pours milk into a bowl.", "He pours water into a glass."),
    ("A cyclist rides past the parked van.", "A cyclist crashes into the parked van."),
    ("The light turns green and cars start moving.", "The light turns red and cars stop."),
    ("It is a cat.", "It is a dog."),
    ("They are playing football.", "They are playing chess."),
    ("The bird lands on the fence.", "The bird flies off the fence."),
    ("The child is crying because it fell.", "The child is laughing because it won."),
    ("The kitchen", "The garden"),
    ("A man opens the door.", "A woman opens the door."),
    ("The man carries a bag.", "The man carries an umbrella."),
    ("The bus arrives before the train.", "The train arrives before the bus."),
    ("The dog follows the man.", "The man follows the dog."),
    ("A person repairs a bicycle.", "A person rides a bicycle."),
    ("He puts the knife on the table.", "He puts the fork on the table."),
    ("He turns the light on.", "He turns the light off."),
    ("The door is open.", "The door is closed."),
    ("The man walks to the left side.", "The man walks to the right side."),
    ("It is red.", "It is blue."),
    ("He goes up the stairs.", "He goes down the stairs."),
)


@pytest.fixture(scope="module")
def similarity() -> BertScoreSimilarity:
    folder = weights.fetch("all-minilm-l6-v2")
    return BertScoreSimilarity(folder, num_layers=6, baseline=MINILM_BASELINE, name=EMBEDDED_SIMILARITY)


def say(text: str, reasoning: str = "seen") -> ParsedAnswer:
    return ParsedAnswer(text, None, True, reasoning)


def one_answer(similarity: BertScoreSimilarity, pair: tuple[str, str]) -> bool:
    return len(group_answers([say(text) for text in pair], similarity, THRESHOLDS, Meter())) == 1


def test_paraphrases_are_one_answer(similarity: BertScoreSimilarity) -> None:
    assert [pair for pair in SAME if not one_answer(similarity, pair)] == []


def test_answers_that_differ_are_never_one(similarity: BertScoreSimilarity) -> None:
    assert [pair for pair in OTHER if one_answer(similarity, pair)] == []


def test_what_is_missed_is_known(similarity: BertScoreSimilarity) -> None:
    """If a better similarity finds these pairs, the threshold must be fitted again."""
    assert [pair for pair in MISSED if one_answer(similarity, pair)] == []


def test_a_majority_by_meaning_wins_over_more_alike_words(similarity: BertScoreSimilarity) -> None:
    samples = [
        say("The person enters the building.", "E1 shows a person at the door going in"),
        say("Someone goes into the building.", "E1 shows someone at the door going in"),
        say("The person leaves the building.", "E2 shows a person at the gate"),
    ]

    best = score_votes(samples, similarity, thresholds=THRESHOLDS, meter=Meter())[0]

    assert best.members == (0, 1)


def test_the_threshold_decides_which_answers_are_one(similarity: BertScoreSimilarity) -> None:
    loose = replace(THRESHOLDS, same_meaning=Fit(-1.0))

    rivals = [say("a cat"), say("the small dog")]

    assert len(group_answers(rivals, similarity, loose, Meter())) == 1
    assert len(group_answers(rivals, similarity, THRESHOLDS, Meter())) == 2


PARTS = (
    (
        "People walk across the square, a bus passes and two dogs play near the fountain.",
        "Pedestrians cross the square while dogs play by the fountain and cyclists ride past.",
    ),
    (
        "The video shows giraffes drinking at a waterhole, zebras grazing and a lion resting.",
        "Animals gather at the waterhole: zebras, giraffes and elephants drink one after another.",
    ),
)
SCENES = (
    (
        "People walk across the square, a bus passes and two dogs play near the fountain.",
        "A man cooks pasta, washes the dishes and cleans the table.",
    ),
    (
        "A man repairs the engine of a car in a garage and then drives away.",
        "A man paints the walls of a room in a house and then drives away.",
    ),
)


# Draws of a small reasoner to "What do the people in this video do?" and "Which things can be seen?", and their kind.
LISTS = (
    (
        "The people in the video walk, stand, and leave the scene.",
        "The people in this video are walking, standing, and standing still, as well as the movement of vehicles.",
    ),
    ("People walk, stand, and enter/leave the video.", "People are walking, standing, and sometimes leaving."),
    ("walk, stand, interact", "The people stand, walk and move vehicles."),
    ("cars, people and a dog", "A dog, people and a van"),
    ("Autos, Räder und ein Hund", "Ein Hund, Räder und ein Zug"),
)
RIVAL_LISTS = (
    ("The stripes are red, white and blue.", "The stripes are red, white and green."),
    ("Anna, Bob and Carl", "Dora, Emil and Fritz"),
    ("A man and a dog", "A man and a cat"),
    ("Two dogs, a cat and a bird", "Three dogs, a cat and a bird"),
    ("They walk, stand and talk.", "They do not walk, stand or talk."),
    ("He opens the door, takes the bag and enters.", "He opens the door, takes the bag and leaves."),
    ("A man opens a car, sits down and drives away.", "A woman closes a shop, gets up and walks away."),
)


def parts_of_one(similarity: BertScoreSimilarity, pair: tuple[str, str]) -> bool:
    return len(group_answers([say(text) for text in pair], similarity, THRESHOLDS, Meter(), compatible=True)) == 1


def test_parts_of_a_broad_answer_hold_together_and_rivals_do_not(similarity: BertScoreSimilarity) -> None:
    assert [pair for pair in PARTS if not parts_of_one(similarity, pair)] == []
    assert [pair for pair in SCENES if parts_of_one(similarity, pair)] == []
    short = [pair for pair in OTHER if max(len(text.split()) for text in pair) < 8]
    assert len(short) > 8
    assert [pair for pair in short if parts_of_one(similarity, pair)] == []


def test_lists_that_share_items_hold_together_and_rival_lists_do_not(similarity: BertScoreSimilarity) -> None:
    german = ("Autos", "Ein Hund")

    def together(pair: tuple[str, str]) -> bool:
        answers = [replace(say(text), language="de" if text.startswith(german) else "en") for text in pair]
        question = "What do the people in this video do?" if "walk" in pair[0] else "Which things can be seen?"
        groups = group_answers(answers, similarity, THRESHOLDS, Meter(), question, compatible=True)
        return len(groups) == 1

    assert [pair for pair in LISTS if not together(pair)] == []
    assert [pair for pair in RIVAL_LISTS if together(pair)] == []


def test_drawn_lists_of_what_people_do_are_an_answer(similarity: BertScoreSimilarity) -> None:
    """Two draws of three name the same things to do, and none repeats another: it is an answer, not a tie of three."""
    samples = [
        say("People walk, stand, and enter/leave the video.", "They include walking, standing, and entering/leaving."),
        say(
            "People are walking, standing, and sometimes leaving the camera.", "People are walking, standing, leaving."
        ),
        say("The people in this video walk in black, right, left.", "Eight people walk in black, six people right."),
    ]

    best = score_votes(samples, similarity, thresholds=THRESHOLDS, meter=Meter(), question="What do the people do?")[0]

    assert best.members == (0, 1)
    assert best.score >= SampleSettings(n=3).lowest_answer


def test_parts_count_less_than_agreement(similarity: BertScoreSimilarity) -> None:
    [vote] = score_votes([say(text, "the same") for text in PARTS[0]], similarity, thresholds=THRESHOLDS, meter=Meter())

    # S is 0.3 + 0.7 for two equal traces.
    assert vote.score == pytest.approx(0.6, abs=0.001)
