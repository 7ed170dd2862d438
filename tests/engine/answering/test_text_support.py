"""Whether a text supports a claim: pairs by hand, by words and with the real embedder."""

from __future__ import annotations

import pytest

from gpu_workers.engine.answering.ending.text_support import added_words, best_sentence, text_verdict
from gpu_workers.engine.answering.words import content_words, counted, negated_words, opposed, places, swapped
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import SAME_SENSE
from gpu_workers.engine.models.local.encoders import MiniLMTextEmbedder
from gpu_workers.engine.models.roles import Meter


def verdict(claim: str, passage: str, question: str = "", closeness: float = 0.0) -> str:
    quote = best_sentence(passage, f"{question} {claim}")
    return text_verdict(claim, passage, quote, closeness, question=question, sense=0.75)


@pytest.mark.parametrize(
    ("claim", "passage", "status"),
    [
        # Negation holds for what it denies, not for the whole sentence.
        ("The dog does not run across the street.", "A dog runs across the street.", "contradicted"),
        ("The dog does not bark but runs.", "A dog runs across the street.", "unverified"),
        ("Nobody enters the house.", "A man enters the house.", "contradicted"),
        ("No one enters the house.", "Nobody enters the house all day.", "supported"),
        ("The man carries a bag.", "A man walks without a bag.", "contradicted"),
        ("The man carries no bag.", "A man walks without a bag.", "supported"),
        ("Not only the dog runs.", "A dog runs.", "supported"),
        # Counts.
        ("2 people talk near the shop", "Two people in grey talk near the shop.", "supported"),
        ("Two people talk near the shop.", "Three people talk near the shop.", "contradicted"),
        ("Two people talk.", "Three people come. Later two people talk.", "supported"),
        ("Three dogs run.", "A dog runs.", "unverified"),
        ("One dog sleeps.", "A dog sleeps.", "supported"),
        ("A dozen sheep graze.", "12 sheep graze on a hill.", "supported"),
        # Opposites, directions, colours.
        ("The man opens the door.", "The man closes the door.", "contradicted"),
        ("The man opens the door.", "The man opens the door and closes it again.", "supported"),
        ("A woman opens the door.", "A man opens the door.", "contradicted"),
        ("The woman goes to the left.", "A woman goes right. A man goes left.", "supported"),
        ("a blue car", "A red car waits.", "unverified"),
        # Words that only look like opposites.
        ("The dog runs after the ball.", "Before the game a dog runs to fetch the ball.", "supported"),
        ("The light on the desk flickers.", "A man takes off his hat. A light on the desk flickers.", "supported"),
        # Inflection.
        ("The cars have stopped.", "Several cars stop at the light.", "supported"),
        ("A child is running.", "Children run over the grass.", "supported"),
        ("", "A dog runs.", "unverified"),
    ],
)
def test_words_alone(claim: str, passage: str, status: str) -> None:
    assert verdict(claim, passage) == status


@pytest.mark.parametrize(
    ("question", "claim", "passage", "status"),
    [
        ("Does a man enter the house?", "Yes.", "A man enters the house.", "supported"),
        ("Does a man enter the house?", "No.", "A man enters the house.", "contradicted"),
        ("Does a man enter the house?", "No", "No man enters the house.", "supported"),
        ("Does a man enter the house?", "Yes", "A dog sleeps on the lawn.", "unverified"),
        ("Does a man enter the house?", "No", "A dog sleeps on the lawn.", "unverified"),
        ("Is the car blue?", "No, the car is red.", "A red car waits.", "supported"),
        ("How many dogs are there?", "3", "Three dogs run across the lawn.", "supported"),
        ("How many dogs are there?", "Two", "Three dogs run across the lawn.", "contradicted"),
        ("How many dogs run?", "two", "A cat sleeps.", "unverified"),
        ("When is nothing left to be seen?", "00:39", "From 00:36 to 00:39: one bottle in view.", "unverified"),
        ("Which number is on the bus?", "42", "A bus with the number 42 stops.", "supported"),
    ],
)
def test_a_bare_reply_is_read_with_its_question(question: str, claim: str, passage: str, status: str) -> None:
    assert verdict(claim, passage, question) == status


