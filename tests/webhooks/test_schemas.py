"""Every emitted body is valid under its published schema, and every type has a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from jsonschema import Draft202012Validator
from uuid6 import uuid7

from backend.api.contract.generated_clients import KNOWN
from backend.clips.models import Clip
from backend.clips.payloads import clip_data
from backend.library import payloads as library
from backend.library.models import IndexVersion, Upload, UploadStatus, VideoStatus
from backend.questions.models import Question
from backend.questions.services import batches, comparison_outcomes, comparisons, questions
from backend.webhooks import payloads, services, signing
from backend.webhooks.models import Endpoint, WebhookEvent
from tests.factories import make_video
from tests.questions.world import ask, finish

SCHEMAS = Path(__file__).parents[2] / "frontend_api_schema" / "webhooks"


def closed(schema: Any) -> Any:
    """Return a schema that allows nothing that it does not name. A receiver's validator must accept our next field, and
    our next value."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {"enum" if name == KNOWN else name: closed(part) for name, part in schema.items()}
    return {"additionalProperties": False, **parts} if isinstance(parts.get("properties"), dict) else parts


def errors(event: WebhookEvent) -> Iterator[Any]:
    schema = closed(json.loads((SCHEMAS / f"{event.type}.json").read_text()))
    Draft202012Validator.check_schema(schema)
    checker = Draft202012Validator.FORMAT_CHECKER
    return Draft202012Validator(schema, format_checker=checker).iter_errors(
        json.loads(payloads.body_for(event.body, endpoint_sequence=7))
    )


def test_every_type_has_a_schema_and_the_reverse() -> None:
    assert {path.stem for path in SCHEMAS.glob("*.json")} == set(payloads.EVENT_TYPES)


def test_a_body_with_a_field_or_a_value_of_a_later_release_is_valid() -> None:
    closing = re.compile(r'"additionalProperties": false|"enum":')
    refusing = [path.name for path in SCHEMAS.glob("*.json") if closing.search(path.read_text())]
    assert refusing == []


@pytest.mark.parametrize("event_type", payloads.EVENT_TYPES)
def test_the_openapi_document_describes_what_an_endpoint_is_sent(event_type: str, database: None) -> None:
    entry = Client().get("/v1/openapi.json").json()["webhooks"][event_type]["post"]
    described = entry["requestBody"]["content"]["application/json"]["schema"]
    published = json.loads((SCHEMAS / f"{event_type}.json").read_text())
    assert {**described, "title": entry["summary"], "$schema": published["$schema"]} == published
    secret = "whsec_" + "A" * 32
    sent = signing.signed_headers(message_id="msg_1", at=timezone.now(), body="{}", secrets=[secret])
    assert {header["name"] for header in entry["parameters"]} == sent.keys()


@pytest.mark.parametrize("status", ["ready", "failed"])
def test_video_events_are_valid(acme: Any, status: str) -> None:
    failed = status == "failed"
    with acme.scope():
        video = make_video(
            status=VideoStatus(status),
            indexed_until_ms=30_000,
            ready_at=None if failed else timezone.now(),
            error_code="decode_failed" if failed else "",
            error_message="x" * 5_000 if failed else "",
        )
        services.emit(type=f"video.{status}", resource_id=video.id, data=library.video_data(video))
        assert list(errors(WebhookEvent.objects.get())) == []


@pytest.mark.parametrize("status", ["ready", "failed"])
def test_clip_events_are_valid(acme: Any, status: str) -> None:
    failed = status == "failed"
    with acme.scope():
        clip = Clip.objects.create(
            tenant_id=acme.tenant_id, video=make_video(), mode="exact", captions="none", start_ms=0, end_ms=1_000,
            status=status, ready_at=None if failed else timezone.now(), expires_at=timezone.now(),
            error_code="source_undecodable" if failed else "", error_message="x" * 5_000 if failed else "",
        )  # fmt: skip
        services.emit(type=f"clip.{status}", resource_id=clip.id, data=clip_data(clip))
        assert list(errors(WebhookEvent.objects.get())) == []


