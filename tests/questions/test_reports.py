"""Reports: one page that holds an answer with its evidence, without a network, as HTML and as PDF."""

from __future__ import annotations

import io
import re
import socket
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from typing import Any
from uuid import UUID

import pytest
from PIL import Image
from pypdf import PdfReader

from backend.api.public_ids import encode
from backend.library.models import Video
from backend.library.storage import ObjectStorage
from backend.questions.models import Evidence, Question, QuestionStatus, QuestionVideo
from backend.questions.report.contents import SHOWN_EVIDENCE
from backend.questions.report.page import as_pdf
from tests.conftest import Cast
from tests.ekg.recorded import new_id, record

SHA256 = "ab" * 32
TITLES = {"arabic": "المدخل الشرقي", "chinese": "北门监控", "emoji": "Gate 🚪🙂"}


def picture(size: int = 0) -> bytes:
    """Return a JPEG, padded to at least size bytes."""
    out = io.BytesIO()
    Image.new("RGB", (64, 36), "grey").save(out, "JPEG")
    return out.getvalue().ljust(size, b"\0")


@pytest.fixture
def question(acme: Cast) -> UUID:
    """A finished question about three videos, with a picture, a picture that is too long, and one that is gone."""
    with acme.scope():
        row = Question.objects.create(
            tenant_id=acme.tenant_id, text="Who <leaves> & when?", answer="A man <b>leaves</b> [1].", language="en",
            status=QuestionStatus.SUCCEEDED, finish_reason="answered", confidence=0.83, choices=["nobody", "a man"],
            choice=1, model_names={"reasoner": "qwen-7b"}, method_version="ava-3", prompts="0123456789abcdef",
            usage={"calls": 4, "prompt_tokens": 900, "completion_tokens": 80}, charge_amount="0.0200000000",
            claims=[{"text": "A man leaves.", "status": "supported", "evidence": [0, 2]},
                    {"text": "He runs.", "status": "unverified", "evidence": []}],
            notes=["The last hour was not looked at."], degraded=["no_speech"],
            completed_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        )  # fmt: skip
    for number, (name, content) in enumerate({"arabic": picture(), "chinese": picture(200_001), "emoji": b""}.items()):
        video_id = record(acme).video_id
        key = f"t/{acme.tenant_id}/q/{row.id}/{number}.jpg"
        if content:
            ObjectStorage().put(key, content, content_type="image/jpeg")
        with acme.scope():
            Video.objects.filter(id=video_id).update(
                title=TITLES[name], content_sha256=SHA256, time_zone="Europe/Berlin",
                recorded_at=datetime(2026, 3, 1, 8, tzinfo=UTC) if number == 0 else None,
            )  # fmt: skip
            linked = {"tenant_id": acme.tenant_id, "question": row, "video_id": video_id}
            QuestionVideo.objects.create(**linked, index_version=1, indexed_until_ms=30_000)
            Evidence.objects.create(
                **linked, ordinal=number, event_id=new_id(), start_ms=3_000, end_ms=9_500, frame_ms=4_250,
                frame_key=key, quote=f"The man goes {number}.", status="supported", confidence=0.714,
            )  # fmt: skip
    return row.id  # type: ignore[no-any-return]


def report(cast: Cast, question: UUID, form: str = "") -> Any:
    reply = cast.client.get(f"/v1/questions/{encode('qst', question)}/report", {"format": form} if form else {})
    assert reply.status_code == 200, reply.content
    return reply


