"""The tools. Their names are an interface: they never change, and new ones are added."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from ava_cloud import errors
from ava_cloud._async.client import AsyncAva
from ava_cloud._generated.api.event_knowledge_graph import get_summary as summary_of
from ava_cloud._generated.api.event_knowledge_graph import list_entities as entities_of
from ava_cloud._generated.api.event_knowledge_graph import list_events as events_of
from ava_cloud._generated.api.event_knowledge_graph import list_frames as frames_of
from ava_cloud._generated.api.event_knowledge_graph import list_transcript as transcript_of
from ava_cloud._generated.api.questions import create_question, estimate_question, get_question
from ava_cloud._generated.api.videos import list_videos as videos_of
from ava_cloud._generated.models import Question, QuestionEstimateRequest, QuestionRequest
from ava_cloud._requests import ENDED, given, some
from ava_cloud._times import clock
from ava_cloud.mcp_server import lines
from ava_cloud.mcp_server.lines import MOST_LINES

_WAIT_S = 45.0
"""Longest wait of a tool: clients give up after a minute."""

_PROGRESS_S = 5.0
_REPEAT_S = 600.0
"""So long the same question is the same request, because an agent or its client may send it again."""

MOST_FRAMES = 4
_MOST_VIDEOS = 100
_ONLY_READS = "This server only reads. The user can start it as `ava mcp --allow-writes`."
P = ParamSpec("P")
R = TypeVar("R")

VideoId = Annotated[str, Field(description="Id of a video, vid_…")]
VideoIds = Annotated[list[str] | None, Field(description="Ids of videos to read; all if omitted.")]
Cursor = Annotated[str | None, Field(description="Where an earlier list ended.")]
StartS = Annotated[float | None, Field(description="Begin of the span in seconds.")]
EndS = Annotated[float | None, Field(description="End of the span in seconds.")]
Ctx = Context["Session", Any]
READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False)


@dataclass
class Sent:
    """A question that was sent lately. key: its Idempotency-Key. question_id: "" until the service has answered, so
    that a call that was given up meanwhile is sent again with the same key."""

    at: float
    key: str
    scope: list[str]
    question_id: str = ""


@dataclass
class Session:
    """What one run of the server may spend, and has spent. sent: by what was asked."""

    ava: AsyncAva
    allow_writes: bool
    most_each: Decimal
    most_in_all: Decimal
    spent: Decimal = Decimal(0)
    sent: dict[str, Sent] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)

    def count(self, question: Question) -> None:
        """Add the charge of an ended question, once."""
        if question.status in ENDED and question.id not in self.counted:
            self.counted.add(question.id)
            self.spent += Decimal(question.charge.amount)


def sentences(tool: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """Wrap a tool: each failure is a sentence that says what to do."""

    @wraps(tool)
    async def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await tool(*args, **kwargs)
        except errors.NotFound as error:
            raise ToolError("There is no such video or question. list_videos() names the videos.") from error
        except errors.NothingIndexed as error:
            raise ToolError("Nothing of it is indexed yet. get_video() says how far it is; try again later.") from error
        except errors.LimitExceeded as error:
            raise ToolError(
                f"A budget or quota of the account is used up: {error.detail} Say so to the user."
            ) from error
        except (errors.NotAuthenticated, errors.PermissionDenied) as error:
            raise ToolError(f"The API key may not do this: {error.detail} Say so to the user.") from error
        except errors.RateLimited as error:
            wait = error.retry_after_s or 60
            raise ToolError(f"Too much at once: {error.detail} Try again in {wait:.0f} seconds.") from error
        except errors.ServiceUnavailable as error:
            raise ToolError(f"The service cannot answer now: {error.detail} Try again in a minute.") from error
        except errors.Conflict as error:
            raise ToolError(f"Not now: {error.detail} get_video() says how far it is; try again later.") from error
        except errors.ApiError as error:
            raise ToolError(f"Refused: {error}. Change the arguments.") from error
        except (errors.AvaError, OSError) as error:
            raise ToolError(f"It did not work: {error} Try again, or say so to the user.") from error

    return wrapped


def make_server(
    make_client: Callable[[], AsyncAva], *, allow_writes: bool, most_each: Decimal, most_in_all: Decimal
) -> MCPServer[Session]:
    """Return the server. most_each, most_in_all: what one question and all of a session may be charged."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Session]) -> AsyncIterator[Session]:
        async with make_client() as ava:
            yield Session(ava, allow_writes, most_each, most_in_all)

    server: MCPServer[Session] = MCPServer(
        "ava",
        instructions=(
            "Answers questions about long videos, with evidence. Begin with list_videos or search_moments; ask() for "
            f"anything that needs thought. One question may cost at most {most_each}, this session {most_in_all}. "
            + lines.FENCE
        ),
        lifespan=lifespan,
    )
    for tool in (
        list_videos, get_video, search_moments, ask, get_answer, list_events, get_transcript, find_entity, get_frame,
    ):  # fmt: skip
        server.tool(annotations=READS, structured_output=False)(sentences(tool))
    server.tool(annotations=WRITES, structured_output=False)(sentences(add_video))
    server.tool(annotations=WRITES, structured_output=False)(sentences(make_clip))
    return server


