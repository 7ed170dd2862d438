"""A question that is asked once more with another method or effort, to compare the two answers."""

from __future__ import annotations

from uuid import UUID

from backend.api.public_ids import encode
from backend.questions.models import Question, QuestionVideo
from backend.questions.services.questions import create_question
from backend.tenancy.refusals import invalid

ASKED_AGAIN = "asked_again_of"
"""Key in the metadata of the copy, whose value is the public id of the question that it repeats."""


def ask_again(*, question_id: UUID, method: str, effort: str) -> Question:
    """Ask a question once more about the same videos and span, and return the new question.

    The copy reads the present indexes. It has no session, batch or comparison. Its metadata name the question that it
    repeats. It is not charged, and no limit of the tenant holds it. Raises Refused as create_question() does.
    """
    asked: Question = Question.objects.get(id=question_id)
    videos = QuestionVideo.objects.filter(question_id=question_id).values_list("video_id", flat=True)
    if not videos:
        raise invalid(pointer="/video_ids", code="missing", detail="The videos of this question are gone.")
    return create_question(
        video_ids=list(videos),
        text=asked.standalone or asked.text,
        choices=asked.choices,
        start_ms=asked.start_ms,
        end_ms=asked.end_ms,
        method=method,
        effort=effort,
        check=asked.check_mode if method == asked.method else "auto",
        route=asked.route if method == asked.method else "auto",
        language=asked.language,
        budget=asked.budget,
        seed=asked.seed,
        metadata={ASKED_AGAIN: encode("qst", asked.id)},
        asked_by_operator=True,
    )