def words(pdf: bytes) -> str:
    """Return the text of a PDF, with single spaces."""
    return " ".join(" ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages).split())


@cache
def shows_chinese() -> bool:
    """Whether this machine has a font with Chinese characters (Debian: fonts-noto-cjk)."""
    found = subprocess.run(["fc-list", ":lang=zh-cn"], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip())


SHOWN = (
    "A man leaves.", "supported", "He runs.", "unverified", "The man goes 0.", "0:00:03.000 to 0:00:09.500",
    "2026-03-01 09:00:03.000+01:00", "0.71", "83%", "qwen-7b", "ava ava-3", "0123456789abcdef", "0.02 USD",
    "The last hour was not looked at.", "no_speech", SHA256, "Index version, indexed until", "0:00:30.000",
)  # fmt: skip


def test_a_report_holds_the_answer_and_what_it_rests_on(acme: Cast, question: UUID) -> None:
    reply = report(acme, question)

    page = reply.content.decode()
    for shown in (*SHOWN, *TITLES.values(), "Who &lt;leaves&gt; &amp; when?", "A man &lt;b&gt;leaves&lt;/b&gt; [1]."):
        assert shown in page, shown
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert reply.headers["Content-Disposition"] == f'inline; filename="report-{encode("qst", question)}.html"'


def test_a_report_needs_nothing_but_itself(acme: Cast, question: UUID) -> None:
    reply = report(acme, question, "html")

    page = reply.content.decode()
    assert "<script" not in page
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    targets = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert [target for target in targets if not target.startswith(("data:", "#"))] == []
    pictures = [target for target in targets if target.startswith("data:image/jpeg;base64,")]
    assert len(pictures) == 1, "one is too long, and one is gone"
    assert page.count("There is no picture of this moment.") == 2


def test_the_pdf_says_the_same_and_can_be_read_by_machines_and_screen_readers(acme: Cast, question: UUID) -> None:
    reply = report(acme, question, "pdf")

    assert reply.headers["Content-Type"] == "application/pdf"
    text = words(reply.content)
    for shown in (*SHOWN, TITLES["arabic"], "Who <leaves> & when?", "A man <b>leaves</b> [1].", "Page 1 of "):
        assert shown in text, shown
    if shows_chinese():
        assert TITLES["chinese"] in text
        assert TITLES["emoji"] in text
    cited = re.findall(r'href="#(evidence-\d+)"', report(acme, question).content.decode())
    document = PdfReader(io.BytesIO(reply.content))
    root: Any = document.trailer["/Root"]
    links = [note.get_object() for page in document.pages for note in page.get("/Annots", ())]
    assert [str(link["/Dest"]) for link in links if "/Dest" in link] == cited == ["evidence-1", "evidence-3"]
    assert root["/MarkInfo"]["/Marked"] == True  # noqa: E712
    assert root["/Lang"] == "en"
    assert document.metadata is not None
    assert str(document.metadata.title).startswith("Who <leaves> & when?")
    kinds = list(tags(root["/StructTreeRoot"]))
    assert [kind for kind, _ in kinds].count("/H1") == 1
    assert [kind for kind, _ in kinds].count("/H2") == 6
    assert [alt for kind, alt in kinds if kind == "/Figure"] == ["Picture of evidence 1, at 0:00:04.250 of the video"]


def tags(node: Any) -> Any:
    """Yield the kind and the alternative text of each element of a tagged PDF."""
    node = node.get_object()
    if isinstance(node, list):
        for child in node:
            yield from tags(child)
    elif isinstance(node, dict):
        if "/S" in node:
            yield node["/S"], node.get("/Alt")
        if "/K" in node:
            yield from tags(node["/K"])


def test_a_pdf_is_made_without_network_and_files(tmp_path: Any) -> None:
    file = tmp_path / "secret.jpg"
    file.write_bytes(picture())
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        pdf = as_pdf(
            f"<html lang=en><title>t</title><img src='file://{file}' alt=x><img src='{url}/a.jpg' alt=y>"
            f"<link rel=stylesheet href='{url}/a.css'><p>here"
        )
        with pytest.raises(BlockingIOError):
            server.accept()

    assert "here" in words(pdf)
    assert [image for page in PdfReader(io.BytesIO(pdf)).pages for image in page.images] == []


def test_a_machine_without_the_library_says_so_and_still_makes_the_page(
    acme: Cast, question: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)

    refused = acme.client.get(f"/v1/questions/{encode('qst', question)}/report", {"format": "pdf"})

    assert (refused.status_code, refused.json()["code"]) == (501, "report_pdf_unavailable")
    assert "format=html" in refused.json()["detail"]
    report(acme, question)


def test_a_question_without_an_answer_has_a_report_once_it_is_over(acme: Cast, question: UUID) -> None:
    with acme.scope():
        Question.objects.update(status=QuestionStatus.RUNNING)
    path = f"/v1/questions/{encode('qst', question)}/report"
    refused = acme.client.get(path)
    assert (refused.status_code, refused.json()["code"]) == (409, "question_open")

    with acme.scope():
        Question.objects.update(
            status=QuestionStatus.FAILED, finish_reason="error", answer="", claims=[], error_code="model_unavailable",
            error_message="No model answered.",
        )  # fmt: skip
        Evidence.objects.all().delete()
    page = report(acme, question).content.decode()
    for shown in ("There is no answer.", "No evidence was found.", "No model answered. (model_unavailable)"):
        assert shown in page, shown


def test_a_report_bounds_its_evidence_and_counts_the_rest(acme: Cast, question: UUID) -> None:
    with acme.scope():
        first: Any = Evidence.objects.filter(question_id=question).first()
        for ordinal in range(3, SHOWN_EVIDENCE + 2):
            first.pk, first.ordinal, first.frame_key = new_id(), ordinal, ""
            first.save(force_insert=True)

    page = report(acme, question).content.decode()

    assert f'id="evidence-{SHOWN_EVIDENCE}"' in page
    assert f'id="evidence-{SHOWN_EVIDENCE + 1}"' not in page
    assert "2 more pieces of evidence are left out of this report." in page


def test_an_unknown_format_is_refused(acme: Cast, question: UUID) -> None:
    refused = acme.client.get(f"/v1/questions/{encode('qst', question)}/report", {"format": "docx"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/format")