def _session(ctx: Ctx) -> Session:
    return ctx.request_context.lifespan_context


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


async def list_videos(ctx: Ctx, cursor: Cursor = None) -> str:
    """List the videos: id, state, length, title."""
    page = await videos_of.asyncio(client=_session(ctx).ava.api, limit=MOST_LINES, cursor=given(cursor))
    return lines.listed(map(lines.video_line, page.data), none="There are no videos.", cursor=page.next_cursor)


async def get_video(ctx: Ctx, video_id: VideoId) -> str:
    """Show a video: how far it is indexed, a summary, its topics with times."""
    ava = _session(ctx).ava
    video = await ava.videos.get(video_id)
    rows = [lines.video_line(video)]
    if video.error is not None:
        rows.append(f"failed: {video.error.message}")
    if video.indexed_until_ms:
        summary = await summary_of.asyncio(video_id, client=ava.api)
        rows.append(lines.quoted_answer(summary.text))
        rows += map(lines.topic_line, summary.topics[:MOST_LINES])
    return lines.listed(rows, none="")


async def add_video(
    ctx: Ctx,
    source: Annotated[
        str, Field(description="Public https address of a video file, or the path of one on this machine.")
    ],
    title: str | None = None,
) -> str:
    """Add a video. The same file or address again is the same video."""
    session = _session(ctx)
    if not session.allow_writes:
        raise ToolError(_ONLY_READS)
    if source.startswith("https://"):
        key = f"mcp-{hashlib.sha256(source.encode()).hexdigest()}"
        video = await session.ava.videos.add_url(source, title=title, external_id=key[:64], idempotency_key=key)
    else:
        video = await session.ava.videos.upload(Path(source).expanduser(), title=title)
    return f"{video.id} {video.status}. get_video() says how far it is."


async def make_clip(ctx: Ctx, video_id: VideoId, start_s: float, end_s: float, title: str | None = None) -> str:
    """Cut up to ten minutes out of a video, for the user to watch. The reply has a link that works for half an hour."""
    session = _session(ctx)
    if not session.allow_writes:
        raise ToolError(_ONLY_READS)
    start_ms, end_ms = round(start_s * 1000), round(end_s * 1000)
    key = hashlib.sha256(f"{video_id} {start_ms} {end_ms} {title}".encode()).hexdigest()
    try:
        clip = await session.ava.clip(
            video_id, start_ms, end_ms, title=title, idempotency_key=f"mcp-{key}", timeout_s=_WAIT_S
        )
    except errors.WaitTimeout as error:
        raise ToolError(f"The clip {error.resource_id} is not made yet. Call make_clip() again in a while.") from error
    return f"{clip.id}: {clip.url}"


async def search_moments(
    ctx: Ctx,
    query: Annotated[str, Field(description="What to look for; words that must be said or written go in quotes.")],
    video_ids: VideoIds = None,
) -> str:
    """Find moments by what is seen, said or written. Cheap, and no reasoning."""
    found = await _session(ctx).ava.search(query, video_ids=video_ids, limit=MOST_LINES, timeout_s=_WAIT_S)
    return lines.moments(found)


async def ask(
    ctx: Ctx,
    question: str,
    video_ids: VideoIds = None,
    choices: Annotated[list[str] | None, Field(description="Possible answers, if one must be chosen.")] = None,
    max_cost: Annotated[float | None, Field(description="Most it may cost, below the limit of the server.")] = None,
) -> str:
    """Ask a question that needs thought: the answer comes with its evidence. It costs money. After 45 seconds the reply
    has an id for get_answer(). The same question again within ten minutes is not charged again."""
    session = _session(ctx)
    wanted = json.dumps([question, sorted(video_ids or ()), choices])
    sent = session.sent.get(wanted)
    if sent is None or time.monotonic() - sent.at > _REPEAT_S:
        scope = video_ids or await _everything(session)
        await _afford(session, QuestionEstimateRequest(question=question, video_ids=scope), max_cost)
        session.sent[wanted] = sent = Sent(time.monotonic(), str(uuid.uuid4()), scope)
    if not sent.question_id:
        body = QuestionRequest(question, video_ids=sent.scope, choices=some(choices))
        made = await create_question.asyncio(client=session.ava.api, body=body, idempotency_key=sent.key)
        sent.question_id = made.id
    return await _awaited(ctx, sent.question_id)


