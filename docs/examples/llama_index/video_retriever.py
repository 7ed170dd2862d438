"""A retriever for LlamaIndex (PyPI `llama-index-core`): moments of videos as nodes, with where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ava_cloud import AsyncAva, Ava
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode


class VideoRetriever(BaseRetriever):
    """Finds the moments of videos that fit a query. video_ids: the videos to search. limit: most moments."""

    def __init__(self, video_ids: Sequence[str], *, limit: int = 10, ava: Ava | None = None) -> None:
        self._video_ids, self._limit, self._ava = list(video_ids), limit, ava or Ava()
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._ava.search(query_bundle.query_str, video_ids=self._video_ids, limit=self._limit)
        return [_node(moment) for moment in found.results]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        async with AsyncAva() as ava:
            found = await ava.search(query_bundle.query_str, video_ids=self._video_ids, limit=self._limit)
        return [_node(moment) for moment in found.results]


def _node(moment: Any) -> NodeWithScore:
    metadata = {"video_id": moment.video_id, "start_ms": moment.start_ms, "end_ms": moment.end_ms}
    node = TextNode(id_=moment.event_id, text=moment.summary, metadata=metadata)
    return NodeWithScore(node=node, score=moment.score)
