"""What a deleted video leaves in answers, searches and events: nothing that was read from it.

A question keeps its own words, its times and its cost. Its answer may join several videos in one sentence, so the whole
answer goes, not a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.db.models import QuerySet
from uuid6 import uuid7

from backend.library.services.retention import removes_derived_text
from backend.questions.models import OPEN, Candidate, Node, Question, QuestionVideo
from backend.questions.services import searches
from backend.questions.services.deletions import drop_questions
from backend.webhooks.redaction import redact_events

AT_ONCE = 500
VIDEO_DELETED = "video_deleted"
"""finish_detail of a question that lost its answer, or was canceled, because a video of its scope was deleted."""


def forget_video(video_id: UUID) -> None:
    """Remove what searches, answers and events hold of a video, before the video's rows are deleted.

    Questions that have ended are redacted or deleted, as the tenant's retention says; those of a comparison are always
    redacted. An open question has read nothing of the video yet.
    """
    searches.forget_video(video_id)
    read = QuestionVideo.objects.filter(video_id=video_id).values("question_id")
    ended = Question.objects.filter(id__in=read).exclude(status__in=OPEN)
    if removes_derived_text():
        for ids in _by_ids(ended.filter(comparison_id=None)):
            drop_questions(Question.objects.filter(id__in=ids), grave=UUID(bytes=uuid7().bytes))
    for ids in _by_ids(ended):
        redact(ids)


def redact(ids: list[UUID]) -> None:
    """Empty everything in these questions that was read from their videos."""
    mine = Question.objects.filter(id__in=ids)
    talks = mine.exclude(session_id=None).values_list("session_id", flat=True)
    # A later question of the conversation may repeat words of the answer.
    later = Question.objects.filter(session_id__in=list(talks)).exclude(status__in=OPEN)
    later.update(standalone="")
    # The grade of a compared question stays, and the choice behind it: numbers that show nothing.
    mine.filter(comparison_id=None).update(choice=None)
    mine.update(
        answer="",
        standalone="",
        partial={},
        understood={},
        claims=[],
        composition={},
        notes=[],
        error_message="",
        finish_detail=VIDEO_DELETED,
    )
    nodes = Node.objects.filter(question_id__in=ids)
    Candidate.objects.filter(node_id__in=nodes.values("id")).update(answer="", reasoning="", choice=None)
    nodes.update(events=[], sub_queries=[], answer=None, seen=[], note="", detail={})
    redact_events(ids)


def _by_ids(questions: QuerySet[Question]) -> Iterator[list[UUID]]:
    """Yield the ids of the questions, up to AT_ONCE together."""
    ids = list(questions.order_by("id").values_list("id", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]
