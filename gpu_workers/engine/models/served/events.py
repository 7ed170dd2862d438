"""An event's text, entities and relations written by chat models (AVA, section 4.3), in one call or in two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Chunk, EntityMention, Extraction, RelationStatement
from gpu_workers.engine.models.pictures import jpeg_tokens
from gpu_workers.engine.models.roles import ChatModel, EventText, Image, Message, Meter
from gpu_workers.engine.models.served.structured import ask_object, clean, fraction, list_of, object_of, text_of
from gpu_workers.engine.models.served.vision import spread
from gpu_workers.engine.prompts import load

ENTITY_TYPES = ("person", "animal", "vehicle", "object", "place", "text", "group", "other")
FRAMES_PER_EVENT = 4
CHUNKS_PER_FRAME = 2
"""An event shows one frame for this many chunks, but at least two frames: what happens is in the descriptions."""
MOST_ENTITIES, MOST_RELATIONS = 16, 16
WRITING_CHARACTERS = 300
"""Maximum length of the on-screen text that is added to a summary that left it out."""

_SUMMARY = text_of(1_200)
_NUMBER = {"type": "number"}
_GRAPH = {
    "entities": list_of(
        object_of(
            {
                "name": text_of(80),
                "type": {"type": "string", "enum": list(ENTITY_TYPES)},
                "appearance": text_of(240),
                "role": text_of(80),
                "aliases": list_of(text_of(60), 4),
                "confidence": _NUMBER,
                "frames": list_of({"type": "integer"}, FRAMES_PER_EVENT),
            }
        ),
        MOST_ENTITIES,
    ),
    "relations": list_of(
        object_of(
            {
                "subject": text_of(80),
                "predicate": text_of(60),
                "object": text_of(80),
                "description": text_of(200),
                "confidence": _NUMBER,
            }
        ),
        MOST_RELATIONS,
    ),
}
_SUMMARY_SCHEMA = object_of({"summary": _SUMMARY}, title="event_summary")
_GRAPH_SCHEMA = object_of(_GRAPH, title="event_graph")
_EVENT_SCHEMA = object_of({"summary": _SUMMARY, **_GRAPH}, title="event")


class VlmEventWriter:
    """A roles.EventWriter: one call writes an event's summary and graph. Its frames are shown if the model takes
    pictures.

    Two calls are made if the window does not hold the event at once. An event whose chunks share one description keeps
    it, and only the graph is asked for. On-screen text that a summary leaves out is added to it, each piece once.
    """

    def __init__(self, model: ChatModel, *, max_frames: int = FRAMES_PER_EVENT, max_tokens: int = 1_536) -> None:
        self.name = model.name
        self._model = model
        self._max_frames, self._max_tokens = max_frames, max_tokens
        self._summariser = LlmSummariser(model)
        self._extractor = VlmExtractor(model, max_frames=max_frames)

    def write(
        self, chunks: Sequence[Chunk], frames: Sequence[tuple[int, bytes]], *, profile: str, meter: Meter
    ) -> EventText:
        """Raises ModelError, also InvalidOutput."""
        shown = _frames_of_event(self._model, chunks, frames, self._max_frames)
        system = _event_prompt("write_event", profile)
        text = f"{slice_lines(chunks)}\nFrames shown: {numbered_frames(shown)}"
        if len({chunk.description for chunk in chunks if chunk.description}) == 1 or not self._fits(
            system + text, shown
        ):
            summary = self._summariser.summarise(chunks, profile=profile, meter=meter)
            return EventText(summary, self._extractor.extract(summary, chunks, frames, profile=profile, meter=meter))
        times = [ms for ms, _ in shown]

        def read(answer: dict[str, Any]) -> EventText:
            summary = clean(answer["summary"])
            if not summary:
                raise ValueError("summary is empty")
            return EventText(with_writing(summary, chunks), read_graph({"entities": [], **answer}, times))

        answered = ask_object(
            self._model,
            [Message("system", (system,)), Message("user", (*labelled_images(shown), text))],
            schema=_EVENT_SCHEMA,
            read=read,
            stage="event",
            meter=meter,
            max_tokens=self._max_tokens,
        )
        written = answered.value
        return EventText(written.summary, _marked(written.extraction, answered.cut))

    def _fits(self, text: str, frames: Sequence[tuple[int, bytes]]) -> bool:
        pictures = picture_tokens(self._model, frames)
        return self._model.count_tokens(text) + pictures + self._max_tokens + 128 <= self._model.context_tokens


class LlmSummariser:
    """A roles.Summariser. An event whose chunks share one description keeps it."""

    def __init__(self, model: ChatModel, *, max_tokens: int = 512) -> None:
        self.name = model.name
        self._model = model
        self._max_tokens = max_tokens

    def summarise(self, chunks: Sequence[Chunk], *, profile: str, meter: Meter) -> str:
        """Return one text of the chunks. Raises ModelError, also InvalidOutput."""
        described = list(dict.fromkeys(chunk.description for chunk in chunks if chunk.description))
        if not described:
            gaps = sorted({chunk.gap for chunk in chunks if chunk.gap})
            return f"This part of the video could not be described ({', '.join(gaps)})." if gaps else ""
        if len(described) == 1:
            return with_writing(described[0], chunks)
        messages = [
            Message("system", (load("summarise", profile).substitute(),)),
            Message("user", (load("summarise_view").substitute(slices=slice_lines(chunks)),)),
        ]

        def read(answer: dict[str, Any]) -> str:
            summary = clean(answer["summary"])
            if not summary:
                raise ValueError("summary is empty")
            return summary

        answered = ask_object(
            self._model, messages, schema=_SUMMARY_SCHEMA, read=read, stage="summary", meter=meter,
            max_tokens=self._max_tokens,
        )  # fmt: skip
        return with_writing(answered.value, chunks)


class VlmExtractor:
    """A roles.Extractor. Frames are shown when the model takes pictures; else it works from the text alone.

    Repeated names are dropped, and relations whose ends are unknown or equal; frame numbers that were not shown are
    ignored.
    """

    def __init__(self, model: ChatModel, *, max_frames: int = FRAMES_PER_EVENT, max_tokens: int = 1_024) -> None:
        self.name = model.name
        self._model = model
        self._max_frames = max_frames
        self._max_tokens = max_tokens

    def extract(
        self,
        summary: str,
        chunks: Sequence[Chunk],
        frames: Sequence[tuple[int, bytes]],
        *,
        profile: str,
        meter: Meter,
    ) -> Extraction:
        """Raises ModelError, also InvalidOutput."""
        shown = _frames_of_event(self._model, chunks, frames, self._max_frames)
        text = load("extract_view").substitute(summary=clean(summary), frames=numbered_frames(shown))
        times = [ms for ms, _ in shown]
        answered = ask_object(
            self._model,
            [Message("system", (_event_prompt("extract", profile),)), Message("user", (*labelled_images(shown), text))],
            schema=_GRAPH_SCHEMA,
            read=lambda answer: read_graph(answer, times),
            stage="entities",
            meter=meter,
            max_tokens=self._max_tokens,
        )
        return _marked(answered.value, answered.cut)


# --- what is shown ----------------------------------------------------------------------------------------------------


def slice_lines(chunks: Sequence[Chunk]) -> str:
    """Return the chunks of an event with their times, one on a line: description, speech, on-screen text.

    Chunks that show nothing new are one line together. Each piece of on-screen text stands once.
    """
    lines: list[str] = []
    seen: set[str] = set()
    start: int | None = None
    for n, chunk in enumerate(chunks):
        speech = clean(" ".join(line.text for line in chunk.transcript))
        writing = [item for item in map(clean, chunk.on_screen_text) if item and item not in seen]
        seen.update(writing)
        notes = (f' Spoken: "{speech}"' if speech else "") + (f' Text: "{"; ".join(writing)}"' if writing else "")
        said = clean(chunk.description) if chunk.description else f"(not described: {chunk.gap})"
        if n and chunk.inherited:
            said = "(nothing changes)"
        quiet = said == "(nothing changes)" and not notes
        if quiet and start is not None:
            lines.pop()
        else:
            start = chunk.span.start_ms
        lines.append(f"[{clock(start)}-{clock(chunk.span.end_ms)}] {said}{notes}")
        if not quiet:
            start = None
    return "\n".join(lines)


def with_writing(summary: str, chunks: Sequence[Chunk]) -> str:
    """Return summary with the on-screen text of the chunks that it leaves out, each piece once."""
    pieces = dict.fromkeys(clean(item) for chunk in chunks for item in chunk.on_screen_text)
    missing = [piece for piece in pieces if piece and piece.casefold() not in summary.casefold()]
    text = "; ".join(missing)[:WRITING_CHARACTERS].rstrip("; ")
    return f'{summary} On screen: "{text}".' if text else summary


def _frames_of_event(
    model: ChatModel, chunks: Sequence[Chunk], frames: Sequence[tuple[int, bytes]], most: int
) -> list[tuple[int, bytes]]:
    if not model.accepts_images:
        return []
    return spread(frames, min(most, max(2, len(chunks) // CHUNKS_PER_FRAME)))


def picture_tokens(model: ChatModel, frames: Sequence[tuple[int, bytes]]) -> int:
    """Return the tokens of frames with their labels, by their size."""
    return sum(jpeg_tokens(jpeg, patch=model.capabilities.picture_patch) + 12 for _, jpeg in frames)


def numbered_frames(frames: Sequence[tuple[int, bytes]]) -> str:
    """Return the numbers and times of frames, or "none"."""
    return ", ".join(f"{k} ({ms / 1000:.1f} s)" for k, (ms, _) in enumerate(frames)) or "none"


def labelled_images(frames: Sequence[tuple[int, bytes]]) -> tuple[Image, ...]:
    """Return frames as pictures of a message, each with its number."""
    return tuple(Image(jpeg, f"Frame {k}:") for k, (_, jpeg) in enumerate(frames))


def _event_prompt(name: str, profile: str) -> str:
    graph = load("event_graph").substitute(types=", ".join(ENTITY_TYPES))
    return load(name, profile).substitute(focus=load("extract_focus", profile).template, graph=graph)


# --- what is read ----------------------------------------------------------------------------------------------------


def _marked(extraction: Extraction, cut: bool) -> Extraction:
    return Extraction(extraction.mentions, extraction.relations, cut=cut)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: object) -> object:
    """Return the objects of a list; return any other value unchanged."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else value


