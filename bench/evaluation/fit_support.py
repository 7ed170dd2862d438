"""Weights of the parts of a choice's support: python -m bench.evaluation.fit_support SET DATA [--limit N] [--cached]
[--fit first --report second].

For another reasoner or text embedder than the embedded ones: gpu_workers.engine.models.calibration takes the weights
that this prints. They are the maximum-likelihood fit of a softmax over choices, first without the reasoner's odds and
then with them, one JSON line each, and separately for brief choices if there are enough of them; accuracy, log loss and
AUROC of the best choice's share are ten-fold cross-validated. With --fit and --report they, and the calibration error
of the curve of confidence, are those of questions that neither weights nor curve were fitted on
(bench.evaluation.halves). --cached asks no reasoner: questions whose calls no earlier run has kept are left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from tqdm import tqdm

from bench.evaluation.arms import supported
from bench.evaluation.cached_calls import CachedChat, CallCache
from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import CHOICE_SETS, UnreadableSet, first_items, read_choices
from bench.evaluation.halves import HALVES, half_of
from bench.evaluation.models import caption_models
from bench.evaluation.statistics import auroc, calibration_error
from gpu_workers.engine.answering.choices.support import Parts
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import (
    EMBEDDED_REASONER,
    LIMITS,
    ChoiceSupport,
    Coefficients,
    Fit,
    SupportWeights,
)
from gpu_workers.engine.models.roles import AnswerModels

FOLDS = 10
RIDGE = 0.02
"""Penalty on the square of each weight, in units of the part's spread. Between 0 and 0.1 this value had the least log
loss on EgoSchema's development half."""

NAMES = tuple(field.name for field in fields(SupportWeights))
JUDGE_TOKENS = 500