def test_a_bare_reply_is_never_borne_out_by_closeness() -> None:
    """A question is as close to a passage whether it is answered with yes or no."""
    assert verdict("No.", "A chef cuts onions.", "Is anyone cooking?", closeness=0.99) == "unverified"
    assert verdict("Yes.", "A chef cuts onions.", "Is anyone cooking?", closeness=0.99) == "unverified"


def test_words_that_both_have_bear_out_nothing_else() -> None:
    claim, passage = "A bottle is put back.", "One bottle is in view. The bottle is standing still."
    quote = best_sentence(passage, claim)

    assert added_words(claim, passage) == "put back"
    assert text_verdict(claim, passage, quote, 0.65, sense=0.42, added=0.08) == "unverified"
    assert text_verdict(claim, passage, quote, 0.65, sense=0.42, added=0.44) == "supported"
    assert added_words("A bottle is put back.", "A hand puts a bottle back.") == ""
    assert added_words("A person is cooking.", "A chef chops onions on a wooden board.") == ""


PAIRS = (
    ("a tennis ball", "Two dogs chase a tennis ball across a lawn.", True),
    ("a boat", "Two dogs chase a tennis ball across a lawn.", False),
    ("a cat", "Two dogs chase a tennis ball across a lawn.", False),
    ("He leaves the house.", "A man walks out of a house and closes the door.", True),
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


def test_paraphrases_are_borne_out_by_sense_and_nothing_else_is() -> None:
    embedder = MiniLMTextEmbedder(weights.fetch("all-minilm-l6-v2"))
    sense = SAME_SENSE[embedder.name].value
    rows = embedder.embed([text for claim, passage, _ in PAIRS for text in (claim, passage)], meter=Meter())

    wrong = []
    for place, (claim, passage, bears_out) in enumerate(PAIRS):
        closeness = float(rows[2 * place] @ rows[2 * place + 1])
        more = added_words(claim, passage)
        added = float(embedder.embed([more], meter=Meter())[0] @ rows[2 * place + 1]) if more else None
        status = text_verdict(claim, passage, best_sentence(passage, claim), closeness, sense=sense, added=added)
        if (status == "supported") != bears_out:
            wrong.append((claim, round(closeness, 2), status))
    assert wrong == []


def test_words_without_their_endings() -> None:
    assert content_words("The dogs chased two cars; it stopped.") == {"dog", "chas", "2", "car", "stop"}
    assert content_words("A dog chases, a car stopping") == {"dog", "chas", "car", "stop"}
    assert content_words("grass, bus, red, speed, string") == {"gras", "bus", "red", "speed", "string"}


def test_what_is_denied_ends_with_its_clause() -> None:
    assert negated_words("He does not run, and the dog barks") == {"run"}
    assert negated_words("There's no one in the room but the cat") == {"room"}
    assert negated_words("the man walks") == set()


def test_what_is_counted() -> None:
    assert counted("two black dogs in the garden and 3 cats") == {"black": {"2"}, "dog": {"2"}, "cat": {"3"}}


def test_which_one_of_several_is_meant() -> None:
    assert places("What is the first person wearing?") == {"first"}
    assert places("the last two cars and the final scene") == {"last"}
    assert places("After the second delivery, who comes third?") == {"second"}
    for text in (
        "the last ten minutes",
        "the first 20 seconds",
        "at first sight",
        "At last he comes",
        "a second later",
    ):
        assert places(text) == set(), text
    assert places("Die first Person", "de") == set()


def test_opposites_are_opposed_unless_both_sides_are_named() -> None:
    assert opposed("he opens it", "it was closed")
    assert not opposed("he opens it and closes it", "it was closed")
    assert not opposed("he runs", "it was closed")
    assert opposed("up there", "down there")
    assert not opposed("up there", "down there", strictly=True)


def test_who_did_it_to_whom() -> None:
    assert swapped("the dog follows the man", "the man follows the dog")
    assert not swapped("the dog follows the man", "the man is followed by the dog")
    assert not swapped("a dog and a cat", "a cat and a dog")
    assert not swapped("the man is near the car", "the car is near the man")
    assert not swapped("the dog follows the man", "the dog follows the cat")
