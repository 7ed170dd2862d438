"""The head of a ranking in the order of a reranker, which reads question and event together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_workers.engine.models.roles import Meter, Reranker
from gpu_workers.engine.ports import Hit
from gpu_workers.engine.retrieval.fusion import RankedEvent


def reranked(
    ranking: Sequence[RankedEvent], query: str, texts: Sequence[str], reranker: Reranker, *, meter: Meter
) -> list[RankedEvent]:
    """Return the ranking with its first len(texts) events in the reranker's order; the others follow as they are.

    texts: the words of these events, in order. The n-th event keeps the n-th score, so that scores of a later search
    are comparable. reasons: also the reranker's hit, whose similarity is the relevance. Raises ModelError.
    """
    head, rest = ranking[: len(texts)], ranking[len(texts) :]
    if not head:
        return list(rest)
    relevance = [float(value) for value in reranker.rerank(query, texts, meter=meter)]
    order = sorted(range(len(head)), key=lambda n: (-relevance[n], n))
    return [
        *(
            replace(
                head[n],
                score=head[place].score,
                reasons=(*head[n].reasons, Hit(head[n].event_id, relevance[n], "rerank")),
            )
            for place, n in enumerate(order)
        ),
        *rest,
    ]
