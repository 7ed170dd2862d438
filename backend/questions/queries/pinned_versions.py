"""The index versions that questions and searches read.

Each pins the versions of its videos when it begins, or when its comparison is made.
"""

from __future__ import annotations

from uuid import UUID

from backend.library.models import Video
from backend.questions.models import OPEN, Question, QuestionVideo, Search, SearchVideo


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
