"""Comparisons whose questions a scripted engine has answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from backend.questions.models import Comparison, Question
from backend.questions.services import comparisons
from backend.questions.services import questions as services
from gpu_workers.engine.answering.contract import Answer, CitationRecord, NodeRecord, Usage
from gpu_workers.engine.models.roles import ModelCall
from tests.conftest import Cast
from tests.factories import make_video

ARMS = ({"method": "caption_rag", "effort": "medium", "check": "auto"},
        {"method": "ava", "effort": "medium", "check": "auto"})  # fmt: skip
CHOICES = ["blue car", "red car", "no car"]


def call(ms: int = 1_000, prompt: int = 100, cached: int = 40, written: int = 10) -> ModelCall:
    return ModelCall(
        "answer", "qwen", wall_ms=ms, prompt_tokens=prompt, cached_tokens=cached, completion_tokens=written
    )


def answer(
    choice: int | None = None, text: str = "", *, calls: Sequence[ModelCall] = (call(),), **values: Any
) -> Answer:
    """An answer by choice or by words; without both it abstained."""
    words = CHOICES[choice] if choice is not None and not text else text
    fields: dict[str, Any] = {
        "finish_reason": "answered" if words else "insufficient_evidence",
        "confidence": 0.8,
        "signals": {"head": "votes"},
        "usage": Usage(tuple(calls)),
        "nodes": (NodeRecord("", 0, "SA", answer=words or None, frames_used=3, frames_available=5),),
    }
    return Answer(text=words, choice=choice, **{**fields, **values})


def cites(video_id: UUID, start_ms: int, end_ms: int, status: Any = "supported") -> CitationRecord:
    return CitationRecord(video_id, uuid7(), start_ms, end_ms, None, None, "A car.", status)


def make(cast: Cast, questions: Sequence[Mapping[str, Any]], **values: Any) -> tuple[Comparison, UUID]:
    """A comparison of two arms about one new video: (comparison, video id)."""
    with cast.scope():
        video = make_video(indexed_until_ms=30_000)
        asked = [
            {
                "text": f"Which car is number {n}?",
                "video_ids": [video.id],
                **{name: [{**span, "video_id": video.id} for span in value] if name == "evidence" else value
                   for name, value in fields.items()},
            }
            for n, fields in enumerate(questions)
        ]  # fmt: skip
        comparison = comparisons.create_comparison(
            **{"questions": asked, "arms": ARMS, "api_key_id": cast.key_id, **values}
        )
    return comparison, UUID(str(video.id))


def question_at(comparison: Comparison, item: int, arm: int, repeat: int = 0) -> Question:
    """The question of an item in an arm; inside an open tenant_scope."""
    return Question.objects.get(
        comparison_id=comparison.id, comparison_item__position=item, comparison_arm=arm, repeat=repeat
    )


def settle(cast: Cast, comparison: Comparison, item: int, arm: int, outcome: Any, repeat: int = 0) -> Question:
    """Give a question its outcome as a worker does: an Answer, or the code of a failure."""
    with cast.scope():
        question = question_at(comparison, item, arm, repeat)
        if isinstance(outcome, str):
            services.fail_question(question_id=question.id, code=outcome, message="No.")
            return question_at(comparison, item, arm, repeat)
        begun = services.begin(question_id=question.id)
        assert begun is not None
    with cast.scope():
        return services.store_answer(question=begun, answer=outcome, model_names={"reasoner": "qwen"})