def fit(parts: Sequence[NDArray[np.float64]], truths: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    """Return the weights of the parts and how they do on questions that they were not fitted to.

    parts: for each question values of shape (names, choices). Raises ValueError if there are too few questions.
    """
    return _cross_validated(parts, truths, names)[0]


def _cross_validated(
    parts: Sequence[NDArray[np.float64]], truths: Sequence[int], names: Sequence[str]
) -> tuple[dict[str, Any], NDArray[np.float64], NDArray[np.bool_]]:
    """Return what fit() returns, and of each question the best share by weights of other folds and whether it is
    right."""
    if len(parts) < FOLDS:
        raise ValueError(f"{len(parts)} questions are too few: {FOLDS} at least")
    # In units of its spread over a question's choices every part is as easy to move, whatever it measures.
    spread = np.mean([part.std(axis=1) for part in parts], axis=0) + 1e-12
    scaled = [part / spread[:, None] for part in parts]
    seen: NDArray[np.float64] = np.zeros(len(parts))
    right = np.zeros(len(parts), dtype=bool)
    loss = np.zeros(len(parts))
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(scaled):
        fitted = _fitted([scaled[n] for n in train], [truths[n] for n in train])
        for n in test:
            shares = softmax(fitted @ scaled[n])
            seen[n], right[n], loss[n] = shares.max(), shares.argmax() == truths[n], -np.log(shares[truths[n]])
    whole = _fitted(scaled, truths)
    found = {
        "n": len(parts),
        **{name: float(value) for name, value in zip(names, whole / spread, strict=True)},
        "accuracy": float(right.mean()),
        "log_loss": float(loss.mean()),
        "auroc": auroc(seen.tolist(), right.tolist()),
    }
    return found, seen, right


def fit_and_report(
    fitted: Sequence[tuple[NDArray[np.float64], int]],
    reported: Sequence[tuple[NDArray[np.float64], int]],
    names: Sequence[str],
) -> dict[str, Any]:
    """Return weights and curve of some questions, and how they do on others. A question: its parts and its truth.

    The curve is fitted to best shares that are cross-validated over the fitted questions: shares of questions that the
    weights have seen are too large. Raises ValueError if there are too few questions.
    """
    found, seen, right = _cross_validated([part for part, _ in fitted], [truth for _, truth in fitted], names)
    curve = LogisticRegression(C=100.0).fit(seen[:, None], right)
    weights_found = np.asarray([found[name] for name in names])
    shares = [softmax(weights_found @ part) for part, _ in reported]
    hits = [bool(share.argmax() == truth) for share, (_, truth) in zip(shares, reported, strict=True)]
    sure = curve.predict_proba(np.asarray([share.max() for share in shares])[:, None])[:, 1]
    return found | {
        "bias": float(curve.intercept_[0]),
        "support": float(curve.coef_[0][0]),
        "reported": len(reported),
        "accuracy": float(np.mean(hits)),
        "log_loss": float(np.mean([-np.log(share[t]) for share, (_, t) in zip(shares, reported, strict=True)])),
        "auroc": auroc(sure.tolist(), hits),
        "calibration_error": calibration_error(sure.tolist(), hits),
    }


def _fitted(parts: Sequence[NDArray[np.float64]], truths: Sequence[int]) -> NDArray[np.float64]:
    # One array of all questions: a question with fewer choices than others is filled up with impossible ones.
    most = max(part.shape[1] for part in parts)
    together = np.stack([np.pad(part, ((0, 0), (0, most - part.shape[1]))) for part in parts])
    impossible = np.arange(most) >= np.array([part.shape[1] for part in parts])[:, None]
    row = np.arange(len(parts))

    def loss(trial: NDArray[np.float64]) -> float:
        powers = np.where(impossible, -np.inf, np.einsum("k,nkc->nc", trial, together))
        return float(-log_softmax(powers, axis=1)[row, truths].mean() + RIDGE * (trial**2).sum())

    found: NDArray[np.float64] = minimize(loss, np.full(len(parts[0]), 0.3), method="BFGS").x
    return found


def unfitted(models: AnswerModels, *, judge_tokens: int) -> AnswerModels:
    """Return models whose choices are compared and judged, whether or not weights were fitted to them.

    The weights are all 1. They matter only for questions with more than MOST_JUDGED choices, of which the likeliest are
    judged. Support counts for small reasoners alone, so a reasoner without limits gets those of the embedded one.
    """
    even = Fit(SupportWeights(1.0, 1.0, 1.0, 1.0))
    support = ChoiceSupport(
        weights=even,
        brief_weights=even,
        share=Fit(1.0),
        judge_tokens=Fit(judge_tokens),
        temperature=Fit(1.0),
        confidence=Fit(Coefficients(0.0, 0.0, 0.0, 0.0)),
    )
    limits = models.calibration.limits if models.calibration.limits.value else LIMITS[EMBEDDED_REASONER]
    return replace(models, calibration=replace(models.calibration, support=support, limits=limits))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=CHOICE_SETS)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=None, help="first n questions, as make eval takes them")
    parser.add_argument(
        "--judge-tokens", type=int, default=JUDGE_TOKENS, help="tokens of events that the reasoner reads of a choice"
    )
    parser.add_argument("--cached", action="store_true", help="use only calls that an earlier run has kept")
    parser.add_argument("--fit", choices=HALVES, default=None, help="the half that weights and curve are fitted on")
    parser.add_argument(
        "--report", dest="reported", choices=HALVES, default=None, help="the half that they are tried on"
    )
    options = parser.parse_args(arguments)
    if (options.fit is None) != (options.reported is None) or (options.fit and options.fit == options.reported):
        parser.error("--fit and --report name the two halves")
    folder = weights.cache_dir() / "evaluation"
    try:
        read = read_choices(options.set, options.data)
        judged: dict[bool, list[tuple[str, Parts, int]]] = {False: [], True: []}
        with caption_models(folder, reasoner=not options.cached) as bound:
            if options.cached:
                bound = replace(bound, reasoner=CachedChat(bound.reasoner, CallCache(folder / "calls.sqlite")))
            models = unfitted(bound, judge_tokens=options.judge_tokens)
            index = CaptionIndex(models.text_embedder, models.similarity, folder=folder / "indexes")
            questions = first_items(read.questions, options.limit, seed=0)
            for question in tqdm(questions, desc=options.set, unit="question"):
                memory = index.of_captions(question.video, read.captions[question.video], profile=read.profile)
                support = supported(question, memory, models, profile=read.profile, judged=True)
                # If the reasoner returned no odds, there is nothing to fit their weight to.
                if support is not None and support.judged:
                    judged[support.brief].append((question.id, support.parts, question.truth))
        most = max(map(len, judged.values()))
        for brief, found in judged.items():
            # A handful of the other kind is no reason to fail.
            if len(found) < FOLDS and len(found) < most:
                continue
            for some in (NAMES[:-1], NAMES):
                rows = [(key, np.stack(astuple(values))[: len(some)], truth) for key, values, truth in found]
                if options.fit is None:
                    fitted = fit([part for _, part, _ in rows], [truth for _, _, truth in rows], some)
                else:
                    one, other = (
                        [(part, truth) for key, part, truth in rows if half_of(key) == half]
                        for half in (options.fit, options.reported)
                    )
                    fitted = fit_and_report(one, other, some)
                print(json.dumps({"brief": brief, **fitted}))
    except (UnreadableSet, ValueError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
