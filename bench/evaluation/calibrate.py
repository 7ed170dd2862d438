"""The curve of confidence that fits a report: python -m bench.evaluation.calibrate REPORT [--signals support,score]
[--fit first --report second].

Prints the logistic regression of right answers on the signals, which gpu_workers.engine.models.calibration takes, one
JSON line for each signal alone and one for all of them. AUROC and calibration error are of answers that the curve was
not fitted on: by ten-fold cross-validation, with --fit and --report those of the other half (bench.evaluation.halves),
with --crossed those of both halves together.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from bench.evaluation.halves import HALVES, in_half
from bench.evaluation.report import ItemResult
from bench.evaluation.statistics import auroc, calibration_error, error_beyond_chance

FOLDS = 10


def fit(items: Sequence[ItemResult], signals: Sequence[str]) -> dict[str, Any]:
    """Return bias and coefficients of the signals, and how well they separate items that they were not fitted on.

    Items that abstained or lack a signal are left out. Raises ValueError where too few are left to cross-validate.
    """
    used = [item for item in items if item.given is not None and set(signals) <= set(item.signals)]
    right = np.asarray([item.right[1] for item in used], dtype=bool)
    if min(right.sum(), (~right).sum()) < FOLDS:
        raise ValueError(f"{FOLDS} right and {FOLDS} wrong answers with {', '.join(signals)} are needed to fit")
    values = np.asarray([[item.signals[name] for name in signals] for item in used])
    # Hardly regularised: a curve through hundreds of items, not a choice among features.
    model = LogisticRegression(C=100.0)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    unseen = cross_val_predict(model, values, right, cv=folds, method="predict_proba")[:, 1]
    model.fit(values, right)
    return {
        "n": len(used),
        "bias": float(model.intercept_[0]),
        **{name: float(weight) for name, weight in zip(signals, model.coef_[0], strict=True)},
        "auroc": auroc(unseen.tolist(), right.tolist()),
        "calibration_error": calibration_error(unseen.tolist(), right.tolist()),
    }


def fit_and_report(
    fitted: Sequence[ItemResult], reported: Sequence[ItemResult], signals: Sequence[str]
) -> dict[str, Any]:
    """Return the curve of some items, with AUROC and calibration error of others. Raises ValueError as fit() does."""
    found = fit(fitted, signals)
    used = [item for item in reported if item.given is not None and set(signals) <= set(item.signals)]
    right = [item.right[1] for item in used]
    sure = [
        1 / (1 + math.exp(-(found["bias"] + sum(found[name] * item.signals[name] for name in signals))))
        for item in used
    ]
    return found | {
        "reported": len(used), "auroc": auroc(sure, right), "calibration_error": calibration_error(sure, right),
        "error_beyond_chance": error_beyond_chance(sure, right), "accuracy": sum(right) / max(1, len(right)),
    }  # fmt: skip


def crossed(items: Sequence[ItemResult], signals: Sequence[str]) -> dict[str, Any]:
    """Return the figures of all items, each half by the curve of the other half.

    auroc_ci95: by 1,000 bootstrap samples. error_of_a_perfect_curve: median, and 5th and 95th percentile, of the
    calibration error if the curve were exactly right: few items in a bin differ from their chance by luck. Raises
    ValueError as fit() does.
    """
    sure: list[float] = []
    right: list[bool] = []
    for fitted, reported in (HALVES, HALVES[::-1]):
        found = fit(in_half(items, fitted, lambda item: item.id), signals)
        for item in in_half(items, reported, lambda item: item.id):
            if item.given is not None and set(signals) <= set(item.signals):
                level = found["bias"] + sum(found[name] * item.signals[name] for name in signals)
                sure.append(1 / (1 + math.exp(-level)))
                right.append(item.right[1])
    chance = np.random.default_rng(0)
    values, flags = np.asarray(sure), np.asarray(right)
    drawn = [chance.integers(0, len(sure), len(sure)) for _ in range(1_000)]
    ranks = [auroc(values[rows].tolist(), flags[rows].tolist()) for rows in drawn]
    luck = [calibration_error(sure, (chance.random(len(sure)) < values).tolist()) for _ in drawn]
    return {
        "signals": list(signals), "reported": len(sure), "accuracy": float(flags.mean()),
        "auroc": auroc(sure, right),
        "auroc_ci95": np.percentile([rank for rank in ranks if rank is not None], [2.5, 97.5]).round(3).tolist(),
        "calibration_error": calibration_error(sure, right),
        "error_beyond_chance": error_beyond_chance(sure, right),
        "error_of_a_perfect_curve": np.percentile(luck, [50, 5, 95]).round(3).tolist(),
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("--signals", default="", help="separated by commas; all of the report by default")
    parser.add_argument("--fit", choices=HALVES, default=None, help="the half that the curve is fitted on")
    parser.add_argument("--report", dest="reported", choices=HALVES, default=None, help="the half that it is tried on")
    parser.add_argument("--crossed", action="store_true", help="each half by the curve of the other, together")
    options = parser.parse_args(arguments)
    if (options.fit is None) != (options.reported is None) or (options.fit and options.fit == options.reported):
        parser.error("--fit and --report name the two halves")
    try:
        items = [ItemResult.read(row) for row in json.loads(options.report.read_text())["items"]]
        named = sorted({name for item in items for name in item.signals})
        chosen = options.signals.split(",") if options.signals else named
        for some in [[name] for name in chosen] + ([chosen] if len(chosen) > 1 else []):
            if options.crossed:
                print(json.dumps(crossed(items, some)))
                continue
            if options.fit is None:
                print(json.dumps(fit(items, some)))
                continue
            fitted, reported = (in_half(items, half, lambda item: item.id) for half in (options.fit, options.reported))
            print(json.dumps(fit_and_report(fitted, reported, some)))
    except (OSError, ValueError, LookupError, TypeError) as error:
        parser.error(f"{options.report}: {error}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
