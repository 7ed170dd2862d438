"""Summariser and extractor without a VLM: they aggregate measured facts and use no words of a small LLM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Chunk, EntityMention, Extraction, RelationStatement, Span
from gpu_workers.engine.models.observer.at_once import most_at_once, presence
from gpu_workers.engine.models.observer.categories import ANIMALS, VEHICLES
from gpu_workers.engine.models.observer.measured import MeasuredChunk, MeasuredObject
from gpu_workers.engine.models.observer.sentences import (
    GUESS,
    counted,
    heard_and_read,
    listing,
    noun,
    noun_of_group,
    rank,
    room_of,
    scene_sentences,
    verb,
)
from gpu_workers.engine.models.roles import Meter
from gpu_workers.engine.models.served.structured import clean

_NEAR = 1.2
"""Maximum distance of two objects near each other, in heights of the larger one."""
_MOST_RELATIONS = 24
_MOST_SENTENCES = 5
"""Maximum number of objects of an event that get a sentence each; more are described as groups. Each is an entity."""


@dataclass(frozen=True, slots=True)
class _Thing:
    """One tracked object over all chunks of an event. motions: with the start of the first chunk that shows each.
    boxes, moves: the last box and the movement by chunk."""

    track_id: int
    category: str
    colour: str
    motions: tuple[tuple[int, str], ...]
    entered: str
    left: str
    start_ms: int
    end_ms: int
    frames_ms: tuple[int, ...]
    boxes: Mapping[int, Sequence[float]]
    moves: Mapping[int, str]

    @property
    def mainly(self) -> str:
        """Return the movement that was shown for the longest time, "" if none was measured."""
        if not self.motions:
            return ""
        ends = [ms for ms, _ in self.motions[1:]] + [self.end_ms]
        lasted: Counter[str] = Counter()
        for (ms, motion), end in zip(self.motions, ends, strict=True):
            lasted[motion] += max(1, end - ms)
        return lasted.most_common(1)[0][0]

    @property
    def does(self) -> str:
        return ", then ".join(motion for _, motion in self.motions[:4])


@dataclass(frozen=True, slots=True)
class _Slice:
    """A chunk with what was measured of it."""

    chunk: Chunk
    measured: MeasuredChunk


def _slices(chunks: Sequence[Chunk]) -> list[_Slice]:
    """Return the chunks that the observer measured; those of a VLM have no facts."""
    return [_Slice(chunk, MeasuredChunk.of(chunk.facts)) for chunk in chunks if chunk.facts]


def things_of(slices: Sequence[_Slice]) -> list[_Thing]:
    """Return the distinct objects of the slices, people first, in order of appearance.

    Tracks of one number are one object; the object memory gives them their number (indexing.objects.with_objects).
    """
    sightings: dict[int, list[tuple[Chunk, MeasuredObject]]] = {}
    for part in slices:
        for measured in sorted(part.measured.objects, key=lambda thing: thing.start_ms):
            sightings.setdefault(measured.track_id, []).append((part.chunk, measured))
    things = [_thing(track_id, parts) for track_id, parts in sightings.items()]
    return sorted(things, key=lambda t: (rank(t.category), t.start_ms, t.track_id))


def _thing(track_id: int, parts: Sequence[tuple[Chunk, MeasuredObject]]) -> _Thing:
    """Return the thing that the tracks of one object show over several chunks."""
    names: Counter[str] = Counter()
    for _, measured in parts:
        names[measured.category] += len(measured.frames_ms)
    motions: list[tuple[int, str]] = []
    for chunk, measured in parts:
        if measured.motion and (not motions or motions[-1][1] != measured.motion):
            motions.append((chunk.span.start_ms, measured.motion))
    votes = Counter(measured.colour for _, measured in parts if measured.colour)
    return _Thing(
        track_id,
        names.most_common(1)[0][0],
        votes.most_common(1)[0][0] if votes else "",
        tuple(motions),
        next((measured.entered for _, measured in parts if measured.entered), ""),
        next((measured.left for _, measured in reversed(parts) if measured.left), ""),
        parts[0][1].start_ms,
        parts[-1][1].end_ms,
        tuple(ms for _, measured in parts for ms in measured.frames_ms),
        {chunk.n: measured.box for chunk, measured in parts},
        {chunk.n: measured.motion for chunk, measured in parts},
    )


class ObserverSummariser:
    """A roles.Summariser over Chunk.facts; an event of one chunk keeps its description."""

    name = "observer"

    def summarise(self, chunks: Sequence[Chunk], *, profile: str, meter: Meter) -> str:
        described = [chunk for chunk in chunks if chunk.description]
        if not described:
            gaps = sorted({chunk.gap for chunk in chunks if chunk.gap})
            return f"This part of the video could not be described ({', '.join(gaps)})." if gaps else ""
        if len(described) == 1:
            return str(described[0].description)
        if not all(chunk.facts for chunk in described):
            return " ".join(dict.fromkeys(str(chunk.description) for chunk in described))
        span = f"{clock(chunks[0].span.start_ms)} to {clock(chunks[-1].span.end_ms)}"
        slices = _slices(described)
        things = things_of(slices)
        measured = [part.measured for part in slices]
        most = _most_at_once(things)
        sentences = [f"From {span}: {_who(measured, things, most)}."]
        sentences += _what(things, most)
        moving = sum(chunk.camera_moves for chunk in measured)
        if any(chunk.cuts for chunk in measured):
            sentences.append("The picture cuts to another view.")
        if 2 * moving >= len(described):
            sentences.append("The camera moves.")
        tags = Counter(tag for chunk in measured for tag, _ in chunk.scene)
        sentences += scene_sentences([tag for tag, votes in tags.most_common(2) if 2 * votes >= len(described)])
        sentences += _clock_shown(measured)
        texts = list(dict.fromkeys(text for chunk in measured for text in chunk.text))
        lines = {(line.span.start_ms, line.text): line.text for chunk in described for line in chunk.transcript}
        sentences += heard_and_read(texts, clean(" ".join(lines.values())))
        return " ".join(sentences)


def _clock_shown(chunks: Sequence[MeasuredChunk]) -> list[str]:
    shown = [chunk.clock for chunk in chunks if chunk.clock]
    if not shown:
        return []
    if shown[0] == shown[-1]:
        return [f"The on-screen clock reads {shown[0]}."]
    return [f"The on-screen clock goes from {shown[0]} to {shown[-1]}."]


def _most_at_once(things: Sequence[_Thing]) -> dict[str, int]:
    """Return by category how many things are there at the same moment."""
    present: dict[str, list[tuple[Span, ...]]] = {}
    for thing in things:
        seen = [Span(ms, ms + 1) for ms in thing.frames_ms]
        passes = bool(thing.entered or thing.left)
        present.setdefault(thing.category, []).append(presence(thing.category, seen, passes=passes))
    return {category: len(most_at_once(spans)[0]) for category, spans in present.items()}


def _who(chunks: Sequence[MeasuredChunk], things: Sequence[_Thing], most: Mapping[str, int]) -> str:
    if all(chunk.brightness == "black" for chunk in chunks):
        return "the picture is black"
    counts = Counter(thing.category for thing in things)
    order = sorted(counts.items(), key=lambda item: (rank(item[0]), -item[1], item[0]))
    parts = [counted(category, n, most[category]) for category, n in order]
    return f"{listing(parts)} in view" if parts else "no person, animal or vehicle is detected"


def _what(things: Sequence[_Thing], most: Mapping[str, int]) -> list[str]:
    """Return what the objects do: a sentence for each of a few, or per group of a crowd; then one for all that stay."""
    sentences, calm, active = [], Counter[tuple[str, str, str]](), []
    for thing in things:
        still = all(motion in {"stands", "stays in place"} for _, motion in thing.motions)
        if still and not thing.entered and not thing.left:
            calm[(thing.category, thing.colour, thing.does)] += 1
        else:
            active.append(thing)
    crowd = len(active) > _MOST_SENTENCES
    if crowd:
        sentences += _crowd(active, most)
    for thing in [] if crowd else active:
        acts = []
        if thing.entered:
            acts.append(f"enters from the {thing.entered} at {clock(thing.start_ms)}")
        for k, (ms, motion) in enumerate(thing.motions[:4]):
            acts.append(motion if k == 0 else f"{motion} from {clock(ms)}")
        if thing.left:
            acts.append(f"leaves at the {thing.left} at {clock(thing.end_ms)}")
        who = noun(thing.category, thing.colour)
        since = "" if thing.entered else f" (from {clock(thing.start_ms)})"
        sentences.append(f"{who[0].upper()}{who[1:]}{since} {', then '.join(acts)}.")
    room = room_of(Counter(category for category, _, _ in calm.elements()), most)
    for (category, colour, does), n in sorted(calm.items(), key=lambda item: (rank(item[0][0]), item[0])):
        who = noun_of_group(category, colour, n, room[category])
        is_ = "is" if n == 1 else "are"
        doing = {"stands": f"{is_} standing", "stays in place": f"{is_} standing still"}.get(does, f"{is_} visible")
        sentences.append(f"{who[0].upper()}{who[1:]} {doing}.")
    return sentences


def _crowd(things: Sequence[_Thing], most: Mapping[str, int]) -> list[str]:
    """Return what most of a crowd do, and who comes and goes; each thing counts once, by its longest movement."""
    groups = Counter((t.category, t.colour, t.mainly) for t in things)
    order = sorted(groups.items(), key=lambda item: (rank(item[0][0]), -item[1], item[0]))
    room = room_of(Counter(thing.category for thing in things), most)
    clauses = [
        f"{noun_of_group(category, colour, n, room[category])} {verb(does or 'is visible', n)}"
        for (category, colour, does), n in order
    ]
    text = "; ".join(clauses)
    sentences = [f"{text[0].upper()}{text[1:]}."]
    for key, singular, word in (("entered", "enters", "from"), ("left", "leaves", "at")):
        passing = Counter((t.category, getattr(t, key)) for t in things if getattr(t, key))
        for (category, border), n in sorted(passing.items(), key=lambda item: (rank(item[0][0]), -item[1], item[0])):
            at = [t.start_ms if key == "entered" else t.end_ms for t in things if getattr(t, key) == border]
            who = noun_of_group(category, "", n, most[category])
            when = f"at {clock(at[0])}" if n == 1 else f"between {clock(min(at))} and {clock(max(at))}"
            sentences.append(f"{who[0].upper()}{who[1:]} {verb(singular, n)} {word} the {border} {when}.")
    return sentences


class ObserverExtractor:
    """A roles.Extractor over Chunk.facts: one entity per re-identified object, the scene, and stable on-screen text.

    Names repeat over a video ("person in black"); within one event a number distinguishes them; the plain name is an
    alias. Without facts (chunks of a VLM) the Extraction is empty.
    """

    name = "observer"

    def extract(
        self,
        summary: str,
        chunks: Sequence[Chunk],
        frames: Sequence[tuple[int, bytes]],
        *,
        profile: str,
        meter: Meter,
    ) -> Extraction:
        slices = _slices(chunks)
        things = things_of(slices)
        times = [ms for ms, _ in frames]
        names = _names(things)
        mentions = [_mention(thing, names[thing.track_id], times) for thing in things]
        relations = _relations(slices, things, names)
        scenes = Counter(tag for part in slices for tag, _ in part.measured.scene)
        for tag, votes in scenes.most_common(1):
            if 2 * votes >= len(slices) and tag not in names.values():
                share = votes / len(slices)
                text = f"{GUESS} a {tag}."
                mentions.append(EntityMention(tag, "place", text, "scene", confidence=round(0.6 * share, 2)))
                relations += [
                    RelationStatement(names[t.track_id], "enters", tag, f"enters from the {t.entered}", 0.5)
                    for t in things
                    if t.entered
                ]
        taken = {mention.name.casefold() for mention in mentions}
        texts = Counter(text for part in slices for text in dict.fromkeys(part.measured.text))
        for text, votes in texts.items():
            # A text that only one of several chunks shows is probably misread.
            if (votes > 1 or len(slices) == 1) and text.casefold() not in taken:
                taken.add(text.casefold())
                mentions.append(
                    EntityMention(text, "text", f'On-screen text "{text}".', "on-screen text", confidence=0.8)
                )
        return Extraction(tuple(mentions), tuple(relations[:_MOST_RELATIONS]))


def _names(things: Sequence[_Thing]) -> dict[int, str]:
    plain = {thing.track_id: noun(thing.category, thing.colour).split(" ", 1)[1] for thing in things}
    total, used = Counter(plain.values()), Counter[str]()
    names = {}
    for thing in things:
        name = plain[thing.track_id]
        used[name] += 1
        names[thing.track_id] = f"{name} {used[name]}" if total[name] > 1 else name
    return names


def _mention(thing: _Thing, name: str, times: Sequence[int]) -> EntityMention:
    plain = noun(thing.category, thing.colour)
    kind = (
        "person" if thing.category == "person"
        else "vehicle" if thing.category in VEHICLES
        else "animal" if thing.category in ANIMALS
        else "object"
    )  # fmt: skip
    does = thing.does or "is visible"
    bare = plain.split(" ", 1)[1]
    times_seen = f"{clock(thing.start_ms)} to {clock(thing.end_ms)}"
    return EntityMention(
        name=name,
        type=kind,
        description=f"{plain[0].upper()}{plain[1:]} that {does}, seen {times_seen}.",
        role=does,
        aliases=tuple(alias for alias in dict.fromkeys((bare, thing.category)) if alias != name),
        confidence=0.9 if len(thing.frames_ms) >= 10 else 0.7,
        frame_ms=tuple(ms for ms in times if any(abs(ms - shown_ms) <= 300 for shown_ms in thing.frames_ms)),
    )


def _relations(slices: Sequence[_Slice], things: Sequence[_Thing], names: Mapping[int, str]) -> list[RelationStatement]:
    """Return "is near" and "walks with", by boxes and movements, for pairs near each other in at least half of their
    common chunks."""
    by_distance: list[tuple[float, RelationStatement]] = []
    aspect = {part.chunk.n: part.measured.aspect for part in slices}
    for k, a in enumerate(things):
        for b in things[k + 1 :]:
            shared = sorted(set(a.boxes) & set(b.boxes))
            gaps = [(n, _distance(a.boxes[n], b.boxes[n], aspect[n])) for n in shared]
            near = [(n, gap) for n, gap in gaps if gap < _NEAR]
            if not near or 2 * len(near) < len(shared):
                continue
            together = [n for n, _ in near if _goes(a.moves[n]) and a.moves[n] == b.moves[n]]
            both_people = a.category == b.category == "person"
            predicate = "walks with" if both_people and 2 * len(together) >= len(near) and together else "is near"
            text = f"within {_NEAR:g} body heights in {len(near)} of {len(shared)} shared slices"
            share = len(near) / len(shared)
            statement = RelationStatement(
                names[a.track_id], predicate, names[b.track_id], text, round(0.5 + 0.4 * share, 2)
            )
            by_distance.append((min(gap for _, gap in near) - (predicate == "walks with"), statement))
    return [statement for _, statement in sorted(by_distance, key=lambda item: item[0])]


def _goes(words: str) -> bool:
    return words.startswith(("walks", "runs"))


def _distance(a: Sequence[float], b: Sequence[float], aspect: float) -> float:
    """Return the distance between the feet, in heights of the larger box."""
    height = max(a[3] - a[1], b[3] - b[1], 1e-6)
    dx = (a[0] + a[2] - b[0] - b[2]) / 2 * aspect
    return float((dx**2 + (a[3] - b[3]) ** 2) ** 0.5 / height)
