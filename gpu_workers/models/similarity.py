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
from bert_score.utils import get_bert_embedding, get_model, greedy_cos_idf
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer

from gpu_workers.models.encoders import limit_torch_threads
from gpu_workers.models.roles import Meter, ModelCall, Scores

MINILM_LAYER = 6
MINILM_BASELINE = 0.133
"""Mean raw F1 of unrelated descriptions at layer 6: all 190 pairs of the 20 sentences in tests/models/test_vectors.py,
which also measures it again. Layer 5 lifts unrelated pairs to 0.46 and squeezes the scale."""
DEBERTA_LAYER = 40
DEBERTA_BASELINE = 0.517
"""Baseline of deberta-xlarge-mnli, layer 40: the one bert-score publishes for recall. Not measured here for F1."""
_MAX_TOKENS = 512


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """Token embeddings of one text, shape (tokens, width), and their weights; embeddings None for an empty text."""

    embeddings: torch.Tensor | None
    weights: torch.Tensor | None


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
        # bert-score tells kinds of model apart by substrings of the name ("t5"), which a path may contain by chance.
        self._model = get_model(str(model), num_layers).to(device)
        self._tokenizer.model_max_length = min(self._tokenizer.model_max_length, _MAX_TOKENS)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str], *, meter: Meter) -> Sequence[EncodedText]:
        started, tokens = time.monotonic(), 0
        encoded = [EncodedText(None, None)] * len(texts)
        order = sorted((k for k, text in enumerate(texts) if text.strip()), key=lambda k: len(texts[k]))
        weight: defaultdict[int, float] = defaultdict(lambda: 1.0)
        # As bert_score.score does it: separator and start tokens do not count.
        weight[self._tokenizer.sep_token_id] = 0.0
        weight[self._tokenizer.cls_token_id] = 0.0
        with self._lock:
            for at in range(0, len(order), self._batch):
                members = order[at : at + self._batch]
                embeddings, masks, weights = get_bert_embedding(
                    [texts[k] for k in members], self._model, self._tokenizer, weight, device=self._device
                )
                for row, k in enumerate(members):
                    length = int(masks[row].sum())
                    encoded[k] = EncodedText(
                        embeddings[row, :length].cpu().clone(), weights[row, :length].cpu().clone()
                    )
                    tokens += length
        if texts:
            wall_ms = round((time.monotonic() - started) * 1000)
            meter.record(ModelCall("similarity", self.name, wall_ms, prompt_tokens=tokens, items=len(texts)))
        return encoded

    def score(self, candidates: Sequence[object], references: Sequence[object]) -> Scores:
        """See roles.Similarity.score. Raises ValueError for unequal lengths,
        TypeError for what encode() did not make."""
        if len(candidates) != len(references):
            raise ValueError(f"{len(candidates)} candidates against {len(references)} references")
        result = np.zeros((3, len(candidates)), dtype=np.float32)
        pairs: list[tuple[int, EncodedText, EncodedText]] = []
        for k, (candidate, reference) in enumerate(zip(candidates, references, strict=True)):
            if not isinstance(candidate, EncodedText) or not isinstance(reference, EncodedText):
                raise TypeError("score() takes what encode() of the same class returned")
            if candidate.embeddings is not None and reference.embeddings is not None:
                pairs.append((k, candidate, reference))
        with torch.inference_mode():
            for at in range(0, len(pairs), 64):
                some = pairs[at : at + 64]
                # greedy_cos_idf divides in place; _padded hands it fresh tensors.
                scores = greedy_cos_idf(*_padded([r for _, _, r in some]), *_padded([c for _, c, _ in some]))
                result[:, [k for k, _, _ in some]] = torch.stack(scores).float().cpu().numpy()
        return Scores(*result)


def _padded(items: Sequence[EncodedText]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    embeddings = [item.embeddings for item in items if item.embeddings is not None]
    weights = [item.weights for item in items if item.weights is not None]
    lengths = torch.tensor([len(one) for one in embeddings])
    mask = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]
    # 2.0 as padding is bert-score's own: rows of zeros would become NaN when they are normalised.
    return (
        pad_sequence(embeddings, batch_first=True, padding_value=2.0).float(),
        mask,
        pad_sequence(weights, batch_first=True),
    )
