"""A test key: uploads are indexed and questions answered by script, at no cost, apart from live objects."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest
from standardwebhooks import Webhook

from backend.api.public_ids import decode, encode
from backend.billing.models import ModelCall, UsageEvent
from backend.billing.services.invoicing.closing import tenants_to_bill
from backend.erasure.services.tenants import begin_tenant_erasure
from backend.tenancy import sandboxes
from backend.tenancy.authentication import standing_of
from backend.tenancy.callers import Caller
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.webhooks.models import Delivery
from gpu_workers.engine.models.scripted import SCENES
from gpu_workers.tasks.sandbox import ABSTAIN, FAIL, NOTE
from tests.conftest import Cast
from tests.contract import ContractClient
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.world import FORTY_SECONDS, WITHOUT_WEBHOOKS, recording, run_due
from tests.webhooks.delivering import make_attempt
from tests.webhooks.receiver import receiving


@pytest.fixture
def test_mode(acme: Cast) -> Cast:
    """The holder of a test key of acme, and the sandbox that it works in."""
    made = acme.client.post("/v1/api-keys", {"name": "ci", "scopes": ["*"], "mode": "test"})
    assert made.status_code == 201, made.content
    body = made.json()
    assert (body["mode"], body["key"][:8], body["hint"][:8]) == ("test", "vk_test_", "vk_test_")
    cast = Cast(sandboxes.sandbox_id(acme.tenant_id), "", body["key"], decode("key", body["id"]))
    assert cast.client.get("/v1/videos").json()["data"] == []
    return cast


def uploaded(cast: Cast) -> str:
    """Send a recording through the API, and return its video."""
    content = recording(FORTY_SECONDS)
    file = {"filename": "gate.mp4", "size_bytes": len(content), "content_type": "video/mp4"}
    upload = cast.client.post("/v1/uploads", file).json()
    (part,) = cast.client.post(f"/v1/uploads/{upload['id']}/part-urls", {"part_numbers": [1]}).json()["data"]
    httpx.put(part["url"], content=content, headers=part["headers"]).raise_for_status()
    return str(cast.client.post(f"/v1/uploads/{upload['id']}/complete", {}).json()["id"])


def asked(cast: Cast, question: str, video: str, **more: Any) -> dict[str, Any]:
    body = {"question": question, "video_ids": [video], **more}
    made = cast.client.post("/v1/questions", body, headers={"Prefer": "respond-async"})
    assert made.status_code == 202, made.content
    run_due(classes=WITHOUT_WEBHOOKS)
    answered: dict[str, Any] = cast.client.get(made.headers["Location"]).json()
    return answered


def test_a_test_key_is_answered_by_script_for_nothing_and_told_by_webhook(
    acme: Cast, globex: Cast, test_mode: Cast, llm: ScriptedOpenAIServer, vlm: ScriptedOpenAIServer
) -> None:
    with receiving() as receiver:
        endpoint = {"url": receiver.url, "event_types": ["video.ready", "question.completed"]}
        secret = test_mode.client.post("/v1/webhook-endpoints", endpoint).json()["secret"]
        video = uploaded(test_mode)
        run_due(classes=WITHOUT_WEBHOOKS)
        answer = asked(test_mode, "Who opens the gate?", video)
        chosen = asked(test_mode, "Which one?", video, choices=["a van", "a person"])
        with test_mode.scope():
            deliveries = list(Delivery.objects.order_by("id").values_list("id", flat=True))
        for delivery in deliveries:
            make_attempt(test_mode, delivery)
    events = [Webhook(secret).verify(got.body, got.headers) for got in receiver.received]

    ready = test_mode.client.get(f"/v1/videos/{video}").json()
    assert (ready["status"], ready["indexed_until_ms"], ready["duration_ms"]) == ("ready", 40_000, 40_000)
    listed = test_mode.client.get(f"/v1/videos/{video}/events").json()["data"]
    assert [(event["start_ms"], event["summary"]) for event in listed] == [(0, SCENES[0]), (30_000, SCENES[1])]
    assert (answer["status"], answer["finish_reason"], answer["answer"]) == ("succeeded", "answered", SCENES[0])
    assert (chosen["answer"], chosen["choice"]) == ("a van", 0)
    assert NOTE in answer["notes"]
    assert [one["quote"] for one in answer["evidence"]] == list(SCENES[:2])
    picture = httpx.get(answer["evidence"][0]["frame"]["thumbnail_url"])
    assert picture.content.startswith(b"\xff\xd8")
    assert answer["charge"]["amount"] == "0"
    assert [event["type"] for event in events] == ["video.ready", "question.completed", "question.completed"]
    assert (llm.requests, vlm.requests) == ([], [])
    with test_mode.scope():
        assert ModelCall.objects.count() == 0
        assert sum(row.price_amount for row in UsageEvent.objects.all()) == 0
    with acme.scope():
        assert UsageEvent.objects.count() == 0
    assert test_mode.tenant_id not in tenants_to_bill()
    for other in (acme, globex):
        assert other.client.get(f"/v1/videos/{video}").status_code == 404
        assert other.client.get(f"/v1/questions/{answer['id']}").status_code == 404
        assert other.client.get("/v1/videos").json()["data"] == []


def test_searches_work_and_each_outcome_can_be_asked_for(acme: Cast, test_mode: Cast) -> None:
    video = uploaded(test_mode)
    run_due(classes=WITHOUT_WEBHOOKS)
    made = test_mode.client.post(
        "/v1/search", {"query": "a white van", "video_ids": [video]}, headers={"Prefer": "respond-async"}
    )
    run_due(classes=WITHOUT_WEBHOOKS)
    found = test_mode.client.get(made.headers["Location"]).json()
    failed, abstained = asked(test_mode, FAIL, video), asked(test_mode, ABSTAIN, video)

    assert (found["status"], found["results"][0]["summary"]) == ("succeeded", SCENES[1])
    assert found["charge"]["amount"] == "0"
    assert (failed["status"], failed["error"]["code"]) == ("failed", "test_failure")
    assert (abstained["status"], abstained["finish_reason"]) == ("succeeded", "insufficient_evidence")


def test_a_test_key_sees_no_live_object_and_governs_nothing(acme: Cast, test_mode: Cast) -> None:
    live = uploaded(acme)
    refused = acme.client.post("/v1/api-keys", {"name": "x", "scopes": ["keys:write"], "mode": "test"})

    foreign, unknown = (test_mode.client.get(f"/v1/videos/{one}").json() for one in (live, encode("vid", UUID(int=1))))
    assert (foreign["status"], foreign["code"], foreign["detail"]) == (404, unknown["code"], unknown["detail"])
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "not_in_test_mode")
    for path in ("/v1/api-keys", "/v1/members", "/v1/audit-events"):
        assert test_mode.client.get(path).json()["code"] == "insufficient_scope"


def test_a_test_key_is_managed_with_live_keys_and_goes_with_its_tenant(acme: Cast, test_mode: Cast) -> None:
    key = encode("key", test_mode.key_id)
    listed = {one["id"]: one["mode"] for one in acme.client.get("/v1/api-keys").json()["data"]}
    rotated = acme.client.post(f"/v1/api-keys/{key}/rotate", {"overlap_seconds": 0}).json()
    again = ContractClient()
    again.credentials(HTTP_AUTHORIZATION=f"Bearer {rotated['key']}")

    assert listed == {key: "test", encode("key", acme.key_id): "live"}
    assert test_mode.client.get("/v1/videos").status_code == 401
    assert again.get("/v1/limits").json()["plan"] == "sandbox"
    holder = Caller(decode("key", rotated["id"]))
    assert standing_of(test_mode.tenant_id, holder) is not None
    assert standing_of(acme.tenant_id, holder) is None, "a playback token of one tenant opens nothing of the other"

    begin_tenant_erasure(acme.tenant_id)

    assert again.get("/v1/videos").status_code == 401
    with tenant_scope(test_mode.tenant_id):
        assert Tenant.objects.get(id=test_mode.tenant_id).suspended_at is not None
