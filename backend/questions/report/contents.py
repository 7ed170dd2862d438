"""What the report of a question says, as data: read inside the tenant's scope, without object storage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from backend.api.public_ids import encode
from backend.billing.rates import plain
from backend.library.models import InputSegment, InputStatus, SourceType, Video
from backend.library.wall_clocks import filmed, fitted_clocks
from backend.questions.models import OPEN, Evidence, Question, QuestionVideo
from backend.questions.services.derived_text import VIDEO_DELETED
from backend.tenancy.refusals import Refused
from gpu_workers.engine.clock_evidence import FittedClock
from gpu_workers.engine.clock_text import clock

SHOWN_EVIDENCE = 50
"""Maximum number of pieces of evidence that a report shows; the rest is counted. A PDF takes about 30 ms for each on a
core of 2026, and a request must not take much more than a second."""
SHOWN_CLAIMS = 100
"""Maximum number of statements that a report lists; the rest is counted."""
SHOWN_VIDEOS = 50
"""Maximum number of videos of the scope that a report lists; the rest is counted."""

_ENDS = {
    "answered": "Answered",
    "insufficient_evidence": "Without an answer: the evidence is insufficient",
    "budget": "The budget ended the search",
    "refused": "Refused",
    "error": "Failed",
    "canceled": "Canceled",
}


@dataclass(frozen=True, slots=True)
class ReportClaim:
    """A statement of the answer. evidence: numbers of the evidence behind it, from 1."""

    text: str
    status: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReportEvidence:
    """A piece of evidence, with texts for people.

    at, filmed: its time in the video, and on the wall clock, "" if that is unknown. picture_at: time of the picture in
    the video. frame_key: the object with the picture. sha256: of the stored file that shows the event. All of the last
    three are "" if there is none.
    """

    number: int
    video: str
    video_id: str
    event_id: str
    at: str
    filmed: str
    quote: str
    status: str
    similarity: str
    picture_at: str
    frame_key: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ReportVideo:
    """A video of the scope. sha256: of its file, "" if it is unknown or if the recording came in several files."""

    id: str
    title: str
    duration: str
    recorded_at: str
    index_version: int | None
    indexed_until: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ReportContents:
    """The report of one question. choices: (text, whether it is chosen). made_with: (name, value), in order.

    rows: the cells of an answer that is a table, under its columns. more_claims, more_evidence, more_videos: number of
    those left out.
    """

    id: str
    question: str
    language: str
    ended: str
    answer: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    choices: tuple[tuple[str, bool], ...]
    confidence: str
    claims: tuple[ReportClaim, ...]
    more_claims: int
    evidence: tuple[ReportEvidence, ...]
    more_evidence: int
    not_found: tuple[str, ...]
    videos: tuple[ReportVideo, ...]
    more_videos: int
    span: str
    made_with: tuple[tuple[str, str], ...]


def contents_of(question: Question) -> ReportContents:
    """Return what the report of a question says. Raises Refused `question_open`."""
    if question.status in OPEN:
        raise Refused("question_open", "The question has no outcome yet. Ask for its report once it has one.")
    scope = list(QuestionVideo.objects.filter(question_id=question.id).select_related("video").order_by("id"))
    cited = list(Evidence.objects.filter(question_id=question.id).select_related("video").order_by("ordinal"))
    shown = cited[:SHOWN_EVIDENCE]
    versions = {row.video_id: row.index_version for row in scope if row.index_version is not None}
    clocks = fitted_clocks({row.video_id: row.video for row in shown}.values(), versions=versions)
    files = _files_of(row.video for row in shown)
    composition: Mapping[str, Any] = question.composition or {}
    columns = tuple(composition.get("columns", ()))
    return ReportContents(
        id=encode("qst", question.id),
        question=question.text,
        language=question.language,
        ended=_ENDS.get(question.finish_reason, question.get_status_display()),
        answer=question.answer,
        columns=columns,
        rows=tuple(tuple(part["cells"]) for part in composition["parts"]) if columns else (),
        choices=tuple((text, index == question.choice) for index, text in enumerate(question.choices)),
        confidence=f"{question.confidence:.0%}" if question.confidence is not None else "",
        claims=tuple(
            ReportClaim(claim["text"], claim["status"], tuple(n + 1 for n in claim["evidence"]))
            for claim in question.claims[:SHOWN_CLAIMS]
        ),
        more_claims=max(0, len(question.claims) - SHOWN_CLAIMS),
        evidence=tuple(_evidence(row, clocks[row.video_id], files.get(row.video_id, ())) for row in shown),
        more_evidence=len(cited) - len(shown),
        not_found=_not_found(question),
        videos=tuple(_video(row) for row in scope[:SHOWN_VIDEOS]),
        more_videos=max(0, len(scope) - SHOWN_VIDEOS),
        span=_scope_span(question),
        made_with=tuple(_made_with(question)),
    )


def at(ms: int) -> str:
    """Return a time in a video for people, to the millisecond."""
    return f"{clock(ms, hours=True)}.{ms % 1_000:03}"


def _evidence(row: Evidence, fitted: FittedClock, files: Sequence[tuple[int, int, str]]) -> ReportEvidence:
    times = filmed(fitted, row.start_ms, row.end_ms)
    return ReportEvidence(
        number=row.ordinal + 1,
        video=row.video.title,
        video_id=encode("vid", row.video_id),
        event_id=encode("evt", row.event_id),
        at=f"{at(row.start_ms)} to {at(row.end_ms)}",
        filmed=" to ".join(_moment(moment) for moment in times.values() if moment is not None),
        quote=row.quote,
        status=row.status,
        similarity=f"{row.confidence:.2f}" if row.confidence is not None else "",
        picture_at=at(row.frame_ms) if row.frame_ms is not None else "",
        frame_key=row.frame_key,
        sha256=next((sha256 for start, end, sha256 in files if start <= row.start_ms < end), ""),
    )


def _files_of(videos: Any) -> dict[UUID, list[tuple[int, int, str]]]:
    """Return start, end and SHA-256 of the stored files of videos, on the video's clock, as far as it is known."""
    found: defaultdict[UUID, list[tuple[int, int, str]]] = defaultdict(list)
    grown = set()
    for video in {video.id: video for video in videos}.values():
        if video.source_type == SourceType.UPLOAD:
            found[video.id].append((0, 2**62, video.content_sha256))
        else:
            grown.add(video.id)
    pieces = InputSegment.objects.filter(video_id__in=grown, status=InputStatus.READY, start_ms__isnull=False)
    fields = pieces.exclude(duration_ms=None).values_list("video_id", "start_ms", "duration_ms", "content_sha256")
    for video_id, start, duration, sha256 in fields if grown else ():
        found[video_id].append((start, start + duration, sha256))
    return found


