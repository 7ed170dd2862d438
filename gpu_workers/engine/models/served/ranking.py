"""A reranker behind /v1/rerank, and natural language inference behind vLLM's /classify: no torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.models.roles import Entailment, Meter, ModelError
from gpu_workers.engine.models.served.transport import (
    LineOptions,
    ModelServer,
    at_once,
    of_vllm,
    rows_of,
)
from gpu_workers.engine.models.token_counts import cut, tokens_of

PASSAGES_PER_REQUEST = 64
NLI_LABELS = ("entailment", "neutral", "contradiction")


class ServedReranker:
    """A roles.Reranker: a cross-encoder of one output behind /v1/rerank of vLLM, or of a provider of that protocol.

    context_tokens: its window; of a longer query and passage, the passage is cut.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        context_tokens: int = 8_192,
        **options: Unpack[LineOptions],
    ) -> None:
        self.name = model
        self._context_tokens = context_tokens
        self._server = ModelServer(base_url=base_url, model=model, **options)

    def rerank(self, query: str, passages: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        """See roles.Reranker.rerank. An empty passage has relevance 0, and an empty query makes all of them 0."""
        scores = np.zeros(len(passages), dtype=np.float32)
        filled = [k for k, passage in enumerate(passages) if passage.strip()] if query.strip() else []
        parts = [filled[at : at + PASSAGES_PER_REQUEST] for at in range(0, len(filled), PASSAGES_PER_REQUEST)]
        short = cut(query, self._context_tokens // 2)
        room = self._context_tokens - tokens_of(short) - 8

        def ask(part: Sequence[int]) -> list[float]:
            return self._server.post(
                "/rerank",
                {"query": short, "documents": [cut(passages[k], room) for k in part], "top_n": len(part)},
                lambda reply: [_share(row["relevance_score"]) for row in rows_of(reply["results"], len(part))],
                stage="rerank",
                meter=meter,
                items=len(part),
                # A tokenizer of bytes has more tokens than cut() expects; vLLM cuts the rest.
                optional=of_vllm(meter),
            )

        for part, found in zip(parts, at_once(ask, parts), strict=True):
            scores[part] = found
        return scores


class ServedEntailer:
    """A roles.Entailer: a sequence classifier of three labels behind vLLM's /classify.

    labels: what the model calls its outputs, in their order. separator: what its tokenizer puts between the two texts
    of a pair ("</s></s>" for RoBERTa and XLM-RoBERTa, "[SEP]" for ModernBERT); /classify takes no pairs, so the client
    puts it there. A model that marks the second text by token types (BERT, DeBERTa) cannot be used this way.
    context_tokens: its window; of a longer pair, the premise is cut.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        labels: Sequence[str] = NLI_LABELS,
        separator: str = "</s></s>",
        context_tokens: int = 512,
        **options: Unpack[LineOptions],
    ) -> None:
        self.name = model
        self._labels = tuple(label.lower() for label in labels)
        if set(self._labels) != set(NLI_LABELS):
            raise ValueError(f"labels are {', '.join(NLI_LABELS)} in the model's order, got {', '.join(labels)}")
        self._columns = [self._labels.index(label) for label in NLI_LABELS]
        self._separator, self._context_tokens = separator, context_tokens
        self._marks = (separator, "<s>", "</s>", "<pad>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
        self._server = ModelServer(base_url=base_url, model=model, **options)

    def entail(self, pairs: Sequence[tuple[str, str]], *, meter: Meter) -> list[Entailment]:
        """See roles.Entailer.entail. A pair with an empty text says nothing of each other: neutral is 1."""
        found = [Entailment(0.0, 1.0, 0.0)] * len(pairs)
        filled = [k for k, (premise, hypothesis) in enumerate(pairs) if premise.strip() and hypothesis.strip()]
        parts = [filled[at : at + PASSAGES_PER_REQUEST] for at in range(0, len(filled), PASSAGES_PER_REQUEST)]

        def ask(part: Sequence[int]) -> list[Entailment]:
            return self._server.post(
                "//classify",
                {"input": [self._joined(*pairs[k]) for k in part]},
                lambda reply: [self._entailment(row) for row in rows_of(reply["data"], len(part))],
                stage="entailment",
                meter=meter,
                items=len(part),
                optional=of_vllm(meter),
            )

        for part, entailments in zip(parts, at_once(ask, parts), strict=True):
            for k, entailment in zip(part, entailments, strict=True):
                found[k] = entailment
        return found

    def _joined(self, premise: str, hypothesis: str) -> str:
        second = cut(self._plain(hypothesis), self._context_tokens // 2)
        first = cut(self._plain(premise), self._context_tokens - tokens_of(second) - 8)
        return f"{first}{self._separator}{second}"

    def _plain(self, text: str) -> str:
        """Return text without the marks that the tokenizer would take for the end of a text."""
        for mark in self._marks:
            text = text.replace(mark, " ")
        return text.strip()

    def _entailment(self, row: Mapping[str, Any]) -> Entailment:
        shares = [_share(share) for share in row["probs"]]
        if len(shares) != len(NLI_LABELS):
            message = f"{self.name}: {len(shares)} labels, not {len(NLI_LABELS)}; it is no model of entailment"
            raise ModelError("model_misconfigured", message, retryable=True)
        named, likeliest = row.get("label"), self._labels[int(np.argmax(shares))]
        # The server names the likeliest label, which shows that the order is the configured one.
        if isinstance(named, str) and named.lower() in NLI_LABELS and named.lower() != likeliest:
            message = f"{self.name}: its labels are in another order than {', '.join(self._labels)}"
            raise ModelError("model_misconfigured", message, retryable=True)
        return Entailment(*(shares[column] for column in self._columns))


def _share(number: object) -> float:
    """Return a number from 0 to 1. Raises ValueError."""
    if not isinstance(number, int | float) or not 0.0 <= number <= 1.0:
        raise ValueError(f"{number!r} is no share between 0 and 1")
    return float(number)
