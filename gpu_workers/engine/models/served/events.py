"""Summariser and extractor played by chat models (AVA, section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Chunk, EntityMention, Extraction, RelationStatement
from gpu_workers.engine.models.roles import ChatModel, Image, Message, Meter, ModelError
from gpu_workers.engine.models.served.structured import ask_object, clean, fraction
from gpu_workers.engine.models.served.vision import spread
from gpu_workers.engine.prompts import load

ENTITY_TYPES = ("person", "animal", "vehicle", "object", "place", "text", "group", "other")
FRAMES_PER_EVENT = 8

_SUMMARY_SCHEMA: Mapping[str, Any] = {
    "title": "event_summary",
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
_NUMBER = {"type": "number"}
_TEXT = {"type": "string"}
_ENTITY = {
    "name": _TEXT,
    "type": {"type": "string", "enum": list(ENTITY_TYPES)},
    "description": _TEXT,
    "role": _TEXT,
    "aliases": {"type": "array", "items": _TEXT},
    "confidence": _NUMBER,
    "frames": {"type": "array", "items": {"type": "integer"}},
}
_RELATION = {"subject": _TEXT, "predicate": _TEXT, "object": _TEXT, "description": _TEXT, "confidence": _NUMBER}


def _strict(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_GRAPH_SCHEMA: Mapping[str, Any] = {
    "title": "event_graph",
    **_strict(
        {
            "entities": {"type": "array", "items": _strict(_ENTITY)},
            "relations": {"type": "array", "items": _strict(_RELATION)},
        }
    ),
}


class LlmSummariser:
    """A roles.Summariser. An event of one described chunk keeps that description; a refusal or an unusable answer
    leaves the descriptions joined in order, so that an event never loses its content."""

    def __init__(self, model: ChatModel, *, max_tokens: int = 512) -> None:
        self.name = model.name
        self._model = model
        self._max_tokens = max_tokens

    def summarise(self, chunks: Sequence[Chunk], *, profile: str, meter: Meter) -> str:
        """Return one text of the chunks. Raises ModelError only if trying again may help."""
        described = [chunk for chunk in chunks if chunk.description]
        if not described:
            gaps = sorted({chunk.gap for chunk in chunks if chunk.gap})
            return f"This part of the video could not be described ({', '.join(gaps)})." if gaps else ""
        if len(described) == 1:
            return str(described[0].description)
        slices = "\n".join(_slice_line(chunk) for chunk in chunks)
        messages = [
            Message("system", (load("summarise", profile).substitute(),)),
            Message("user", (load("summarise_view").substitute(slices=slices),)),
        ]

        def read(answer: dict[str, Any]) -> str:
            summary = clean(answer["summary"])
            if not summary:
                raise ValueError("summary is empty")
            return summary

        try:
            return ask_object(
                self._model, messages, schema=_SUMMARY_SCHEMA, read=read, stage="summary", meter=meter,
                max_tokens=self._max_tokens,
            )  # fmt: skip
        except ModelError as error:
            if error.retryable:
                raise
            return " ".join(dict.fromkeys(str(chunk.description) for chunk in described))


def _slice_line(chunk: Chunk) -> str:
    speech = clean(" ".join(line.text for line in chunk.transcript))
    spoken = f' Spoken: "{speech}"' if speech else ""
    description = clean(chunk.description) if chunk.description else f"(not described: {chunk.gap})"
    return f"[{clock(chunk.span.start_ms)}-{clock(chunk.span.end_ms)}] {description}{spoken}"


class VlmExtractor:
    """A roles.Extractor. Frames are shown when the model takes pictures; else it works from the text alone.

    Repeated names are dropped, and relations whose ends are unknown or equal; frame numbers that were not shown are
    ignored. An unusable answer gives an empty Extraction.
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
        """Raises ModelError only when trying again may help."""
        shown = spread(frames, self._max_frames) if self._model.accepts_images else []
        focus = load("extract_focus", profile).template
        system = load("extract", profile).substitute(focus=focus, types=", ".join(ENTITY_TYPES))
        text = load("extract_view").substitute(
            summary=clean(summary),
            frames=", ".join(f"{k} ({ms / 1000:.1f} s)" for k, (ms, _) in enumerate(shown)) or "none",
        )
        images = tuple(Image(jpeg, f"Frame {k}:") for k, (_, jpeg) in enumerate(shown))
        times = [ms for ms, _ in shown]
        try:
            return ask_object(
                self._model,
                [Message("system", (system,)), Message("user", (*images, text))],
                schema=_GRAPH_SCHEMA,
                read=lambda answer: read_graph(answer, times),
                stage="entities",
                meter=meter,
                max_tokens=self._max_tokens,
            )
        except ModelError as error:
            if error.retryable:
                raise
            return Extraction((), ())


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
    description: Annotated[str, BeforeValidator(partial(clean, limit=600))] = ""
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
        description=entity.description,
        role=entity.role or "participant",
        aliases=tuple(aliases),
        confidence=entity.confidence,
        frame_ms=tuple(sorted({frame_ms[k] for k in entity.frames if 0 <= k < len(frame_ms)})),
    )
