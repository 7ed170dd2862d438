"""Questions and everything that led to their answers."""

from backend.questions.models.answers import Candidate, Evidence, Node
from backend.questions.models.comparisons import (
    Comparison,
    ComparisonItem,
    ComparisonStatus,
    ComparisonVideo,
    Grade,
    Grader,
    Grading,
    LeftOut,
)
from backend.questions.models.outcomes import OPEN, Failure, QuestionStatus, failure_of
from backend.questions.models.questions import (
    BatchStatus,
    Feedback,
    Question,
    QuestionBatch,
    QuestionPace,
    QuestionVideo,
    Session,
    Verdict,
)
from backend.questions.models.searches import Search, SearchVideo
from backend.questions.models.times import StageTimes, TimesKind, TimesStep

__all__ = [
    "OPEN",
    "BatchStatus",
    "Candidate",
    "Comparison",
    "ComparisonItem",
    "ComparisonStatus",
    "ComparisonVideo",
    "Evidence",
    "Failure",
    "Feedback",
    "Grade",
    "Grader",
    "Grading",
    "LeftOut",
    "Node",
    "Question",
    "QuestionBatch",
    "QuestionPace",
    "QuestionStatus",
    "QuestionVideo",
    "Search",
    "SearchVideo",
    "Session",
    "StageTimes",
    "TimesKind",
    "TimesStep",
    "Verdict",
    "failure_of",
]
