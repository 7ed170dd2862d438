"""A log line is one JSON object with the fields of its work, and with nothing that a library attached."""

from __future__ import annotations

import json
import logging
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from backend.observability.json_lines import JsonLines
from backend.observability.log_context import bound, current, note
from gpu_workers.engine.threads import ContextPool


def line(message: str = "job %s", *arguments: object, extra: dict[str, object] | None = None, **record: object) -> str:
    made = logging.getLogger("ava.jobs").makeRecord(
        "ava.jobs", logging.WARNING, "file.py", 1, message, arguments, extra=extra, **{"exc_info": None, **record}
    )
    made.created = 1_700_000_000.25
    return JsonLines().format(made)


def test_a_line_has_time_level_logger_message_and_the_fields_of_its_work() -> None:
    with bound(tenant="tnt_1", job="j", attempt="2", video=""):
        written = line("job %s", "done")
    assert "\n" not in written
    assert json.loads(written) == {
        "time": "2023-11-14T22:13:20.250000+00:00", "level": "WARNING", "logger": "ava.jobs", "message": "job done",
        "tenant": "tnt_1", "job": "j", "attempt": "2",
    }  # fmt: skip
    assert current() == {}


def test_fields_that_become_known_later_last_until_the_end_of_the_work() -> None:
    note(tenant="tnt_0")
    assert current() == {}, "outside of any work nothing is kept for the next"
    with bound(request="req_1"):
        note(video="vid_1")
        with bound(job="j"):
            note(question="qst_1")
            assert current() == {"request": "req_1", "video": "vid_1", "question": "qst_1", "job": "j"}
        assert current() == {"request": "req_1", "video": "vid_1"}
    assert current() == {}


def test_a_presigned_url_loses_its_credentials() -> None:
    url = "https://s3.example/t/1/v.mp4?X-Amz-Credential=AKIA%2F1&x-amz-security-token=tok&X-Amz-Signature=5eed&n=1"
    try:
        raise OSError(f"cannot open '{url}'")
    except OSError:
        written = json.loads(line("read %s failed", url, exc_info=sys.exc_info()))
    masked = "https://s3.example/t/1/v.mp4?X-Amz-Credential=***&x-amz-security-token=***&X-Amz-Signature=***&n=1"
    assert written["message"] == f"read {masked} failed"
    assert f"OSError: cannot open '{masked}'" in written["exc_info"]
    assert not any(secret in str(written) for secret in ("AKIA", "tok&", "5eed"))


def test_an_address_of_a_recording_loses_its_token() -> None:
    path = "/v1/videos/vid_1/hls/index.m3u8"
    written = json.loads(line("cannot play %s", f"{path}?start_ms=1&token=AbC-d_9&end_ms=2"))
    assert written["message"] == f"cannot play {path}?start_ms=1&token=***&end_ms=2"


@pytest.mark.parametrize(
    "page", ["/share/", "/accounts/invitations/", "/accounts/notices/tnt_2x/", "/accounts/password/reset/key/"]
)
def test_a_link_loses_its_secret(page: str) -> None:
    written = json.loads(line("Not Found: %s", f"{page}s3-cr_et/?tenant=acme"))
    assert written["message"] == f"Not Found: {page}***/?tenant=acme"


def test_an_unknown_field_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="secret"), bound(secret="x"):
        pytest.fail("a block with a field that no line has was entered")


def test_what_a_library_attaches_is_left_out() -> None:
    written = json.loads(line("x", extra={"request": "<GET /?key=vk_live_1>", "data": {"a": 1}, "status": 503}))
    assert "request" not in written
    assert "data" not in written
    assert written["status"] == 503


def test_an_exception_stays_in_its_line() -> None:
    try:
        raise LookupError("no such\nthing")
    except LookupError:
        written = line("x", exc_info=sys.exc_info())
    assert "\n" not in written
    assert "LookupError: no such\nthing" in json.loads(written)["exc_info"]


def test_a_line_names_its_trace() -> None:
    context = SpanContext(0xA1, 0xB2, is_remote=False, trace_flags=TraceFlags(1))
    with use_span(NonRecordingSpan(context)):
        assert json.loads(line("x"))["trace"] == f"{0xA1:032x}"
    assert "trace" not in json.loads(line("x"))


def test_a_pool_of_the_engine_works_in_the_context_of_its_caller() -> None:
    with bound(job="j"), ContextPool(1) as ours, ThreadPoolExecutor(1) as plain:
        assert ours.submit(current).result() == {"job": "j"}
        assert list(ours.map(lambda n: (n, dict(current())), [1])) == [(1, {"job": "j"})]
        assert plain.submit(current).result() == {}
