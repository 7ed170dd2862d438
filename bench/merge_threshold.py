"""How often descriptions score above a threshold of merging: python -m bench.merge_threshold VIDEO VIDEO ...

For another describer or similarity model than the embedded ones. Describes each video with the models of the
environment and prints, as one JSON line per threshold, which share of the adjacent chunks of one video and which share
of the chunks of two videos score at least that much. gpu_workers.engine.models.calibration takes the threshold that
separates them best.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docs.examples.index_a_file import index_file
from gpu_workers.engine.models.bindings import load_index_models
from gpu_workers.engine.models.roles import Meter, Similarity
from gpu_workers.engine.models.settings import ModelSettings

THRESHOLDS = tuple(round(0.1 + 0.05 * step, 2) for step in range(18))


def scores_of(
    similarity: Similarity, videos: Sequence[Sequence[str]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rescaled F1 of all adjacent descriptions of one video, and of all pairs of two videos.

    videos: the descriptions of each video, in order of time. Raises ValueError without at least one pair of each kind.
    """
    adjacent = [pair for texts in videos for pair in pairwise(texts)]
    across = [pair for left, right in combinations(videos, 2) for pair in product(left, right)]
    if not adjacent or not across:
        raise ValueError("at least two videos with descriptions are needed, one of them with two chunks")
    texts = list(dict.fromkeys(text for video in videos for text in video))
    encoded = dict(zip(texts, similarity.encode(texts, meter=Meter()), strict=True))
    pairs = [*adjacent, *across]
    f1 = similarity.score([encoded[a] for a, _ in pairs], [encoded[b] for _, b in pairs]).f1.astype(np.float64)
    rescaled = (f1 - similarity.baseline) / (1.0 - similarity.baseline)
    return rescaled[: len(adjacent)], rescaled[len(adjacent) :]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("videos", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    models = load_index_models(ModelSettings.from_env())
    indexes = [index_file(video, models, profile="general", meter=Meter()) for video in options.videos]
    described = [[chunk.description for chunk in index.chunks if chunk.description] for index in indexes]
    try:
        adjacent, across = scores_of(models.similarity, described)
    except ValueError as error:
        parser.error(str(error))
    for threshold in THRESHOLDS:
        figures = {"similarity": models.similarity.name, "threshold": threshold}
        for name, scores in (("adjacent", adjacent), ("across", across)):
            figures |= {f"{name}_pairs": len(scores), f"{name}_share": float((scores >= threshold).mean())}
        print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
