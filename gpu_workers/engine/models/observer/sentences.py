"""Measured facts as plain English: the same facts always give the same words, in a stable order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from gpu_workers.engine.models.observer.categories import ANIMALS, VEHICLES
from gpu_workers.engine.models.observer.measured import MeasuredChunk, MeasuredObject

GUESS = "The picture resembles"
"""First words of a sentence that names what a classifier of scenes takes a picture for."""
GUESSES = re.compile(rf"{GUESS} [^.]*\.\s*")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PLURALS = {
    "person": "people",
    "bus": "buses",
    "sheep": "sheep",
    "knife": "knives",
    "bench": "benches",
    "couch": "couches",
}


def number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


def called(category: str) -> str:
    """Return the word for a category. The detector's label for trucks also covers vans: it has no other."""
    return "van or truck" if category == "truck" else category


def plural(category: str) -> str:
    if category == "truck":
        return "vans or trucks"
    if category in _PLURALS:
        return _PLURALS[category]
    head, _, tail = category.partition(" of ")
    return (
        f"{head if head.endswith('s') else head + 's'} of {tail}"
        if tail
        else category + ("es" if category[-1] in "sx" else "s")
    )


def noun(category: str, colour: str, n: int = 1) -> str:
    """Return words such as "a person in black", "two white cars", "an umbrella"."""
    word = called(category) if n == 1 else plural(category)
    if category == "person":
        clothes = "dark clothes" if colour == "dark" else colour
        phrase = f"{word} in {clothes}" if colour else word
    else:
        phrase = f"{colour} {word}" if colour else word
    if n > 1:
        return f"{number(n)} {phrase}"
    return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"


def noun_of_group(category: str, colour: str, n: int, most: int) -> str:
    """Return words as noun() does, or "white cars (about three in all)" if a text says that at most `most` of the
    category are there at once: an unmarked larger number would contradict it."""
    if n > 1 and n > most:
        phrase = noun(category, colour, n).removeprefix(f"{number(n)} ")
        return f"{phrase} (about {number(n)} in all)"
    return noun(category, colour, n)


def room_of(named: Counter[str], most: Mapping[str, int]) -> dict[str, int]:
    """Return by category how large a group may be named without a mark: none if all groups of the category together
    are more than are there at once. named: number of things in all groups. most: maximum at once."""
    return {category: most.get(category, n) if n <= most.get(category, n) else 1 for category, n in named.items()}


def counted(category: str, distinct: int, most: int) -> str:
    """Return words such as "three people", or "at most eight people at once (about 12 in all)" if there were more
    tracks than objects at once. The maximum at once is reliable. The total is not, since a track breaks when
    its object is hidden."""
    if most < distinct:
        word = called(category) if most == 1 else plural(category)
        return f"at most {number(most)} {word} at once (about {number(distinct)} in all)"
    return f"{number(distinct)} {called(category) if distinct == 1 else plural(category)}"


def verb(motion: str, n: int) -> str:
    """Return a verb in third person singular, changed to agree with n things."""
    if n == 1:
        return motion
    if motion.startswith("is "):
        return f"are {motion.removeprefix('is ')}"
    first, _, rest = motion.partition(" ")
    bare = first[:-1] if first.endswith("s") else first
    return f"{bare} {rest}".strip()


def listing(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def rank(category: str) -> int:
    return 0 if category == "person" else 1 if category in ANIMALS else 2 if category in VEHICLES else 3


def describe(chunk: MeasuredChunk) -> str:
    """Return the richest true sentences that the measurements allow."""
    if chunk.brightness == "black":
        sentences = ["The picture is black."]
    else:
        most = {category: count.most for category, count in chunk.counts.items()}
        sentences = [*_counted(chunk), *_doing(chunk.objects, most), *_passing(chunk.objects, most)]
        if not chunk.objects:
            sentences.append("No person, animal or vehicle is detected.")
        if chunk.cuts:
            sentences.append("The picture cuts to another view.")
        if chunk.camera_moves:
            sentences.append("The camera moves.")
        elif chunk.motion_level == "none" and all(_calm(o.motion) for o in chunk.objects):
            sentences.append("Nothing moves.")
        if chunk.brightness == "dark":
            sentences.append("The picture is dark.")
        sentences += scene_sentences([tag for tag, _ in chunk.scene])
    shown = [f"The on-screen clock reads {chunk.clock}."] if chunk.clock else []
    return " ".join([*sentences, *shown, *heard_and_read(chunk.text, chunk.speech)])


def scene_sentences(tags: Sequence[str]) -> list[str]:
    return [f"{GUESS} {listing([_a(tag) for tag in tags])}."] if tags else []


def heard_and_read(texts: Sequence[str], speech: str) -> list[str]:
    shown = [f'"{text}"' for text in texts[:12]]
    sentences = [f"On-screen text: {', '.join(shown)}."] if shown else []
    return sentences + ([f'Speech: "{speech}"'] if speech else [])


def _a(word: str) -> str:
    return f"{'an' if word[0].lower() in 'aeiou' else 'a'} {word}"


def _counted(chunk: MeasuredChunk) -> list[str]:
    counts = sorted(chunk.counts.items(), key=lambda item: (rank(item[0]), -item[1].distinct, item[0]))
    if not counts:
        return []
    text = listing([counted(category, count.distinct, count.most) for category, count in counts])
    single = len(counts) == 1 and counts[0][1].distinct == 1
    return [f"{text[0].upper()}{text[1:]} {'is' if single else 'are'} in view."]


def _doing(objects: Sequence[MeasuredObject], most: Mapping[str, int]) -> list[str]:
    groups = Counter((o.category, o.colour, o.motion) for o in objects)
    # The counts have already named things of unknown colour and movement.
    described = {key: n for key, n in groups.items() if key[1] or key[2]}
    order = sorted(described.items(), key=lambda item: (rank(item[0][0]), _calm(item[0][2]), item[0]))
    room = room_of(Counter(o.category for o in objects if o.colour or o.motion), most)
    clauses = [
        f"{noun_of_group(category, colour, n, room[category])} {verb(motion or 'is visible', n)}"
        for (category, colour, motion), n in order
    ]
    if not clauses:
        return []
    text = "; ".join(clauses)
    return [f"{text[0].upper()}{text[1:]}."]


def _calm(motion: str) -> int:
    return 2 if not motion else 1 if motion in {"stands", "stays in place"} else 0


def _passing(objects: Sequence[MeasuredObject], most: Mapping[str, int]) -> list[str]:
    sentences = []
    came = Counter((o.category, o.colour, o.entered) for o in objects if o.entered)
    went = Counter((o.category, o.colour, o.left) for o in objects if o.left)
    for groups, singular, word in ((came, "enters", "from"), (went, "leaves", "at")):
        for (category, colour, border), n in sorted(groups.items(), key=lambda item: (rank(item[0][0]), item[0])):
            who = noun_of_group(category, colour, n, most.get(category, n))
            sentences.append(f"{who[0].upper()}{who[1:]} {verb(singular, n)} {word} the {border}.")
    return sentences
