"""What a question has been shown: every event, frame, object and line gets a number at first sight and keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from gpu_workers.engine.answering.looking.looks import Finding
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ports import StoredEvent, StoredFrame, StoredLine, StoredObject

NOTE_CHARACTERS = 1_000
"""Maximum length of a note."""


class _HasId(Protocol):
    @property
    def id(self) -> UUID: ...


Thing = TypeVar("Thing", bound=_HasId)


class _Seen(Generic[Thing]):
    """Things of one kind by number. number_of: number by id, of what was seen."""

    def __init__(self) -> None:
        self.things: dict[int, Thing] = {}
        self.number_of: dict[UUID, int] = {}
        self._kept: dict[UUID, int] = {}

    def keep(self, thing_id: UUID) -> int:
        """Return the thing's number, given now if it has none. The thing does not count as seen by this."""
        return self._kept.setdefault(thing_id, len(self._kept) + 1)

    def number(self, thing: Thing) -> int:
        number = self.number_of.setdefault(thing.id, self.keep(thing.id))
        self.things.setdefault(number, thing)
        return number


class Sightings:
    """Everything that may be cited or rested on, because it was shown. Only grows. For one thread.

    findings: of looks at frames. notes: other rows in words that the answer may rest on, such as counts.
    """

    def __init__(self) -> None:
        self._events: _Seen[StoredEvent] = _Seen()
        self._frames: _Seen[StoredFrame] = _Seen()
        self._objects: _Seen[StoredObject] = _Seen()
        self._lines: _Seen[StoredLine] = _Seen()
        self.findings: list[Finding] = []
        self.notes: list[str] = []

    def event(self, event: StoredEvent) -> str:
        """Return the event's number as "E3"."""
        return f"E{self._events.number(event)}"

    def frame(self, frame: StoredFrame) -> str:
        return f"F{self._frames.number(frame)}"

    def object(self, thing: StoredObject) -> str:
        return f"O{self._objects.number(thing)}"

    def keep_event(self, event_id: UUID) -> int:
        """Return n of the event's "E<n>" for a table that may name it. The event cannot be cited by this alone."""
        return self._events.keep(event_id)

    def keep_object(self, object_id: UUID) -> int:
        """Return n of the object's "O<n>" for a table that may name it."""
        return self._objects.keep(object_id)

    def line(self, line: StoredLine) -> str:
        return f"L{self._lines.number(line)}"

    def found(self, findings: Iterable[Finding]) -> None:
        """Add findings, each once."""
        self.findings += [finding for finding in dict.fromkeys(findings) if finding not in self.findings]

    def noted(self, text: str) -> None:
        """Add a note: words of the video or of a computation, through as_data, cut to NOTE_CHARACTERS."""
        note = as_data(text)[:NOTE_CHARACTERS]
        if note and note not in self.notes:
            self.notes.append(note)

    @property
    def events(self) -> Mapping[int, StoredEvent]:
        return self._events.things

    @property
    def frames(self) -> Mapping[int, StoredFrame]:
        return self._frames.things

    @property
    def objects(self) -> Mapping[int, StoredObject]:
        return self._objects.things

    @property
    def lines(self) -> Mapping[int, StoredLine]:
        return self._lines.things

    @property
    def numbers(self) -> Mapping[UUID, int]:
        """Return n of "E<n>" by event id."""
        return self._events.number_of

    @property
    def object_numbers(self) -> Mapping[UUID, int]:
        return self._objects.number_of

    def name_of(self, thing_id: UUID) -> str:
        """Return the number of an event, frame, object or line with its letter; "" if it was not seen."""
        kinds: tuple[tuple[str, Mapping[UUID, int]], ...] = (
            ("E", self._events.number_of),
            ("F", self._frames.number_of),
            ("O", self._objects.number_of),
            ("L", self._lines.number_of),
        )
        return next((f"{letter}{numbers[thing_id]}" for letter, numbers in kinds if thing_id in numbers), "")

    def __len__(self) -> int:
        seen = len(self.events) + len(self.frames) + len(self.objects) + len(self.lines)
        return seen + len(self.findings) + len(self.notes)