def test_a_failed_reindex_is_valid(acme: Any) -> None:
    with acme.scope():
        video = make_video(status=VideoStatus.READY)
        version = IndexVersion(n=2, error_code="model_unavailable", error_message="x" * 5_000)
        data = library.reindex_data(video, version)
        services.emit(type="video.reindex_failed", resource_id=video.id, data=data, sequence=2)
        assert list(errors(WebhookEvent.objects.get())) == []


def test_upload_completed_is_valid(acme: Any) -> None:
    with acme.scope():
        upload = Upload.objects.create(
            tenant_id=acme.tenant_id, status=UploadStatus.COMPLETED, filename="a.mp4", content_type="video/mp4",
            size_bytes=10, part_size=10, object_key="k", multipart_id="m", expires_at=timezone.now(),
            completed_at=timezone.now(),
        )  # fmt: skip
        data = library.upload_data(upload, make_video(upload_id=upload.id))
        services.emit(type="upload.completed", resource_id=upload.id, data=data)
        assert list(errors(WebhookEvent.objects.get())) == []


def test_question_completed_is_valid_whatever_the_answer_is_written_in(acme: Any) -> None:
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id, text="長い答え" * 2_000)
    with acme.scope():
        event = WebhookEvent.objects.get()
        assert list(errors(event)) == []
        assert len(json.loads(event.body)["data"]["answer"]) == payloads.TEXT_LIMIT


def test_question_failed_is_valid(acme: Any) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        questions.fail_question(question_id=question_id, code="model_unavailable", message="No model answered.")
        assert list(errors(WebhookEvent.objects.get())) == []


def test_question_canceled_is_valid(acme: Any) -> None:
    question_id, _ = ask(acme)
    with acme.scope():
        questions.cancel_question(question_id=question_id)
        event = WebhookEvent.objects.get()
        assert (event.type, list(errors(event))) == ("question.canceled", [])


@pytest.mark.parametrize("end", ["completed", "canceled"])
def test_question_batch_completed_is_valid_however_it_ended(acme: Any, end: str) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
        asked = [{"text": f"Which {n}?", "video_ids": [video.id]} for n in range(2)]
        batch = batches.create_batch(questions=asked, external_id="exam")
        first, second = Question.objects.filter(batch=batch).order_by("batch_position")
    finish(acme, first.id, video.id)
    with acme.scope():
        if end == "canceled":
            batches.cancel_batch(batch_id=batch.id)
        else:
            questions.fail_question(question_id=second.id, code="model_unavailable", message="No model answered.")
        event = WebhookEvent.objects.get(type="question_batch.completed")
        assert list(errors(event)) == []
        assert json.loads(event.body)["data"]["status"] == end


@pytest.mark.parametrize("end", ["completed", "canceled"])
def test_comparison_completed_is_valid_however_it_ended(acme: Any, end: str) -> None:
    with acme.scope():
        video = make_video(indexed_until_ms=30_000)
        arms = [{"method": name, "effort": "low", "check": "auto"} for name in ("ava", "vector")]
        questions_asked = [{"text": "Which?", "video_ids": [video.id]}]
        comparison = comparisons.create_comparison(questions=questions_asked, arms=arms, name="Exam")
        first, second = Question.objects.filter(comparison=comparison).order_by("id")
    finish(acme, first.id, video.id)
    with acme.scope():
        if end == "canceled":
            comparison_outcomes.cancel_comparison(comparison_id=comparison.id)
        else:
            questions.fail_question(question_id=second.id, code="model_unavailable", message="No model answered.")
        event = WebhookEvent.objects.get(type="comparison.completed")
        assert list(errors(event)) == []
        assert json.loads(event.body)["data"]["status"] == end


def test_webhook_test_is_valid(acme: Any) -> None:
    with acme.scope():
        endpoint, _ = services.create_endpoint(url="https://example.com/hook")
        services.send_test(endpoint=Endpoint.objects.get(id=endpoint.id))
        assert list(errors(WebhookEvent.objects.get())) == []


def test_an_unknown_type_is_not_emitted(acme: Any) -> None:
    with acme.scope(), pytest.raises(ValueError, match="unknown webhook event type"):
        services.emit(type="video.eaten", resource_id=uuid7(), data={})
