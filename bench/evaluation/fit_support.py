"""Weights of the parts of a choice's support: python -m bench.evaluation.fit_support SET DATA [--limit N].

For another reasoner or text embedder than the embedded ones: gpu_workers.engine.models.calibration takes the weights
that this prints. They are the maximum-likelihood fit of a softmax over choices, first without the reasoner's odds and
then with them, one JSON line each, and separately for brief choices if there are enough of them; accuracy, log loss and
AUROC of the best choice's share are ten-fold cross-validated.
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
from sklearn.model_selection import KFold
from tqdm import tqdm

from bench.evaluation.arms import supported
from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import CHOICE_SETS, UnreadableSet, first_items, read_choices
from bench.evaluation.models import caption_models
from bench.evaluation.statistics import auroc
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
    return {
        "n": len(parts),
        **{name: float(value) for name, value in zip(names, whole / spread, strict=True)},
        "accuracy": float(right.mean()),
        "log_loss": float(loss.mean()),
        "auroc": auroc(seen.tolist(), right.tolist()),
    }


def _fitted(parts: Sequence[NDArray[np.float64]], truths: Sequence[int]) -> NDArray[np.float64]:
    def loss(trial: NDArray[np.float64]) -> float:
        likely = [-log_softmax(trial @ part)[truth] for part, truth in zip(parts, truths, strict=True)]
        return float(np.mean(likely) + RIDGE * (trial**2).sum())

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
    options = parser.parse_args(arguments)
    folder = weights.cache_dir() / "evaluation"
    try:
        read = read_choices(options.set, options.data)
        judged: dict[bool, list[tuple[Parts, int]]] = {False: [], True: []}
        with caption_models(folder, reasoner=True) as bound:
            models = unfitted(bound, judge_tokens=options.judge_tokens)
            index = CaptionIndex(models.text_embedder, models.similarity, folder=folder / "indexes")
            questions = first_items(read.questions, options.limit, seed=0)
            for question in tqdm(questions, desc=options.set, unit="question"):
                memory = index.of_captions(question.video, read.captions[question.video], profile=read.profile)
                support = supported(question, memory, models, profile=read.profile, judged=True)
                # If the reasoner returned no odds, there is nothing to fit their weight to.
                if support is not None and support.judged:
                    judged[support.brief].append((support.parts, question.truth))
        most = max(map(len, judged.values()))
        for brief, found in judged.items():
            # A handful of the other kind is no reason to fail.
            if len(found) < FOLDS and len(found) < most:
                continue
            parts, truths = [np.stack(astuple(values)) for values, _ in found], [truth for _, truth in found]
            for some in (NAMES[:-1], NAMES):
                print(json.dumps({"brief": brief, **fit([part[: len(some)] for part in parts], truths, some)}))
    except (UnreadableSet, ValueError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
