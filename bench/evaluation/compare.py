"""`make compare`: several arms over one question set, with the figures of a comparison of the product.

Each arm runs as `make eval` runs it, so a stopped comparison resumes where it was. The figures are made by the same
functions as those of /v1/comparisons. There is no price book here: arms are compared by the seconds of their models.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

from backend.questions.figures.arms import Share
from backend.questions.figures.replies import Item, Outcome, Reply
from backend.questions.figures.report import Report, compare_arms
from bench.evaluation import __main__ as evaluation
from bench.evaluation.datasets import SETS, TAPE_SETS
from bench.evaluation.report import ItemResult, Measured, read_report

AMOUNT = "seconds of models"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make compare", description=__doc__)
    parser.add_argument("--set", required=True, choices=[name for name in SETS if name not in TAPE_SETS])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--arms", required=True, help="2 to 8 arms, separated by commas; pairs are with the first")
    parser.add_argument("--limit", default="", help="first n items, in the seed's order")
    parser.add_argument("--seed", default="")
    parser.add_argument("--event-words", default="", help="as for make eval")
    parser.add_argument("--workers", default="", help="as for make eval")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args(evaluation.without_empty(sys.argv[1:] if arguments is None else arguments))
    arms = [arm.strip() for arm in options.arms.split(",") if arm.strip()]
    if not 2 <= len(arms) <= 8 or len(set(arms)) < len(arms):
        parser.error("name 2 to 8 different arms, separated by commas")
    # Before any long work, so that a wrong name is reported at once.
    unknown = [arm for arm in arms if arm not in evaluation.arms_of(options.set)]
    if unknown:
        parser.error(f"no arm {unknown[0]!r}; there are {', '.join(evaluation.arms_of(options.set))}")
    with tempfile.TemporaryDirectory(prefix="ava-compare-") as folder:
        reports = [_run(options, arm, Path(folder) / f"{arm}.json") for arm in arms]
    found = compare_reports(dict(zip(arms, reports, strict=True)))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        body = {"set": options.set, "arms": arms, "amounts": AMOUNT, **asdict(found)}
        options.out.write_text(json.dumps(body, indent=1, default=str) + "\n")
        print(f"report: {options.out}", file=sys.stderr)
    print(summary(found))
    return 0


def _run(options: argparse.Namespace, arm: str, out: Path) -> list[ItemResult]:
    """Return the results of one arm, which are also printed as `make eval` prints them."""
    chosen = {"set": options.set, "data": options.data, "arm": arm, "limit": options.limit, "seed": options.seed,
              "event-words": options.event_words, "workers": options.workers, "out": out}  # fmt: skip
    evaluation.main([f"--{name}={value}" for name, value in chosen.items()])
    return [ItemResult.read(row) for row in read_report(out, of=options.set)["items"]]


def compare_reports(reports: Mapping[str, Sequence[ItemResult]]) -> Report:
    """Return the report over the items of several arms. An item that an arm lacks was not asked there.

    reports: the results of each arm, by the arm's label.
    """
    by_arm = [{item.id: item for item in items} for items in reports.values()]
    keys = list(dict.fromkeys(key for items in by_arm for key in items))
    kinds = {key: item.kind for items in reversed(by_arm) for key, item in items.items()}
    missing = Reply("not_asked")
    return compare_arms(
        [
            Item(
                key,
                tuple((reply_of(items[key]) if key in items else missing,) for items in by_arm),
                kind=kinds[key],
            )
            for key in keys
        ],
        list(reports),
    )


def reply_of(item: ItemResult) -> Reply:
    """Return what the figures count of one result. Its amount is the seconds of its models."""
    measured = item.measured or Measured()
    return Reply(
        outcome=_outcome(item),
        confidence=item.confidence,
        head=item.head,
        amount=Decimal(str(round(item.seconds, 6))),
        degraded=item.degraded,
        **asdict(measured),
        graded_by="choice",
    )


def _outcome(item: ItemResult) -> Outcome:
    if item.given is not None:
        return "right" if item.right[1] else "wrong"
    if item.finish_reason == "error":
        return "failed"
    return "refused" if item.finish_reason == "refused" else "abstained"


def summary(report: Report) -> str:
    """Return the report in a few lines, for people."""
    lines = [f"{report.counted} of {report.items} items; {report.oracle} of {report.labeled} right in some arm"]
    for n, arm in enumerate(report.arms):
        marks = f"{' best' if n == report.best else ''}{' frontier' if n in report.frontier else ''}"
        lines.append(
            f"{arm.label}: {_in_words(arm.accuracy)}, "
            f"abstained {arm.abstained}, failed {arm.failed}, {arm.amounts.mean or 0:.1f} s of models{marks}"
        )
    if report.rule is not None:
        chosen = ", ".join(f"{each.kind or 'no kind'} by {report.arms[each.arm].label}" for each in report.rule.arms)
        single = _in_words(report.rule.single)
        lines.append(f"rule by kind ({chosen}): {_in_words(report.rule.accuracy)}; one arm for all {single}")
    for pair in report.pairs:
        ratio = "" if pair.amount_ratio is None else f", {pair.amount_ratio:.2f} x the time"
        lines.append(
            f"{report.arms[pair.arm].label} against {report.arms[pair.against].label}: {pair.difference:+.1%} "
            f"({pair.low:+.1%} to {pair.high:+.1%}), gained {pair.gained}, lost {pair.lost}, "
            f"McNemar p {pair.p_value:.4f} ({pair.p_corrected:.4f} by Holm){ratio}. {pair.can_show}"
        )
    return "\n".join(lines)


def _in_words(share: Share) -> str:
    return f"{share.value or 0:.1%} (95 % {share.low:.1%} to {share.high:.1%})"


if __name__ == "__main__":
    raise SystemExit(main())