def _video(row: QuestionVideo) -> ReportVideo:
    video: Video = row.video
    zone = ZoneInfo(video.time_zone or "UTC")
    return ReportVideo(
        id=encode("vid", video.id),
        title=video.title,
        duration=at(video.duration_ms) if video.duration_ms is not None else "",
        recorded_at=_moment(video.recorded_at.astimezone(zone)) if video.recorded_at is not None else "",
        index_version=row.index_version,
        indexed_until=at(row.indexed_until_ms) if row.indexed_until_ms is not None else "",
        sha256=video.content_sha256,
    )


def _not_found(question: Question) -> tuple[str, ...]:
    """Return what the answer lacks, in words: what was not looked at, what failed, and what nothing supports."""
    said = list(question.notes)
    if question.finish_detail == VIDEO_DELETED:
        said.append("A video of the scope was deleted, and the answer with it.")
    elif question.finish_detail:
        said.append(f"The search ended with the code {question.finish_detail}.")
    if question.error_code:
        said.append(f"{question.error_message or 'The question failed.'} ({question.error_code})")
    if question.degraded:
        said.append(f"The method had to do without: {', '.join(question.degraded)}.")
    unsupported = sum(claim["status"] != "supported" for claim in question.claims)
    if unsupported:
        said.append(f"Statements without evidence that supports them: {unsupported} of {len(question.claims)}.")
    return tuple(said)


def _scope_span(question: Question) -> str:
    if question.start_ms is None and question.end_ms is None:
        return "the whole of each video"
    end = "the end" if question.end_ms is None else at(question.end_ms)
    return f"{at(question.start_ms or 0)} to {end} of each video"


def _made_with(question: Question) -> list[tuple[str, str]]:
    """Return the method with its settings, the models, the versions, the cost and the times, as (name, value)."""
    understood = question.understood or {}
    time = understood.get("time") or {}
    usage = question.usage or {}
    rows = [
        ("Method", f"{question.method} {question.method_version}".strip()),
        ("Effort", question.effort),
        ("Frame check", question.check_mode),
        ("Route", understood.get("route") or question.route),
        ("Time in the question", time.get("meaning", "")),
        ("Statement that was judged", understood.get("statement", "")),
        ("Things that were counted", understood.get("counted", "")),
        ("Seed", str(question.seed)),
        *((f"Model: {role}", name) for role, name in sorted(question.model_names.items())),
        ("Digest of the prompts", question.prompts),
        ("Model calls", str(usage.get("calls", ""))),
        ("Tokens", f"{usage['prompt_tokens']} + {usage['completion_tokens']}" if usage else ""),
        ("Charge", f"{plain(question.charge.amount)} {question.charge.currency}"),
        ("Price version", str(question.charge.price_version or "")),
        ("Asked", _moment(question.created_at)),
        ("Finished", _moment(question.completed_at) if question.completed_at is not None else ""),
        ("Your own id", question.external_id),
    ]
    return [(name, value) for name, value in rows if value]


def _moment(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="milliseconds")
