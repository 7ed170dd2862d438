"""Helpers of arms that no model takes part in: similarity by words, and another item for each item."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer


class Words:
    """TF-IDF over a collection of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._vectors = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit(texts)

    def similarity(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Return cosines, shape (len(left), len(right))."""
        product = self._vectors.transform(left) @ self._vectors.transform(right).T
        return np.asarray(product.toarray(), dtype=np.float64)


def derangement(names: Sequence[str], seed: int) -> dict[str, str]:
    """Return another name for each name: neighbours in a shuffled round, so that no name gets itself."""
    order = list(names)
    random.Random(seed).shuffle(order)
    return dict(zip(order, [*order[1:], order[0]], strict=True))
