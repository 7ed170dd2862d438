"""What operators see: health, the OpenAPI document, the first tenant, sealed secrets."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.test import override_settings
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from rest_framework.test import APIClient

from backend.api.monitoring import health
from backend.tenancy import isolation
from backend.tenancy.models import ApiKey
from backend.tenancy.secrets import SealBroken, open_sealed, seal
from tests.conftest import Cast

OPENAPI = Path(__file__).parents[2] / "frontend_api_schema" / "openapi.yaml"


@pytest.fixture(autouse=True)
def _fresh_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_isolation_held_at", None)


def test_a_whole_service_is_ready(database: None) -> None:
    response = APIClient().get("/readyz")

    body = response.json()
    assert body["status"] == "ready"
    assert body["checks"] == {"postgres": "ok", "isolation": "ok", "redis": "ok", "storage": "ok"}
    assert response.status_code == 200
    assert APIClient().get("/healthz").json() == {"status": "ok"}


def test_it_refuses_to_serve_when_tenants_are_not_kept_apart(database: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "faults", lambda: ["public.library_video is open"])

    response = APIClient().get("/readyz")

    assert response.status_code == 503
    assert response.json()["checks"]["isolation"] == "failed"
    assert b"library_video" not in response.content
    assert APIClient().get("/healthz").status_code == 200


def test_a_dead_dependency_is_named_and_nothing_else(database: None) -> None:
    with override_settings(REDIS_URL="redis://127.0.0.1:9/0"):
        response = APIClient().get("/readyz")

    assert response.status_code == 503
    assert response.json()["checks"] == {"postgres": "ok", "isolation": "ok", "redis": "failed", "storage": "ok"}


def test_the_checked_in_openapi_document_is_the_one_the_code_gives() -> None:
    """If this fails: manage.py spectacular --file frontend_api_schema/openapi.yaml --validate --fail-on-warn"""
    generated = OpenApiYamlRenderer().render(SchemaGenerator().get_schema(request=None, public=True)).decode()

    assert OPENAPI.read_text() == generated


def test_every_operation_has_a_name_a_description_and_a_problem_answer() -> None:
    document: dict[str, Any] = yaml.load(OPENAPI.read_text(), yaml.CSafeLoader)

    assert document["openapi"].startswith("3.1")
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations) > 30
    for operation in operations:
        assert operation.get("description"), operation["operationId"]
        assert operation["responses"]["default"] == {"$ref": "#/components/responses/Problem"}
    assert "application/problem+json" in document["components"]["responses"]["Problem"]["content"]


def test_the_document_is_served_to_anybody(database: None) -> None:
    response = APIClient().get("/v1/openapi.json")

    assert response.status_code == 200
    assert set(json.loads(response.content)["paths"]) == set(yaml.load(OPENAPI.read_text(), yaml.CSafeLoader)["paths"])


def test_the_first_tenant_comes_with_a_key_that_works(database: None) -> None:
    def create(*arguments: str) -> dict[str, Any]:
        out = StringIO()
        call_command("create_tenant", "--name", "Initech", "--slug", "initech", *arguments, stdout=out)
        made: dict[str, Any] = json.loads(out.getvalue())
        return made

    made = create("--key-name", "demo")
    again = create("--if-absent")

    assert again == {"tenant_id": made["tenant_id"], "api_key": None}
    assert APIClient().get("/v1/videos", HTTP_AUTHORIZATION=f"Bearer {made['api_key']}").status_code == 200
    assert ApiKey.unscoped.using("dispatch").get(tenant_id=made["tenant_id"]).name == "demo"
    with pytest.raises(CommandError, match="exists"):
        create()


def test_sealed_secrets_open_under_old_keys_and_break_when_touched() -> None:
    with override_settings(ENCRYPTION_KEYS={1: "old"}):
        sealed = seal(b"whsec")
    with override_settings(ENCRYPTION_KEYS={1: "old", 2: "new"}):
        assert open_sealed(sealed) == b"whsec"
        newer = seal(b"whsec")
    with override_settings(ENCRYPTION_KEYS={1: "old"}), pytest.raises(SealBroken):
        open_sealed(newer)
    with override_settings(ENCRYPTION_KEYS={1: "old"}), pytest.raises(SealBroken):
        open_sealed(sealed[:-4] + b"AAAA")


def test_a_suspended_tenant_is_known_to_its_own_scope_only(acme: Cast, globex: Cast) -> None:
    from backend.tenancy.models import Tenant

    with acme.scope():
        assert [tenant.id for tenant in Tenant.objects.all()] == [acme.tenant_id]
