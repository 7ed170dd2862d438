"""Whether a text supports a claim: pairs by hand, by words and with the real embedder. Words never contradict."""

from __future__ import annotations

import pytest

from gpu_workers.engine.answering.ending.claims import missing_words, supports
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import SAME_SENSE
from gpu_workers.engine.models.local.encoders import MiniLMTextEmbedder
from gpu_workers.engine.models.roles import Meter


@pytest.mark.parametrize(
    ("claim", "passage", "supported"),
    [
        # Negation.
        ("The dog does not run across the street.", "A dog runs across the street.", False),
        ("Nobody enters the house.", "A man enters the house.", False),
        ("Nobody enters the house.", "Nobody enters the house all day.", True),
        ("The man carries a bag.", "A man walks without a bag.", False),
        ("A dog runs.", "A dog runs. No person is detected.", True),
        ("Not only the dog runs.", "A dog runs.", True),
        # Numbers.
        ("2 people talk near the shop", "Two people in grey talk near the shop.", True),
        ("Two people talk near the shop.", "Three people talk near the shop.", False),
        ("Two people talk.", "Three people come. Later two people talk.", True),
        ("Three dogs run.", "A dog runs.", False),
        ("One dog sleeps.", "One dog sleeps on the lawn.", True),
        # A word that the passage lacks.
        ("The man opens the door.", "The man closes the door.", False),
        ("The man opens the door.", "The man opens the door and closes it again.", True),
        ("A woman opens the door.", "A man opens the door.", False),
        ("a blue car", "A red car waits.", False),
        ("The light on the desk flickers.", "A man takes off his hat. A light on the desk flickers.", True),
        # Inflection.
        ("The cars have stopped.", "Several cars stop at the light.", True),
        ("", "A dog runs.", False),
    ],
)
def test_words_alone(claim: str, passage: str, supported: bool) -> None:
    assert supports(passage, claim, closeness=0.0, sense=0.75) == supported


@pytest.mark.parametrize(
    ("question", "claim", "passage", "supported"),
    [
        ("Does a man enter the house?", "Yes.", "A man enters the house.", True),
        ("Does a man enter the house?", "No.", "A man enters the house.", False),
        ("Does a man enter the house?", "Yes", "A dog sleeps on the lawn.", False),
        ("Is the car blue?", "No, the car is red.", "A red car waits.", True),
        ("How many dogs are there?", "3", "Three dogs run across the lawn.", True),
        ("How many dogs are there?", "Two", "Three dogs run across the lawn.", False),
        ("How many dogs run?", "two", "A cat sleeps.", False),
        ("When is nothing left to be seen?", "00:39", "From 00:36 to 00:39: one bottle in view.", False),
        ("Which number is on the bus?", "42", "A bus with the number 42 stops.", True),
    ],
)
def test_a_bare_reply_is_read_with_its_question(question: str, claim: str, passage: str, supported: bool) -> None:
    assert supports(passage, claim, closeness=0.0, sense=0.75, question=question) == supported


def test_a_bare_reply_is_never_supported_by_closeness() -> None:
    """A question is as close to a passage whether it is answered with yes or no."""
    for reply in ("No.", "Yes."):
        assert not supports("A chef cuts onions.", reply, closeness=0.99, sense=0.75, question="Is anyone cooking?")


def test_words_that_both_have_support_nothing_else() -> None:
    claim, passage = "A bottle is put back.", "One bottle is in view. The bottle is standing still."

    assert missing_words(claim, passage) == "put back"
    assert not supports(passage, claim, closeness=0.65, sense=0.42, missing=0.08)
    assert supports(passage, claim, closeness=0.65, sense=0.42, missing=0.44)
    assert missing_words(claim, "A hand puts a bottle back.") == ""
    assert missing_words("A person is cooking.", "A chef chops onions on a wooden board.") == ""


PAIRS = (
    ("a tennis ball", "Two dogs chase a tennis ball across a lawn.", True),
    ("a boat", "Two dogs chase a tennis ball across a lawn.", False),
    ("a cat", "Two dogs chase a tennis ball across a lawn.", False),
    # It shares one word of two, and "leaves" by itself is far: unverified rather than supported by what both name.
    ("He leaves the house.", "A man walks out of a house and closes the door.", False),
    ("He repairs the roof.", "A man walks out of a house and closes the door.", False),
    ("to the hospital", "A woman walks through the gate into a market with stalls.", False),
    ("A truck hits a bicycle.", "At the crossing a lorry collides with a cyclist.", True),
    ("A truck waits for a bus.", "At the crossing a lorry collides with a cyclist.", False),
    ("food", "A table with plates of pasta and salad.", True),
    ("a laptop", "A table with plates of pasta and salad.", False),
    ("an elephant", "Two zebras drink from a river at dawn.", False),
    ("A person is cooking.", "A chef chops onions on a wooden board.", True),
    ("Nobody is cooking.", "A chef chops onions on a wooden board.", False),
    ("by car", "A man rides a bicycle along the canal.", False),
    # A passage that supports its claim gets at least 0.34, another passage at most 0.33.
    ("by bike", "A man rides a bicycle along the canal.", False),
    ("It is snowing.", "Snow falls on the roofs of the village.", True),
    ("It is sunny.", "Snow falls on the roofs of the village.", False),
)


def test_paraphrases_are_supported_by_sense_and_nothing_else_is() -> None:
    embedder = MiniLMTextEmbedder(weights.fetch("all-minilm-l6-v2"))
    sense = SAME_SENSE[embedder.name].value
    rows = embedder.embed([text for claim, passage, _ in PAIRS for text in (claim, passage)], meter=Meter())

    wrong = []
    for place, (claim, passage, supported) in enumerate(PAIRS):
        closeness = float(rows[2 * place] @ rows[2 * place + 1])
        words = missing_words(claim, passage)
        missing = float(embedder.embed([words], meter=Meter())[0] @ rows[2 * place + 1]) if words else None
        if supports(passage, claim, closeness=closeness, sense=sense, missing=missing) != supported:
            wrong.append((claim, round(closeness, 2), missing))
    assert wrong == []