Line = Annotated[str, BeforeValidator(clean)]
Name = Annotated[str, BeforeValidator(partial(clean, limit=120))]
Label = Annotated[str, BeforeValidator(partial(clean, limit=80))]
Confidence = Annotated[float, BeforeValidator(fraction)]


class StatedEntity(BaseModel):
    """An entity as a model states it. A field that cannot be used is as if it were missing."""

    name: Name = ""
    type: Annotated[str, BeforeValidator(lambda kind: kind if kind in ENTITY_TYPES else "other")] = "other"
    appearance: Annotated[str, BeforeValidator(partial(clean, limit=600))] = ""
    role: Label = ""
    aliases: Annotated[tuple[Name, ...], BeforeValidator(_listed)] = ()
    confidence: Confidence = 1.0
    frames: Annotated[
        tuple[int, ...], BeforeValidator(lambda value: [k for k in _listed(value) if type(k) is int])
    ] = ()


class StatedRelation(BaseModel):
    """A relation as a model states it. A field that cannot be used is as if it were missing."""

    subject: Line = ""
    predicate: Label = ""
    object: Line = ""
    description: Annotated[str, BeforeValidator(partial(clean, limit=400))] = ""
    confidence: Confidence = 1.0


class StatedGraph(BaseModel):
    """Entities and relations as a model states them. An item that is no object is dropped; entities must be a list."""

    entities: Annotated[tuple[StatedEntity, ...], BeforeValidator(_objects)]
    relations: Annotated[tuple[StatedRelation, ...], BeforeValidator(lambda value: _objects(_listed(value)))] = ()


