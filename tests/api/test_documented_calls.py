"""The calls of docs/quickstart.md and docs/api.md, run as a reader would: by bash, curl and jq, in one session each.

No worker runs here: questions are given a stored answer, and an index stays queued.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connections

from backend.api.public_ids import encode
from backend.library.models import Video, VideoStatus
from backend.questions.models import QuestionStatus, QuestionVideo
from backend.tenancy.models import Tenant
from infra.local.ffmpeg import ffmpeg
from tests.api.servers import PROJECT, ServerProcess
from tests.billing.invoices.ledger import account, close, use, utc
from tests.conftest import Cast
from tests.questions.world import ask, finish

QUICKSTART = PROJECT / "docs" / "quickstart.md"
GUIDE = PROJECT / "docs" / "api.md"

ELSEWHERE = ("oidc_issuer",)
"""Words of the blocks that need a provider of identities that answers."""

CAMERA = "-i rtsp://…"
"""Words of the block that records a camera, which is a pattern of two seconds here."""

LAST = ('-X DELETE -H "$AUTH" $URL/videos', '-X DELETE -H "$AUTH" -H "$JSON" $URL/tenant')
"""Words of the blocks that end what the other blocks use, in the order in which they run."""

PRELUDE = """
set -euo pipefail
curl() {  # a call that is refused fails; a stream is left after two seconds
  local stream=no code=0
  [[ "$*" == */stream* ]] && stream=yes && set -- "$@" --max-time 2
  command curl --noproxy '*' --fail-with-body --show-error "$@" || code=$?
  [[ $stream$code == yes28 ]] && code=0
  return $code
}
uuidgen() { cat /proc/sys/kernel/random/uuid; }
"""


def blocks(page: Path = GUIDE) -> list[str]:
    return re.findall(r"^```bash\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def runnable() -> list[str]:
    """Return the blocks in the order in which they can run."""
    here = [block for block in blocks() if not any(words in block for words in ELSEWHERE)]
    last = [block for words in LAST for block in here if words in block]
    return [block for block in here if block not in last] + last


def test_what_does_not_run_is_known() -> None:
    assert len(runnable()) == len(blocks()) - len(ELSEWHERE) > 20
    assert all(words in block for words, block in zip(LAST, runnable()[-len(LAST) :], strict=True))


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed, and the calls need it")
@pytest.mark.parametrize("page", [QUICKSTART, GUIDE], ids=lambda page: str(page.stem))
def test_every_call_of_the_page_succeeds(page: Path, acme: Cast, server: ServerProcess, tmp_path: Path) -> None:
    written = runnable() if page == GUIDE else blocks(page)
    folder = tmp_path / "reader"
    (folder / ".local").mkdir(parents=True)
    (folder / ".local" / "api_key").write_text(acme.key)
    (folder / "clip.mp4").write_bytes(os.urandom(2000))
    script = [PRELUDE]
    for number, block in enumerate(written):
        call = block.replace(":PORT/", f":{server.port}/").replace("acme", acme.slug)
        if "/pause" in call:
            call = call.replace("$VIDEO", "$UPLOADED")  # the only index that is not over
        if CAMERA in call:
            call = recorded(call)
        script += [f"echo block {number} >&2", call]
        if "PART=" in block:
            # What follows is about a recording with an index and an answer.
            script.append(f"UPLOADED=$VIDEO VIDEO={indexed_video(acme)}")

    with answering(acme):
        ran = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, capture_output=True, text=True, timeout=300)

    begun = [int(number) for number in re.findall(r"^block (\d+)$", ran.stderr, re.MULTILINE)]
    assert ran.returncode == 0, f"{written[begun[-1]]}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    assert begun == list(range(len(written)))


def recorded(call: str) -> str:
    """Return the call with a camera that ends, and an ffmpeg; it fails unless the service has one segment from it."""
    return f"""
ffmpeg() {{ {ffmpeg()} "$@"; }}
RECORDED=$VIDEO
ffmpeg -v error -f lavfi -i testsrc=duration=2 -c:v mpeg4 camera.mp4
{call.replace(CAMERA, "-v error -i camera.mp4")}
curl -s -H "$AUTH" $URL/videos/$VIDEO | jq -e '.source.segments == 1'
VIDEO=$RECORDED
"""


@contextmanager
def answering(acme: Cast) -> Iterator[None]:
    """Store an answer to each question that is asked meanwhile."""
    over = threading.Event()

    def answer() -> None:
        while not over.wait(0.2):
            with acme.scope():
                asked = QuestionVideo.objects.filter(question__status=QuestionStatus.QUEUED)
                pairs = list(asked.values_list("question_id", "video_id"))
            for pair in pairs:
                finish(acme, *pair)
        connections.close_all()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def indexed_video(acme: Cast) -> str:
    """Make a recording with an index and an answer, and an invoice. Returns the recording's id."""
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)
    with acme.scope():
        Video.objects.filter(id=video_id).update(status=VideoStatus.READY)
        Tenant.objects.filter(id=acme.tenant_id).update(created_at=utc(2026, 7))
    account(acme)
    use(acme, utc(2026, 7, 3))
    assert close(acme, utc(2026, 8, 3))
    return encode("vid", video_id)
