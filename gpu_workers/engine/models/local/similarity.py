"""BERTScore (Zhang et al. 2020) through the bert-score package, each text encoded once."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from bert_score.utils import get_bert_embedding, get_model
from numpy.typing import NDArray
from transformers import AutoTokenizer

from gpu_workers.engine.models.host_occupancy import on_device
from gpu_workers.engine.models.local.encoders import limit_torch_threads
from gpu_workers.engine.models.roles import Meter, ModelCall, Scores

MINILM_LAYER = 6
MINILM_BASELINE = 0.133
"""Mean raw F1 of unrelated descriptions at layer 6: all 190 pairs of the 20 sentences in
tests/engine/models/test_vectors.py, which measures it again. Layer 5 lifts unrelated pairs to 0.46 and squeezes the
scale."""
DEBERTA_LAYER = 40
DEBERTA_BASELINE = 0.517
"""Baseline of deberta-xlarge-mnli, layer 40, as bert-score publishes it for recall. Not measured here for F1."""
_MAX_TOKENS = 512
_BATCH_COST = 250
"""Fixed cost of a batch, in characters of text (MiniLM on one core)."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """Token embeddings of one text, unit rows of shape (tokens, width), and their weights, which sum to 1."""

    embeddings: torch.Tensor
    weights: NDArray[np.float32]


_NOTHING = EncodedText(torch.zeros(0, 0), np.zeros(0, dtype=np.float32))
"""Encoding of an empty text, and of a text of which no token counts."""


def _encoded(embeddings: torch.Tensor, weights: torch.Tensor) -> EncodedText:
    total = weights.sum()
    if not total:
        return _NOTHING
    return EncodedText(torch.nn.functional.normalize(embeddings, dim=1), (weights / total).numpy())


class BertScoreSimilarity:
    """A roles.Similarity. Equals bert_score.score(model_type=..., num_layers=..., idf=False) on the same texts.

    An empty text scores 0 against everything. Texts beyond the model's positions are cut: the tokenizers of several
    models declare a length of 10**30, which would otherwise run past the position table.
    """

    def __init__(
        self, model: Path | str, *, num_layers: int, baseline: float, name: str, device: str = "cpu", batch: int = 32
    ) -> None:
        limit_torch_threads()
        self.name = name
        self.baseline = baseline
        self._device, self._batch = device, batch
        self._tokenizer = AutoTokenizer.from_pretrained(str(model))
        # bert-score distinguishes kinds of model by substrings of the name ("t5"), which a path may contain by chance.
        self._model = get_model(str(model), num_layers).to(device)
        self._tokenizer.model_max_length = min(self._tokenizer.model_max_length, _MAX_TOKENS)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[EncodedText]:
        tokens = 0
        encoded = [_NOTHING] * len(texts)
        order = sorted((k for k, text in enumerate(texts) if text.strip()), key=lambda k: len(texts[k]))
        weight: defaultdict[int, float] = defaultdict(lambda: 1.0)
        # Separator and start tokens do not count, as in bert_score.score.
        weight[self._tokenizer.sep_token_id] = 0.0
        weight[self._tokenizer.cls_token_id] = 0.0
        with self._lock, on_device(self._device) as share:
            started = time.monotonic()
            for members in self._batches(order, texts):
                embeddings, masks, weights = get_bert_embedding(
                    [texts[k] for k in members], self._model, self._tokenizer, weight, device=self._device
                )
                for row, k in enumerate(members):
                    length = int(masks[row].sum())
                    encoded[k] = _encoded(embeddings[row, :length].cpu().float(), weights[row, :length].cpu().float())
                    tokens += length
            wall_ms = round((time.monotonic() - started) * 1000)
        if texts:
            call = ModelCall("similarity", self.name, wall_ms, tokens, items=len(texts), device_ms=share.ms)
            meter.record(call)
        return encoded

    def _batches(self, order: Sequence[int], texts: Sequence[str]) -> list[Sequence[int]]:
        """Return order, which goes from short texts to long ones, in parts of at most a batch.

        On a CPU padding costs as much as text, so the parts are those with the lowest total cost.
        """
        if self._device != "cpu":
            return [order[at : at + self._batch] for at in range(0, len(order), self._batch)]
        cost, begin = [0], [0]
        for end in range(1, len(order) + 1):
            longest = len(texts[order[end - 1]])
            least = min(
                (cost[start] + (end - start) * longest, start) for start in range(max(0, end - self._batch), end)
            )
            cost.append(least[0] + _BATCH_COST)
            begin.append(least[1])
        parts, end = [], len(order)
        while end:
            parts.append(order[begin[end] : end])
            end = begin[end]
        return parts[::-1]

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        """See roles.Similarity.score. Raises ValueError for unequal lengths, TypeError for objects that encode() did
        not make."""
        if len(candidates) != len(references):
            raise ValueError(f"{len(candidates)} candidates against {len(references)} references")
        result = np.zeros((3, len(candidates)), dtype=np.float32)
        # By reference: the merge compares one new text with several known ones.
        compared: dict[int, tuple[EncodedText, list[tuple[int, EncodedText]]]] = {}
        for k, (candidate, reference) in enumerate(zip(candidates, references, strict=True)):
            if not isinstance(candidate, EncodedText) or not isinstance(reference, EncodedText):
                raise TypeError("score() takes what encode() of the same class returned")
            if candidate is not _NOTHING and reference is not _NOTHING:
                compared.setdefault(id(reference), (reference, []))[1].append((k, candidate))
        # The same as greedy_cos_idf of bert-score, without padding and with rows that are normalised once. A padded
        # batch of bert-score holds a 0 for every token, so no cosine counts as less than 0. Here that holds for every
        # text, whatever it is scored with.
        for reference, against in compared.values():
            rows_of_reference = [k for k, _ in against]
            starts = np.cumsum([0, *(len(candidate.weights) for _, candidate in against[:-1])])
            # torch multiplies, not numpy: threads of two libraries would wait for each other in turn.
            rows = torch.cat([candidate.embeddings for _, candidate in against])
            cosines = (rows @ reference.embeddings.T).clamp_(min=0.0).numpy()
            weights = np.concatenate([candidate.weights for _, candidate in against])
            result[0, rows_of_reference] = np.add.reduceat(cosines.max(axis=1) * weights, starts)
            result[1, rows_of_reference] = np.maximum.reduceat(cosines, starts, axis=0) @ reference.weights
        both = result[0] + result[1]
        np.divide(2 * result[0] * result[1], both, out=result[2], where=both != 0)
        return Scores(*result)
