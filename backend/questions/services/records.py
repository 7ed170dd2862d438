"""Writes of the rows behind an answer: the search tree's nodes with their candidates, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from backend.ekg.models import Frame
from backend.questions.models import Candidate, Evidence, Node, Question, QuestionVideo
from gpu_workers.engine.answering.contract import DETAIL_CHARACTERS

if TYPE_CHECKING:
    from gpu_workers.engine.answering.contract import Answer, NodeRecord


def write_answer_rows(*, question: Question, answer: Answer, frame_keys: Mapping[UUID, str]) -> None:
    """Write all nodes, candidates and evidence of one answer; ordinals follow the engine's order.

    Nodes that were stored while the search ran are written again: the answer has the last word about them.
    """
    forget_nodes([question.id])
    _write_nodes(question, answer.nodes)
    thumbnails = _thumbnails(question, answer)
    Evidence.objects.bulk_create(
        [
            Evidence(
                tenant_id=question.tenant_id,
                question=question,
                video_id=citation.video_id,
                ordinal=ordinal,
                event_id=citation.event_id,
                start_ms=citation.start_ms,
                end_ms=citation.end_ms,
                frame_ms=citation.frame_ms,
                frame_key=(frame_keys.get(citation.frame_id, "") if citation.frame_id else "")
                or thumbnails.get((citation.video_id, citation.frame_ms), ""),
                quote=citation.quote,
                status=citation.status,
                confidence=citation.closeness,
            )
            for ordinal, citation in enumerate(answer.citations)
        ]
    )


def forget_nodes(question_ids: Iterable[UUID]) -> None:
    """Remove the nodes of searches without an answer, or before their answer writes them."""
    ids = list(question_ids)
    Candidate.objects.filter(node__question_id__in=ids).delete()
    Node.objects.filter(question_id__in=ids).delete()


def write_new_nodes(question: Question, records: Sequence[NodeRecord]) -> None:
    """Write those of these nodes that are not stored. records: all of the search so far, in the engine's order."""
    stored = Node.objects.filter(question_id=question.id).count()
    _write_nodes(question, records[stored:], first=stored)


def _write_nodes(question: Question, records: Sequence[NodeRecord], *, first: int = 0) -> None:
    """Write nodes with their candidates. first: ordinal of the first of them."""
    rows = [_node(question, ordinal, record) for ordinal, record in enumerate(records, start=first)]
    Node.objects.bulk_create(rows)
    Candidate.objects.bulk_create(
        [
            Candidate(
                tenant_id=question.tenant_id,
                node=node,
                ordinal=ordinal,
                answer=candidate.answer or "",
                choice=candidate.choice,
                reasoning=candidate.reasoning,
                agreement=candidate.agreement,
                coherence=candidate.thought,
                score=candidate.score,
            )
            for node, record in zip(rows, records, strict=True)
            for ordinal, candidate in enumerate(record.candidates)
        ]
    )


def claims_of(answer: Answer) -> list[dict[str, Any]]:
    """Return the answer's claims as a question stores them. evidence: ordinals of the answer's evidence."""
    return [{"text": claim.text, "status": claim.status, "evidence": list(claim.citations)} for claim in answer.claims]


def composition_of(answer: Answer) -> dict[str, Any]:
    """Return the parts of a composed answer as a question stores them; {} for a sentence. claim: its index."""
    if not answer.parts:
        return {}
    parts = [{"text": part.text, "cells": list(part.cells), "claim": part.claim} for part in answer.parts]
    return {"shape": answer.shape, "columns": list(answer.columns), "parts": parts}


def _node(question: Question, ordinal: int, record: NodeRecord) -> Node:
    return Node(
        tenant_id=question.tenant_id,
        question=question,
        ordinal=ordinal,
        path=record.path,
        action=record.action,
        depth=record.depth,
        events=[
            {
                "event_id": str(event.event_id),
                "rank": event.rank,
                "score": event.score,
                "number": event.number,
                "views": list(event.found_by),
            }
            for event in record.events
        ],
        sub_queries=list(record.sub_queries),
        answer=record.answer,
        score=record.score,
        seen=list(record.seen),
        note=record.note,
        detail=_detail(record),
        reused_from=record.reused_from,
        error_code=record.error,
        usage={
            "prompt_tokens": record.prompt_tokens,
            "completion_tokens": record.completion_tokens,
            "frames_used": record.frames_used,
            "frames_available": record.frames_available,
        },
        started_ms=record.started_ms,
        wall_ms=record.wall_ms,
    )


def _detail(record: NodeRecord) -> dict[str, Any]:
    """Return the detail of a step as it is stored: observations are bounded, whatever a tool returned."""
    detail = dict(record.detail)
    if isinstance(detail.get("observation"), str):
        detail["observation"] = detail["observation"][:DETAIL_CHARACTERS]
    return detail


def _thumbnails(question: Question, answer: Answer) -> dict[tuple[UUID, int | None], str]:
    """Return the thumbnail keys of the cited frames in the index versions that the answer read, by (video, ms)."""
    versions = dict(QuestionVideo.objects.filter(question_id=question.id).values_list("video_id", "index_version"))
    cited = {citation.frame_ms for citation in answer.citations if citation.frame_ms is not None}
    if not cited:
        return {}
    frames = Frame.objects.filter(video_id__in=versions, ms__in=cited).values_list(
        "video_id", "index_version", "ms", "thumbnail_key"
    )
    return {(video, ms): key for video, version, ms, key in frames if version == versions[video]}