async def get_answer(ctx: Ctx, question_id: str) -> str:
    """Read an answer that was not there in time; waits up to 45 seconds."""
    return await _awaited(ctx, question_id)


async def list_events(
    ctx: Ctx, video_id: VideoId, start_s: StartS = None, end_s: EndS = None, cursor: Cursor = None
) -> str:
    """List what happens, in order."""
    page = await events_of.asyncio(
        video_id, client=_session(ctx).ava.api, limit=MOST_LINES, cursor=given(cursor),
        start_ms=given(_ms(start_s)), end_ms=given(_ms(end_s)),
    )  # fmt: skip
    return lines.listed(map(lines.event_line, page.data), none="No events there.", cursor=page.next_cursor)


async def get_transcript(
    ctx: Ctx, video_id: VideoId, start_s: StartS = None, end_s: EndS = None, cursor: Cursor = None
) -> str:
    """Read what is said, in order."""
    page = await transcript_of.asyncio(
        video_id, client=_session(ctx).ava.api, limit=MOST_LINES, cursor=given(cursor),
        start_ms=given(_ms(start_s)), end_ms=given(_ms(end_s)),
    )  # fmt: skip
    return lines.listed(map(lines.spoken_line, page.data), none="Nothing is said there.", cursor=page.next_cursor)


async def find_entity(
    ctx: Ctx, video_id: VideoId, name: Annotated[str, Field(description="Words of a name or description.")]
) -> str:
    """Find people, things and places by name, with the times at which they appear."""
    page = await entities_of.asyncio(video_id, client=_session(ctx).ava.api, limit=10, q=name)
    return lines.listed(map(lines.entity_line, page.data), none="Nobody and nothing has these words.")


async def get_frame(
    ctx: Ctx,
    video_id: VideoId,
    at_s: Annotated[
        list[float], Field(description="Up to four times in seconds.", min_length=1, max_length=MOST_FRAMES)
    ],
) -> list[Any]:
    """Look at pictures of a video."""
    ava = _session(ctx).ava
    shown: list[Any] = []
    for at in at_s:
        page = await frames_of.asyncio(video_id, client=ava.api, limit=1, start_ms=_ms(at) or 0)
        frame = page.data[0] if page.data else None
        if frame is None or frame.thumbnail_url is None:
            shown.append(f"There is no picture at or after {clock(_ms(at))}.")
            continue
        shown += [f"{clock(frame.ms)}:", Image(data=await ava.download(frame.thumbnail_url), format="jpeg")]
    return shown


async def _everything(session: Session) -> list[str]:
    """Return the ids of all videos that can be asked about: a question names its videos."""
    return [video.id async for video in session.ava.videos.list() if video.indexed_until_ms][:_MOST_VIDEOS]


async def _afford(session: Session, body: QuestionEstimateRequest, max_cost: float | None) -> None:
    """Raise ToolError if the question may cost more than is allowed."""
    most = min(session.most_each, session.most_in_all - session.spent)
    if max_cost is not None:
        most = min(most, Decimal(str(max_cost)))
    cost = (await estimate_question.asyncio(client=session.ava.api, body=body)).charge
    if Decimal(cost.expected) > most:
        raise ToolError(
            f"It will cost about {cost.expected} {cost.currency}, and {most} may be spent. Name fewer videos, or have "
            "the user start the server with a higher --max-cost or --max-session-cost."
        )


async def _awaited(ctx: Ctx, question_id: str) -> str:
    session = _session(ctx)
    ends, said = time.monotonic() + _WAIT_S, 0.0
    while True:
        question = await get_question.asyncio(question_id, client=session.ava.api)
        if question.status in ENDED or time.monotonic() >= ends:
            session.count(question)
            return lines.answered(question)
        if time.monotonic() - said >= _PROGRESS_S:
            said = time.monotonic()
            await ctx.report_progress(_WAIT_S - (ends - said), _WAIT_S, question.stage or question.status)
        await anyio.sleep(1.0)
