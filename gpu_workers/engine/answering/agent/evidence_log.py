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


Item = TypeVar("Item", bound=_HasId)


class _Numbered(Generic[Item]):
    """Items of one kind by number. number_of: number by id, of what was shown."""

    def __init__(self, letter: str) -> None:
        self.letter = letter
        self.items: dict[int, Item] = {}
        self.number_of: dict[UUID, int] = {}
        self._reserved: dict[UUID, int] = {}

    def reserve(self, item_id: UUID) -> int:
        """Return the item's number, given now if it has none. The item does not count as shown by this."""
        return self._reserved.setdefault(item_id, len(self._reserved) + 1)

    def label(self, item: Item) -> str:
        number = self.number_of.setdefault(item.id, self.reserve(item.id))
        self.items.setdefault(number, item)
        return f"{self.letter}{number}"


class EvidenceLog:
    """Everything that may be cited or rested on, because it was shown. Only grows. For one thread.

    findings: of looks at frames. notes: other rows in words that the answer may rest on, such as counts.
    label_event() and its like log an item as shown, and return its number with its letter, such as "E3".
    """

    def __init__(self) -> None:
        self._events: _Numbered[StoredEvent] = _Numbered("E")
        self._frames: _Numbered[StoredFrame] = _Numbered("F")
        self._objects: _Numbered[StoredObject] = _Numbered("O")
        self._lines: _Numbered[StoredLine] = _Numbered("L")
        self.label_event = self._events.label
        self.label_frame = self._frames.label
        self.label_object = self._objects.label
        self.label_line = self._lines.label
        self.reserve_event = self._events.reserve
        self.reserve_object = self._objects.reserve
        self.findings: list[Finding] = []
        self.notes: list[str] = []

    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Add findings, each once."""
        self.findings += [finding for finding in dict.fromkeys(findings) if finding not in self.findings]

    def add_note(self, text: str) -> None:
        """Add a note: words of the video or of a computation, through as_data, cut to NOTE_CHARACTERS."""
        note = as_data(text)[:NOTE_CHARACTERS]
        if note and note not in self.notes:
            self.notes.append(note)

    @property
    def events(self) -> Mapping[int, StoredEvent]:
        return self._events.items

    @property
    def frames(self) -> Mapping[int, StoredFrame]:
        return self._frames.items

    @property
    def objects(self) -> Mapping[int, StoredObject]:
        return self._objects.items

    @property
    def lines(self) -> Mapping[int, StoredLine]:
        return self._lines.items

    @property
    def numbers(self) -> Mapping[UUID, int]:
        """Return n of "E<n>" by event id."""
        return self._events.number_of

    @property
    def object_numbers(self) -> Mapping[UUID, int]:
        return self._objects.number_of

    def labels_of(self, item_ids: Iterable[UUID]) -> str:
        """Return the numbers of these events, frames, objects and lines with their letters, as "E1 F2", without those
        that were not shown."""
        kinds = (self._events, self._frames, self._objects, self._lines)
        labels = (
            f"{kind.letter}{kind.number_of[item_id]}"
            for item_id in dict.fromkeys(item_ids)
            for kind in kinds
            if item_id in kind.number_of
        )
        return " ".join(labels)

    def __len__(self) -> int:
        shown = len(self.events) + len(self.frames) + len(self.objects) + len(self.lines)
        return shown + len(self.findings) + len(self.notes)
