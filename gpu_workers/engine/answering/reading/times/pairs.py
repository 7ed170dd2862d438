"""The rule that reads two times of one noun: in the first and in the last hour."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_workers.engine.answering.reading.expressions import Day, Edge, Expression, Offset, PartOfDay, Share
from gpu_workers.engine.answering.reading.times.parsing import DURATION, Parsing, length


def two_of_one_noun(parsing: Parsing, day: Day | None, part: PartOfDay | None) -> Iterator[Expression]:
    """In the first and in the last hour, in the second or fourth minute, in the first or in the second half."""
    for match in parsing.matches(
        rf"[ait]*(?P<one>[oBEQ])[&x][ait]*(?P<two>[oBEQ])(?:(?P<of>[Ho])|(?P<length>{DURATION}))V?(?![xO-])"
    ):
        first = [parsing.tokens[match.start(name)] for name in ("one", "two")]
        numbers = [{"B": 1, "E": -1, "Q": 2}.get(token.kind, token.value) for token in first]
        if not parsing.also(match.end("one")) or parsing.kinds[: match.start()].endswith(("b", "f")):
            continue
        if match["of"]:
            of = parsing.tokens[match.start("of")].value
            found: list[Expression] = [share for n in numbers if (share := share_of(n, of)) is not None]
        else:
            long, alone = length(parsing, match, "length")[0], match["length"] in ("u", "Q")
            found = [_edge_or_unit(n, long) for n in numbers if n in (1, -1) or alone]
        if len(found) == len(numbers):
            parsing.take(match)
            yield from found


def share_of(number: int, of: int) -> Share | None:
    """Return the part of each video with this number among `of` parts, -1 the last; None if there is none."""
    if of not in (2, 3, 4) or number > of:
        return None
    first = of - 1 if number < 0 else number - 1
    return Share(first, first + 1, of)


def _edge_or_unit(number: int, long: int) -> Expression:
    if number in (1, -1):
        return Edge("first" if number == 1 else "last", long)
    return Offset((number - 1) * long, number * long)
