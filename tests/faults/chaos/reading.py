"""A video's index and the bill, under names that two runs share, so that they can be compared."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Q

from backend.billing.invariants import load, registry
from backend.billing.models import UsageEvent
from backend.billing.services.usage import rollups
from backend.ekg import models as ekg_rows
from backend.ekg.invariants import index_faults
from backend.ekg.models import IndexRow
from backend.library.models import Video
from backend.questions.models import Question
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.ekg import stable_id

_LEFT_OUT = {"tenant_id", "video_id", "created_at", "updated_at"}
_WITHOUT_IDS = {"Posting", "EventVerdicts"}
"""Rows that nothing refers to: their ids are not part of an index."""
_SKETCHED = ("event", "entity", "transcript")
"""Views whose sketches hold the ids of their items. A sketch of pictures holds a time instead."""
_ITEM_ID_BYTES = 16
# What differs from run to run, and no customer pays for: the time of a device, how texts are grouped for the models
# that run in process, and how many summaries are written while more of the video is still being indexed.
_MEASURED_METERS, _MEASURED_STAGES = ("device_seconds",), ("similarity", "embedding", "topics", "overview")

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

UNPAID = Q(price_amount=0) & (Q(meter__in=_MEASURED_METERS) | Q(stage__in=_MEASURED_STAGES))

Rows = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Bill:
    """What a piece of work costs its tenant. lines: quantity and price by meter, stage and model."""

    lines: tuple[tuple[str, ...], ...]
    price: Decimal


def index_of(tenant_id: UUID, video_id: UUID) -> Rows:
    """Return every row of the video's index. Each id is replaced by what the id was made of; an id that was made of
    something else stays, and so differs between two runs."""
    with tenant_scope(tenant_id):
        video = Video.objects.get(id=video_id)
        version = video.active_index_version
        faults = index_faults(video, version) if version is not None else ["there is no index"]
        rows = {
            kind.__name__: list(kind.objects.filter(video_id=video_id, index_version=version).values())
            for kind in _kinds()
        }
    names = _names(tenant_id, video_id, int(version or 0), rows)
    blocks = rows.pop(ekg_rows.SketchBlock.__name__)
    return {"faults": faults, "sketches": _sketches(blocks, names)} | {
        kind: sorted(repr(_canonical(row, names, ids=kind not in _WITHOUT_IDS)) for row in found)
        for kind, found in rows.items()
    }


def _sketches(blocks: list[dict[str, Any]], names: dict[UUID, str]) -> list[str]:
    """Return which items are sketched. The sketches themselves are relative to a centre: the mean of the events that
    happened to be assembled together first."""
    found = set()
    for block in blocks:
        packed, view = bytes(block["packed"]), block["view"]
        size = len(packed) // block["items"]
        if view in _SKETCHED:
            ids = (UUID(bytes=packed[at : at + _ITEM_ID_BYTES]) for at in range(0, len(packed), size))
            found |= {f"{view}: {names.get(item, str(item))}" for item in ids}
        else:
            found.add(f"{view} of {block['embedding_model']}")
    return sorted(found)


def _kinds() -> Iterator[type[IndexRow]]:
    for kind in vars(ekg_rows).values():
        if isinstance(kind, type) and issubclass(kind, IndexRow) and kind is not IndexRow:
            yield kind


def _names(tenant_id: UUID, video_id: UUID, version: int, rows: dict[str, list[dict[str, Any]]]) -> dict[UUID, str]:
    scope = (video_id, version)
    names = {tenant_id: "tenant", video_id: "video"}
    for kind, word, columns in (
        ("Chunk", "chunk", ("n",)),
        ("Frame", "frame", ("ms",)),
        ("Topic", "topic", ("n",)),
        ("TranscriptLine", "transcript", ("start_ms", "end_ms")),
        ("Event", "event", ("start_ms", "end_ms")),
    ):
        for row in rows[kind]:
            parts = [row[column] for column in columns]
            names[stable_id(word, *scope, *parts)] = f"{word} {parts}"
    names[stable_id("overview", *scope)] = "overview"
    events = {row["id"]: names.get(row["id"], "?") for row in rows["Event"]}
    for row in rows["Entity"]:
        for event_id, event in events.items():
            key = " ".join(row["name"].casefold().split())
            names[stable_id("entity", *scope, event_id, key)] = f"entity {key} of {event}"
    for row in rows["Mention"]:
        event_id, entity_id = row["event_id"], row["entity_id"]
        names[stable_id("mention", event_id, entity_id)] = f"mention of {names.get(entity_id)} in {names.get(event_id)}"
    for row in rows["Relation"]:
        ends = (row["event_id"], row["source_id"], row["target_id"])
        known = [str(names.get(end)) for end in ends]
        names[stable_id("relation", *ends, row["predicate"])] = f"relation {row['predicate']} {known}"
    return names


def _canonical(row: dict[str, Any], names: dict[UUID, str], *, ids: bool) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name not in _LEFT_OUT and (ids or name != "id")}
    return {name: _named(value, names) for name, value in sorted(kept.items())}


def _named(value: Any, names: dict[UUID, str]) -> Any:
    if isinstance(value, UUID):
        return names.get(value, str(value))
    if isinstance(value, str):
        return _ID.sub(lambda found: names.get(UUID(found[0]), found[0]), value)
    if isinstance(value, (list, tuple)) and len(value) < 50:
        return [_named(each, names) for each in value]
    if isinstance(value, dict):
        return {key: _named(each, names) for key, each in value.items()}
    if isinstance(value, (bytes, memoryview)) or hasattr(value, "__array__") or isinstance(value, (list, tuple)):
        return hashlib.sha256(repr(value).encode()).hexdigest()[:12]
    return value


def bill_of_video(tenant_id: UUID, video_id: UUID) -> Bill:
    """Return the bill of a video, without that of its questions."""
    return _bill(tenant_id, video_id=video_id, question_id=None)


def bill_of_question(tenant_id: UUID, question_id: UUID) -> Bill:
    return _bill(tenant_id, question_id=question_id)


def _bill(tenant_id: UUID, **work: UUID | None) -> Bill:
    totals: dict[tuple[str, str, str], list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0)])
    with tenant_scope(tenant_id):
        for row in UsageEvent.objects.filter(billable=True, **work).exclude(UNPAID):
            total = totals[(row.meter, row.stage, row.model)]
            total[0] += row.quantity
            total[1] += row.price_amount
    lines = tuple(sorted((*key, f"{quantity:f}", f"{price:f}") for key, (quantity, price) in totals.items()))
    return Bill(lines, sum((price for _, price in totals.values()), Decimal(0)))


def broken_money(tenant_ids: list[UUID]) -> list[str]:
    """Return the violations of the invariants of the money, of these tenants and of the service, a few of each."""
    load()
    for tenant_id in tenant_ids:
        # An hour that is marked as stale would not be compared.
        rollups.rebuild_stale(tenant_id)
    of_service = [name for name, one in registry.INVARIANTS.items() if one.of_service]
    outcomes = [*registry.check_all(tenants=tenant_ids), *registry.check_all(of_service)]
    return [
        f"{one.name} of {one.tenant_id or 'the service'}: {text}" for one in outcomes for text in one.violations[:2]
    ]


def answer_of(tenant_id: UUID, question_id: UUID) -> tuple[Any, ...]:
    """Return what a question ended with."""
    with tenant_scope(tenant_id):
        question = Question.objects.get(id=question_id)
    return (question.status, question.answer, question.choice, question.error_code)


def difference(calm: Rows, disturbed: Rows) -> list[str]:
    """Return what differs between the rows of two indexes, at most a few lines of it."""
    found = []
    for kind in sorted(calm.keys() | disturbed.keys()):
        before, after = calm.get(kind, []), disturbed.get(kind, [])
        found += [f"{kind} is missing: {row[:300]}" for row in before if row not in after][:2]
        found += [f"{kind} is new: {row[:300]}" for row in after if row not in before][:2]
        if len(before) != len(after):
            found.append(f"{kind}: {len(after)} rows, {len(before)} undisturbed")
    return found
