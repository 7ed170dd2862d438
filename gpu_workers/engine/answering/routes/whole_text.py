"""The text of an answer about the whole, from its items, in the form that was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.contract import AnswerPart
from gpu_workers.engine.answering.routes.items import Item, overviews
from gpu_workers.engine.answering.routes.phrases import phrases_of
from gpu_workers.engine.answering.routes.result import moment_in_words

_PLACES = re.compile(r"\b(?:places|locations|rooms|cameras)\b", re.IGNORECASE)


class WholeText:
    """about: the overviews that the text may begin with. more: number of parts that no item names. number: of all parts
    that were meant."""

    def __init__(
        self, toolbox: Toolbox, about: Mapping[UUID, str], items: Sequence[Item], more: int, *, number: int
    ) -> None:
        self._toolbox, self._about, self._items, self._more, self._number = toolbox, about, items, more, number
        self._shape, self._phrases = toolbox.asked.understood.shape, phrases_of(toolbox.asked)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the headings of a table; none for another form."""
        return (self._phrases("when"), self._phrases("what")) if self._shape == "table" else ()

    def parts(self) -> tuple[AnswerPart, ...]:
        return tuple(
            AnswerPart(item.text, index, (self._when(item), item.text) if self._shape == "table" else ())
            for index, item in enumerate(self._items)
        )

    def text(self) -> str:
        more = [self._phrases("more", n=self._more)] if self._more else []
        if self._shape == "table":
            rows = [f"| {self._when(item)} | {item.text.replace('|', '/')} |" for item in self._items]
            return "\n".join([f"| {' | '.join(self.columns)} |", "| --- | --- |", *rows, *more])
        if self._shape == "steps":
            lines = [f"{n}. {self._line(item)}" for n, item in enumerate(self._items, start=1)]
            return "\n".join([*lines, *more])
        if self._shape == "list":
            asks_places = _PLACES.search(self._toolbox.asked.question.question)
            head = overviews(self._toolbox, self._about) if asks_places else []
            return "\n".join([*head, *(f"- {self._line(item)}" for item in self._items), *more])
        written = [_sentence(item.text) for item in self._items if item.written]
        titles = [item for item in self._items if not item.written]
        if written:
            rest = "; ".join([*(item.text.rstrip(".") for item in titles), *more])
            return " ".join([*written, *([f"{rest}."] if rest else [])])
        if any(part.video for item in titles for part in item.parts):
            named = [self._toolbox.video_name(item.parts[0].video_id) for item in titles]
            return " ".join(
                _sentence(text)
                for text in (*(f"{name}: {item.text}" for name, item in zip(named, titles, strict=True)), *more)
            )
        about = [] if self._shape == "count" else overviews(self._toolbox, self._about)
        if about and not more and all(item.text.rstrip(".") in " ".join(about) for item in titles):
            return " ".join(about)
        opening = self._phrases("topic" if self._number == 1 else "topics", n=self._number)
        return " ".join([*about, f"{opening} {'; '.join([*map(self._line, titles), *more])}."])

    def _line(self, item: Item) -> str:
        return f"{item.text.rstrip('.')} ({self._when(item)})"

    def _when(self, item: Item) -> str:
        part = item.parts[0]
        return moment_in_words(self._toolbox, part.video_id, part.span.start_ms)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。", "…")) else f"{text}."
