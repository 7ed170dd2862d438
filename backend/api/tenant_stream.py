"""GET /v1/stream: one connection that rings whenever something of the tenant has changed.

An event is a doorbell: kind, id and version of what has changed, and no content. The client fetches what it shows of
it. A stream makes no statement, but for a member who is limited to collections, and then only if it is rung.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from backend.api.bodies import StrictSerializer, parsed_query
from backend.api.changes import Change
from backend.api.problems import Problem
from backend.api.public_ids import encode
from backend.api.server.awaiting import EventStream
from backend.api.server.event_streams import EventStreamRenderer, event, stream_response
from backend.api.server.open_replies import open_reply
from backend.api.views import UnboundTenantView
from backend.tenancy.authentication import Principal
from backend.tenancy.context import limited_to, tenant_scope
from backend.tenancy.keys import ANYBODY

LONGEST_STREAM_SECONDS = 15 * 60.0
"""Duration after which a stream ends by itself. The client connects again and fetches what it shows."""
RETRY_MS = 2_000
MOST_NAMED = 100
"""Rows of one kind that one look names. More of them ring without an id: fetching them one by one would cost more."""
MOST_HEARD = 1_000


@dataclass(frozen=True, slots=True)
class Topic:
    """What a stream can ring for. kind, prefix: of its rows. scope: what a caller needs. rows: those of the tenant that
    the caller may see."""

    name: str
    kind: str
    prefix: str
    scope: str
    rows: Callable[[], QuerySet[Any]]


_topics: dict[str, Topic] = {}


def register_topic(topic: Topic) -> None:
    """Let a package above this one offer its rows to streams."""
    _topics[topic.name] = topic


class TenantChanges:
    """The rings of a tenant (an Awaited), for one caller.

    hear() takes changes on the event loop, and look() turns them into events on a thread. The tenant of a change is
    that of the row itself: the database's trigger names it. Whether a limited member may see the row is looked up. A
    row that is gone rings without its id, because nobody can say who saw it.
    """

    seconds = LONGEST_STREAM_SECONDS
    over = False

    def __init__(self, caller: Principal, topics: Sequence[Topic]) -> None:
        self.subject = caller.tenant_id
        self._collections = caller.collections
        self._topics = {topic.kind: topic for topic in topics}
        self._heard: deque[Change | None] = deque(maxlen=MOST_HEARD)
        self._head = f"retry: {RETRY_MS}\n\n".encode()

    def hear(self, change: Change | None) -> bool:
        """Keep a change for the next look; None where changes may have been missed. Returns whether it rings here."""
        if change is not None and change.kind not in self._topics:
            return False
        # A full queue drops its oldest changes.
        self._heard.append(change if len(self._heard) < MOST_HEARD else None)
        return True

    def look(self) -> bytes:
        """Return the events of what was heard since the last look."""
        head, self._head = self._head, b""
        heard = [self._heard.popleft() for _ in range(len(self._heard))]
        return head + b"".join(ring for topic in self._topics.values() for ring in self._rings(topic, heard))

    def _rings(self, topic: Topic, heard: Sequence[Change | None]) -> Iterator[bytes]:
        latest = {change.id: change for change in heard if change is not None and change.kind == topic.kind}
        living = [change.id for change in latest.values() if not change.deleted]
        named = self._visible(topic, living) if living and len(latest) <= MOST_NAMED else frozenset()
        for change in latest.values():
            if change.id in named:
                yield _event(topic, encode(topic.prefix, change.id), change.version)
        if None in heard or len(latest) > MOST_NAMED or len(living) < len(latest):
            now = time.time_ns() // 1000
            yield _event(topic, None, max((change.version for change in latest.values()), default=now))

    def _visible(self, topic: Topic, ids: Collection[UUID]) -> Collection[UUID]:
        """Return those of the tenant's rows that the caller may see."""
        if self._collections is None:
            return ids
        with tenant_scope(self.subject), limited_to(self._collections):
            return set(topic.rows().filter(id__in=ids).values_list("id", flat=True))


def _event(topic: Topic, id: str | None, version: int) -> bytes:
    return event("changed", {"kind": topic.kind, "id": id, "version": version}, id=str(version))


@extend_schema_field({"type": "string"})
class TopicsField(serializers.Field):  # type: ignore[type-arg]
    """Comma-separated names of topics outside, the topics inside."""

    default_error_messages = {"unknown_topic": "Give a comma-separated list out of {names}."}

    def to_internal_value(self, data: Any) -> list[Topic]:
        names = str(data).split(",")
        if not set(names) <= _topics.keys():
            self.fail("unknown_topic", names=", ".join(_topics))
        return [_topics[name] for name in dict.fromkeys(names)]

    def to_representation(self, value: Iterable[Topic]) -> str:
        return ",".join(topic.name for topic in value)


class TopicsQuerySerializer(StrictSerializer):
    topics = TopicsField(
        help_text="What to ring for, comma-separated: `videos` and `collections` (scope `videos:read`), `questions` "
        "(scope `questions:read`)."
    )


class ChangedEventSerializer(serializers.Serializer):  # type: ignore[type-arg]
    """Something has changed: fetch what you show of it."""

    kind = serializers.ChoiceField(("video", "collection", "question"), help_text="What kind of thing has changed.")
    id = serializers.CharField(
        allow_null=True, help_text="Its id. null: things of this kind were deleted, or more than 100 have changed."
    )
    version = serializers.IntegerField(help_text="Grows with each change of a thing. Also the id of the event.")


class StreamView(UnboundTenantView):
    # Each topic needs the scope of what it rings for.
    scopes = {"GET": ANYBODY}
    renderer_classes = (EventStreamRenderer, JSONRenderer)

    @extend_schema(
        operation_id="streamChanges",
        parameters=[TopicsQuerySerializer],
        tags=["Changes"],
        responses=stream_response(
            "Server-sent events with JSON data: `changed` whenever something has changed that the caller may see.",
            ChangedEventSerializer,
        ),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Stream what changes in the tenant: kind, id and version of each thing, without its content.

        The stream ends after 15 minutes: connect again, and fetch what you show, because changes may have been missed
        in between.
        """
        topics = parsed_query(TopicsQuerySerializer, request)["topics"]
        for topic in topics:
            if not self.principal.may(topic.scope):
                raise Problem(403, "insufficient_scope", f"The topic {topic.name} needs the scope {topic.scope}.")
        return EventStream(TenantChanges(self.principal, topics), open_reply(self.principal))


routes: list[Any] = [path("stream", StreamView.as_view())]
