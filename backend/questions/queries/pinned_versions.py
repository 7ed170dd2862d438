"""The index versions that questions and searches read.

Each pins the versions of its videos when it begins, or when its comparison is made.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, Q
from django.db.models.functions import Now

from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Video, VideoStatus
from backend.questions.models import OPEN, Evidence, Question, QuestionStatus, QuestionVideo, Search, SearchVideo


def videos_of_question(question: Question) -> list[QuestionVideo]:
    """Return the question's videos with their pinned versions, in the order of its scope."""
    return list(QuestionVideo.objects.filter(question_id=question.id).order_by("id"))


def videos_of_search(search: Search) -> list[SearchVideo]:
    """Return the search's videos with their pinned versions."""
    return list(SearchVideo.objects.filter(search_id=search.id).order_by("video_id"))


def profile_of(rows: list[QuestionVideo]) -> str:
    """Return the profile that selects the prompts: that of one of the videos, general without any."""
    profiles = Video.objects.filter(id__in=[row.video_id for row in rows]).values_list("profile", flat=True)
    return profiles.first() or "general"


def is_read(video_id: UUID, version: int) -> bool:
    """Whether a question or a search without an outcome reads the version.

    A question of a comparison reads it although its work has not begun: it was pinned when the comparison was made.
    """
    version_of_video = {"video_id": video_id, "index_version": version}
    questions = QuestionVideo.objects.filter(**version_of_video, question__status__in=OPEN)
    searches = SearchVideo.objects.filter(**version_of_video, search__status__in=OPEN)
    return bool(questions.exists() or searches.exists())


def open_questions_on(video_id: UUID) -> list[UUID]:
    """Return the questions without an outcome that have begun to read the video, or have no other video to read."""
    scoped = QuestionVideo.objects.filter(video_id=video_id, question__status__in=OPEN).values("question_id")
    others = Count("id", filter=~Q(video__status=VideoStatus.DELETING))
    left = dict(
        QuestionVideo.objects.filter(question_id__in=scoped).values_list("question_id").annotate(n=others).order_by()
    )
    begun = set(Question.objects.filter(id__in=list(left), status=QuestionStatus.RUNNING).values_list("id", flat=True))
    return sorted(id for id, videos in left.items() if id in begun or not videos)


def is_being_answered_from(video_id: UUID) -> bool:
    """Whether a worker holds a lease on a question whose scope has the video."""
    scoped = QuestionVideo.objects.filter(video_id=video_id).values("question_id")
    leased = Job.objects.filter(
        kind=JobKind.ANSWER_QUESTION, subject_id__in=scoped, state=JobState.RUNNING, lease_until__gt=Now()
    )
    return bool(leased.exists())


def citing_thumbnails(video_id: UUID, prefix: str) -> list[Evidence]:
    """Return the evidence that shows a thumbnail under prefix, because it has no copy of its own."""
    return list(Evidence.objects.filter(video_id=video_id, frame_key__startswith=prefix))
