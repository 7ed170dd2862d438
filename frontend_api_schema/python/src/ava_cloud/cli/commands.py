"""The commands, and what their failures exit with."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from ava_cloud import errors
from ava_cloud._times import clock
from ava_cloud.cli import credentials
from ava_cloud.cli.output import Output, milliseconds

if TYPE_CHECKING:
    from ava_cloud._sync.client import Ava

FAILED, USAGE, NOT_FOUND, REFUSED, UNAVAILABLE, INTERRUPTED = 1, 2, 3, 4, 5, 130

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Ask about long video, from the command line.")
webhooks_app = typer.Typer(no_args_is_help=True, help="Events of the service.")
app.add_typer(webhooks_app, name="webhooks")

Json = Annotated[bool, typer.Option("--json", help="Print JSON, an object a line.")]
VideoIds = Annotated[list[str], typer.Option("--video", "-v", help="Video to read; several may be named.")]
Collection = Annotated[str, typer.Option("--collection", help="Collection to read.")]
Command = TypeVar("Command", bound=Callable[..., None])


def client() -> Ava:
    from ava_cloud._sync.client import Ava

    key, url = credentials.find()
    return Ava(key, base_url=url)


def exit_status(error: Exception) -> int:
    """Return what the command exits with after an error."""
    if isinstance(error, errors.NotFound):
        return NOT_FOUND
    if isinstance(error, (errors.Unreachable, errors.ServiceUnavailable, errors.WaitTimeout)):
        return UNAVAILABLE
    if isinstance(error, errors.InvalidRequest):
        return USAGE
    return REFUSED if isinstance(error, errors.ApiError) else FAILED


@app.command()
def login(
    url: Annotated[str, typer.Option(prompt="Address of the service", help="Such as https://ava.example.org.")],
    key: Annotated[str, typer.Option(prompt="API key", hide_input=True, help="Better left to the prompt.")],
) -> None:
    """Keep a key and an address for later commands."""
    from ava_cloud._generated.api.budget import get_limits
    from ava_cloud._sync.client import Ava

    with Ava(key, base_url=url) as ava:
        get_limits.sync(client=ava.api)
        kept = credentials.save(key, ava.base_url)
    typer.echo(f"The key works. It is kept in {kept}, which only you can read.")


@app.command()
def upload(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="Files to send.")] = [],  # noqa: B006
    watch: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="Send each file that appears.")
    ] = None,
    collection: Collection = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the index is ready.")] = False,
    as_json: Json = False,
) -> None:
    """Send files. After Ctrl-C the same command goes on where it was."""
    from ava_cloud.cli.sending import send, watched

    if not files and watch is None:
        raise typer.BadParameter("name files, or a folder to --watch")
    out = Output(as_json=as_json)
    with client() as ava:
        for file in watched(watch) if watch is not None else files:
            send(ava, out, file, collection or None, wait=wait)


@app.command()
def add(
    url: Annotated[str, typer.Argument(help="Public https address of a file.")],
    title: str = "",
    collection: Collection = "",
    as_json: Json = False,
) -> None:
    """Have the service fetch a file."""
    with client() as ava:
        video = ava.videos.add_url(url, title=title or None, collection_id=collection or None)
    Output(as_json=as_json).row(video, video.id)


@app.command()
def videos(collection: Collection = "", as_json: Json = False) -> None:
    """List videos, newest first."""
    filters: dict[str, Any] = {"collection_id": collection} if collection else {}
    with client() as ava:
        Output(as_json=as_json).rows(
            ava.videos.list(**filters),
            ("id", "status", "length", "indexed", "title"),
            lambda one: (one.id, one.status, clock(one.duration_ms), clock(one.indexed_until_ms), one.title),
        )


@app.command()
def status(video_id: str, as_json: Json = False) -> None:
    """Show how far a video is."""
    with client() as ava:
        video = ava.videos.get(video_id)
    out = Output(as_json=as_json)
    known = f"{clock(video.indexed_until_ms)} of {clock(video.duration_ms) or '?'} can be asked about"
    out.row(video, f"{video.status}: {known}")
    if video.error is not None and not as_json:
        out.note(f"{video.error.code}: {video.error.message}")


@app.command()
def ask(
    question: str,
    video: VideoIds = [],  # noqa: B006
    collection: Collection = "",
    choice: Annotated[list[str], typer.Option("--choice", help="A possible answer; at least two.")] = [],  # noqa: B006
    effort: Annotated[str, typer.Option(help="low, medium, high or paper.")] = "medium",
    timeout: Annotated[float, typer.Option(help="Seconds to wait.")] = 600.0,
    as_json: Json = False,
) -> None:
    """Ask, and wait for the answer with its evidence."""
    require_scope(video, collection)
    with client() as ava:
        answer = ava.ask(
            question,
            video_ids=video or None,
            collection_id=collection or None,
            choices=choice or None,
            effort=effort,  # type: ignore[arg-type]  # the service names what it takes
            timeout_s=timeout,
        )
    out = Output(as_json=as_json)
    out.row(answer, answer.answer or f"No answer: {answer.finish_reason} ({answer.finish_detail})")
    if not as_json:
        for piece in answer.evidence:
            print(f"  {clock(piece.start_ms)}-{clock(piece.end_ms)}\t{piece.status}\t{piece.video_id}\t{piece.quote}")
        out.note(f"{answer.id}, {answer.charge.amount} {answer.charge.currency}")


@app.command()
def search(
    query: str,
    video: VideoIds = [],  # noqa: B006
    collection: Collection = "",
    limit: int = 16,
    as_json: Json = False,
) -> None:
    """Find moments by words."""
    require_scope(video, collection)
    with client() as ava:
        found = ava.search(query, video_ids=video or None, collection_id=collection or None, limit=limit)
    out = Output(as_json=as_json)
    out.rows(
        found.results,
        ("score", "time", "video", "what happens"),
        lambda one: (f"{one.score:.2f}", f"{clock(one.start_ms)}-{clock(one.end_ms)}", one.video_id, one.summary),
    )
    if not found.results and not as_json:
        out.note("Nothing fits.")


@app.command()
def events(video_id: str, as_json: Json = False) -> None:
    """List the events of a video."""
    with client() as ava:
        Output(as_json=as_json).rows(
            ava.videos.events(video_id),
            ("time", "what happens"),
            lambda one: (f"{clock(one.start_ms)}-{clock(one.end_ms)}", one.summary),
        )


@app.command()
def transcript(
    video_id: str,
    format: Annotated[str, typer.Option(help="txt, srt or vtt.")] = "txt",
    as_json: Json = False,
) -> None:
    """Print what is said."""
    if format not in ("txt", "srt", "vtt"):
        raise typer.BadParameter("the format is txt, srt or vtt")
    with client() as ava:
        if format == "txt":
            Output(as_json=as_json).rows(
                ava.videos.transcript(video_id), ("time", "words"), lambda one: (clock(one.start_ms), one.text)
            )
        else:
            sys.stdout.write(ava.videos.captions(video_id, srt=format == "srt"))


@app.command()
def clip(
    video_id: str,
    start: Annotated[str, typer.Argument(help="Begin, such as 1:02:03 or 62.5.")],
    end: Annotated[str, typer.Argument(help="End, at most ten minutes later.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    mode: Annotated[str, typer.Option(help="fast, or exact to the frame.")] = "fast",
    captions: Annotated[str, typer.Option(help="none, file or burnt.")] = "none",
    as_json: Json = False,
) -> None:
    """Cut a part out of a video and save it."""
    with client() as ava:
        made = ava.clip(
            video_id,
            milliseconds_of(start),
            milliseconds_of(end),
            mode=mode,  # type: ignore[arg-type]  # the service names what it takes
            captions=captions,  # type: ignore[arg-type]
        )
        assert made.url is not None
        output.write_bytes(ava.download(made.url))
        if made.captions_url is not None:
            output.with_suffix(".vtt").write_bytes(ava.download(made.captions_url))
    Output(as_json=as_json).row(made, str(output))


@app.command()
def report(
    question_id: str,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .html or .pdf.")],
) -> None:
    """Save an answer with its evidence as one page."""
    with client() as ava:
        output.write_bytes(ava.report(question_id, pdf=output.suffix == ".pdf"))


@app.command()
def share(
    question_id: str,
    days: Annotated[float, typer.Option(help="How long the link works, at most 90 days.")] = 7.0,
    recordings: Annotated[bool, typer.Option("--recordings", help="Whoever has the link can watch them.")] = False,
    as_json: Json = False,
) -> None:
    """Make a link that shows an answer with its evidence."""
    import datetime

    from ava_cloud._generated.api.shares import create_share
    from ava_cloud._generated.models import ShareRequest

    ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    with client() as ava:
        body = ShareRequest(ends, question_id=question_id, play_recordings=recordings)
        link = create_share.sync(client=ava.api, body=body)
    Output(as_json=as_json).row(link, link.url)


@app.command()
def compare(
    request: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSON of a comparison's request.")],
    as_json: Json = False,
) -> None:
    """Compare methods on your own questions, and wait for the figures."""
    import json

    from ava_cloud._generated.models import ComparisonRequest

    with client() as ava:
        made = ava.compare(ComparisonRequest.from_dict(json.loads(request.read_text())))
    Output(as_json=as_json).row(made, f"{made.id} {made.status}")


@app.command()
def usage(as_json: Json = False) -> None:
    """Show what this month has used."""
    from ava_cloud._generated.api.usage import get_usage

    with client() as ava:
        month = get_usage.sync(client=ava.api)
    Output(as_json=as_json).rows(
        month.data,
        ("meter", "quantity", "amount"),
        lambda one: (one.meter, str(one.quantity), f"{one.charge.amount} {one.charge.currency}"),
    )


@app.command()
def record(
    source: Annotated[
        str,
        typer.Argument(help="rtsp://…, hls://… (https), http://….m3u8 or 'files/*.mp4'; - reads it from AVA_CAMERA."),
    ],
    name: Annotated[str, typer.Option(help="Name of the camera; videos are called by it and the day.")],
    collection: Collection = "",
    time_zone: Annotated[str, typer.Option(help="Of the camera, such as Europe/Berlin.")] = "UTC",
    seconds: Annotated[float, typer.Option(help="Least length of a piece.")] = 30.0,
    spool: Annotated[Path, typer.Option(help="Folder for pieces that wait.")] = Path("ava-spool"),
    most: Annotated[int, typer.Option(help="So many pieces wait at most.")] = 240,
) -> None:
    """Record a camera, a playlist or files from here, into one video a day. After a crash the same command goes on."""
    import os

    from ava_cloud.recorder.pieces import Spool
    from ava_cloud.recorder.running import record as run_recorder
    from ava_cloud.recorder.sending import Sender

    address = os.environ.get("AVA_CAMERA", "") if source == "-" else source
    if address.startswith("hls://"):
        address = f"https://{address.removeprefix('hls://')}"
    if "://" not in address and not any(mark in address for mark in "*?["):
        raise typer.BadParameter("the source is an address such as rtsp://camera/stream, or a pattern of files")
    folder = Spool(spool / "".join(letter if letter.isalnum() else "-" for letter in name), most)
    with client() as ava:
        sender = Sender(ava, folder, name=name, time_zone=time_zone, collection_id=collection or None)
        run_recorder(address, folder, sender, seconds, Output(as_json=False).note)


@app.command()
def mcp(
    allow_writes: Annotated[bool, typer.Option("--allow-writes", help="Let agents add videos and make clips.")] = False,
    max_cost: Annotated[float, typer.Option(help="Most that one question may cost.")] = 0.5,
    max_session_cost: Annotated[float, typer.Option(help="Most that all questions of a run may cost.")] = 5.0,
) -> None:
    """Serve agents over the Model Context Protocol, on standard input and output."""
    import logging
    from decimal import Decimal

    from ava_cloud import AsyncAva, Retries
    from ava_cloud.mcp_server.server import make_server

    key, url = credentials.find()
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the SDK would show each request
    # Clients of the protocol give up after a minute.
    patience = Retries(attempts=4, longest_s=10.0, total_s=30.0)
    make_server(
        lambda: AsyncAva(key, base_url=url, retries=patience),
        allow_writes=allow_writes,
        most_each=Decimal(str(max_cost)),
        most_in_all=Decimal(str(max_session_cost)),
    ).run()


@webhooks_app.command()
def listen(
    forward: Annotated[str, typer.Option(help="Address of your own program, such as http://localhost:3000/hook.")],
    type: Annotated[list[str], typer.Option("--type", help="Types of events; all by default.")] = [],  # noqa: B006
) -> None:
    """Hand events to a program on this machine, signed, while it is being written."""
    from ava_cloud.cli.listening import forward_events

    with client() as ava:
        forward_events(ava, forward, frozenset(type), Output(as_json=False))


def require_scope(videos: list[str], collection: str) -> None:
    """Raise typer.BadParameter unless either videos or a collection are named."""
    if bool(videos) == bool(collection):
        raise typer.BadParameter("name what to read: --video (once or more), or --collection")


def milliseconds_of(text: str) -> int:
    """Read a time of the media. Raises typer.BadParameter."""
    try:
        return milliseconds(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no time such as 1:02:03") from error


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """End in order at the first Ctrl-C, and at once at the second: whoever presses again waits no longer."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    raise KeyboardInterrupt


def run() -> None:
    """Run the command, with a sentence and a status for each failure."""
    signal.signal(signal.SIGINT, _stop)
    try:
        ended = app(standalone_mode=False)
        sys.exit(ended if isinstance(ended, int) else 0)
    except (typer.Abort, KeyboardInterrupt):
        print("ava: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (errors.AvaError, OSError) as error:
        print(f"ava: {error}", file=sys.stderr)
        sys.exit(exit_status(error))
    except Exception as error:
        # Errors of usage are the command library's own.
        if not hasattr(error, "format_message"):
            raise
        print(f"ava: {error.format_message()}", file=sys.stderr)
        sys.exit(USAGE)