def read_graph(answer: Mapping[str, Any], frame_ms: Sequence[int]) -> Extraction:
    """Return the valid entities and relations of a model's answer; one bad item never costs the others.

    Raises pydantic.ValidationError, a ValueError, if there is no list of entities.
    """
    stated = StatedGraph.model_validate(answer)
    mentions: dict[str, EntityMention] = {}
    for entity in stated.entities:
        if entity.name:
            mentions.setdefault(entity.name.casefold(), _mention(entity, frame_ms))
    relations: dict[tuple[str, str, str], RelationStatement] = {}
    for relation in stated.relations:
        subject, target = mentions.get(relation.subject.casefold()), mentions.get(relation.object.casefold())
        if subject is None or target is None or subject is target or not relation.predicate:
            continue
        statement = RelationStatement(
            subject.name, relation.predicate, target.name, relation.description, relation.confidence
        )
        relations.setdefault((subject.name, relation.predicate.casefold(), target.name), statement)
    return Extraction(tuple(mentions.values()), tuple(relations.values()))


def _mention(entity: StatedEntity, frame_ms: Sequence[int]) -> EntityMention:
    aliases = dict.fromkeys(alias for alias in entity.aliases if alias and alias.casefold() != entity.name.casefold())
    return EntityMention(
        name=entity.name,
        type=entity.type,
        description=entity.appearance,
        role=entity.role or "participant",
        aliases=tuple(aliases),
        confidence=entity.confidence,
        frame_ms=tuple(sorted({frame_ms[k] for k in entity.frames if 0 <= k < len(frame_ms)})),
    )
