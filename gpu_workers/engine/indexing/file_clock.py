"""The clock of a recorded file: which of its timestamps mean which moment of the video.

A file is one stretch of running timestamps, or several where recordings were joined or a clock began again. The probe
reads the clock once (clock_reading); pictures, sound and appended pieces all use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gpu_workers.engine.ekg import Span

MAX_STRETCHES = 2_048
"""Maximum number of stretches of one file. A file that is joined from more pieces is cut there."""

ROW_NUMBERS = 6
"""Numbers in a row of FileClock.as_rows()."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a file whose timestamps run on.

    span: its time in the video. stamp_ms: timestamp in the file at span.start_ms. pictures_end_ms: end of its last
    picture, in the video's time. begin_byte, end_byte: position of its packets in the file; end_byte is None if the
    stretch goes on to the end of the file.
    """

    span: Span
    stamp_ms: int
    pictures_end_ms: int
    begin_byte: int = 0
    end_byte: int | None = None

    @property
    def origin_ms(self) -> int:
        """Return the timestamp in the file at 0 of the video, if this stretch reached so far back."""
        return self.stamp_ms - self.span.start_ms

    @property
    def middle_stamp_ms(self) -> float:
        """Return the timestamp in the middle of the stretch."""
        return self.stamp_ms + self.span.duration_ms / 2

    @property
    def is_whole_file(self) -> bool:
        return not self.begin_byte and self.end_byte is None


@dataclass(frozen=True, slots=True)
class FileClock:
    """The stretches of a file, in order; each begins where the one before ends. Raises ValueError otherwise."""

    stretches: tuple[Stretch, ...]

    def __post_init__(self) -> None:
        if not self.stretches:
            raise ValueError("a clock has at least one stretch")
        if any(after.span.start_ms != before.span.end_ms for before, after in pairwise(self.stretches)):
            raise ValueError("the stretches of a clock follow each other")

    @classmethod
    def steady(cls, stamp_ms: int, duration_ms: int) -> FileClock:
        """Return the clock of a file that runs on from its first timestamp, with pictures up to its end."""
        return cls((Stretch(Span(0, duration_ms), stamp_ms, duration_ms),))

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[int]]) -> FileClock:
        """Return the clock that as_rows() wrote. Raises ValueError for rows that are no clock."""
        return cls(
            tuple(
                Stretch(Span(start, end), stamp, pictures_end, begin, None if last < 0 else last)
                for start, end, stamp, pictures_end, begin, last in rows
            )
        )

    def as_rows(self) -> list[list[int]]:
        """Return six numbers for each stretch: its start, end, timestamp, end of pictures, first byte and last byte."""
        return [
            [
                one.span.start_ms, one.span.end_ms, one.stamp_ms, one.pictures_end_ms, one.begin_byte,
                -1 if one.end_byte is None else one.end_byte,
            ]
            for one in self.stretches
        ]  # fmt: skip

    @property
    def duration_ms(self) -> int:
        return self.stretches[-1].span.end_ms - self.stretches[0].span.start_ms

    def moved(self, ms: int) -> FileClock:
        """Return the clock of the same file where it begins ms later in the video."""
        return FileClock(
            tuple(
                replace(
                    one,
                    span=Span(one.span.start_ms + ms, one.span.end_ms + ms),
                    pictures_end_ms=one.pictures_end_ms + ms,
                )
                for one in self.stretches
            )
        )

    def within(self, span: Span) -> Iterator[tuple[Stretch, Span]]:
        """Yield the stretches that reach into span, each with the part of span that it holds."""
        for stretch in self.stretches:
            part = stretch.span.cut_to(span)
            if part is not None:
                yield stretch, part


def rows_within(clock: FileClock | None, span: Span) -> list[list[int]] | None:
    """Return the rows of the stretches that reach into span, as a box takes them; None without a clock.

    A span outside the clock has the row of the last stretch, which holds nothing of it.
    """
    if clock is None:
        return None
    held = tuple(stretch for stretch, _ in clock.within(span))
    return FileClock(held or clock.stretches[-1:]).as_rows()
