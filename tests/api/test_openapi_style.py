"""One dialect: every operation and every schema of the OpenAPI document follows the same conventions."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from functools import cache
from typing import Any

import pytest
from django.urls import URLPattern, get_resolver
from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers

from backend.api import bodies, views
from backend.api.contract.generated_clients import KNOWN
from backend.api.contract.openapi import LOCATED, TAGS
from backend.api.idempotency import HEADER, is_marked

VERBS = frozenset(
    {
        "abort", "append", "cancel", "close", "complete", "create", "delete", "estimate", "export", "get", "leave",
        "list", "put", "reindex", "pause", "replay", "resume", "retry", "revoke", "rotate", "search", "stream", "test",
        "update",
    }
)  # fmt: skip
CAMEL_CASE = re.compile(r"([a-z]+)((?:[A-Z][a-z0-9]+)+)")
PARAMETER = re.compile(r"<(?:str|int):(\w+)>")
METHODS = ("get", "post", "put", "patch", "delete")


@cache
def generated() -> SchemaGenerator:
    generator = SchemaGenerator()
    generator.document = generator.get_schema(request=None, public=True)
    return generator


def document() -> dict[str, Any]:
    found: dict[str, Any] = generated().document
    return found


def operations() -> dict[str, dict[str, Any]]:
    """Every operation by `METHOD path`."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def schemas() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = document()["components"]["schemas"]
    return found


def handlers() -> dict[str, Any]:
    """The function behind every operation, by `METHOD path`, from the URL resolver."""
    template = r"{\1}"

    def walk(patterns: list[Any], prefix: str) -> Any:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLPattern):
                yield route, getattr(pattern.callback, "view_class", object)
            else:
                yield from walk(pattern.url_patterns, route)

    return {
        f"{method.upper()} /{PARAMETER.sub(template, route)}": getattr(view, method)
        for route, view in walk(get_resolver().url_patterns, "")
        if route.startswith("v1/")
        for method in METHODS
        if hasattr(view, method)
    }


def descriptions(node: Any, where: str = "") -> list[tuple[str, str]]:
    """Every description of the document with its place."""
    if isinstance(node, dict):
        own = [(where, node["description"])] if isinstance(node.get("description"), str) else []
        return own + [found for key, value in node.items() for found in descriptions(value, f"{where}/{key}")]
    if isinstance(node, list):
        return [found for index, value in enumerate(node) for found in descriptions(value, f"{where}/{index}")]
    return []


def test_the_document_and_the_routes_hold_the_same_operations() -> None:
    assert set(operations()) == set(handlers())


def test_an_id_is_in_camel_case_and_begins_with_a_verb_of_the_list() -> None:
    ids = [operation["operationId"] for operation in operations().values()]

    assert [name for name in ids if not (found := CAMEL_CASE.fullmatch(name)) or found[1] not in VERBS] == []
    assert [name for name, count in Counter(ids).items() if count > 1] == []


def test_an_operation_has_one_tag_of_the_list() -> None:
    wrong = {name: operation.get("tags") for name, operation in operations().items()}

    assert {name: tags for name, tags in wrong.items() if tags is None or len(tags) != 1 or tags[0] not in TAGS} == {}
    assert [tag["name"] for tag in document()["tags"]] == list(TAGS)
    assert {tags[0] for tags in wrong.values()} == set(TAGS), "a tag that no operation has"


def test_an_operation_has_a_summary_of_its_own() -> None:
    summaries = Counter(operation.get("summary") for operation in operations().values())

    assert {text: count for text, count in summaries.items() if not text or count > 1} == {}


def test_no_operation_has_the_format_parameter_of_the_framework() -> None:
    named = {
        name: {each["name"] for each in operation.get("parameters", [])} for name, operation in operations().items()
    }

    assert [name for name, parameters in named.items() if "format" in parameters] == [
        "GET /v1/questions/{question_id}/report"
    ]


def test_a_reply_that_succeeds_names_its_headers() -> None:
    replies = {
        (operation["operationId"], status): set(reply.get("headers", {}))
        for operation in operations().values()
        for status, reply in operation["responses"].items()
        if status.startswith("2")
    }

    assert [where for where, names in replies.items() if "X-Request-Id" not in names] == []
    assert {where[0] for where, names in replies.items() if "Location" in names} == LOCATED
    assert replies["getVideo", "200"] == {"X-Request-Id", "RateLimit-Policy", "RateLimit", "ETag"}
    assert replies["createQuestion", "202"] >= {"Location", "Idempotency-Replayed"}


def test_a_parameter_is_named_once() -> None:
    doubled = {
        name: [
            key for key, count in Counter((p["name"], p["in"]) for p in operation["parameters"]).items() if count > 1
        ]
        for name, operation in operations().items()
        if "parameters" in operation
    }

    assert {name: keys for name, keys in doubled.items() if keys} == {}


def test_a_request_is_called_so_and_nothing_else_is() -> None:
    received = {
        name
        for operation in operations().values()
        for name in re.findall(r"schemas/(\w+)", str(operation.get("requestBody", {})))
    }
    sent = {
        name
        for operation in operations().values()
        for name in re.findall(r"schemas/(\w+)", str(operation["responses"]))
    }

    assert sorted(name for name in received if not name.endswith("Request")) == []
    assert sorted(name for name in sent if name.endswith("Request")) == []
    assert sorted(name for name in schemas() if name.endswith(("RequestRequest", "Body", "Serializer"))) == []


def test_no_description_is_the_docstring_of_a_base_class() -> None:
    """Docstrings of bases are for readers of the code; a customer reads sentences about the thing itself."""
    bases = [views.AuthenticatedView, views.TenantView, views.UnboundTenantView, bodies.StrictSerializer]
    internal = {inspect.cleandoc(base.__doc__ or "") for base in bases}
    components = generated().registry._components.values()
    inherited = [
        component.name
        for component in components
        if inspect.isclass(component.object)
        and issubclass(component.object, serializers.BaseSerializer)
        and component.schema.get("description")
        and component.object.__dict__.get("__doc__") is None
    ]

    assert [(where, text) for where, text in descriptions(document()) if any(words in text for words in internal)] == []
    assert inherited == []


@pytest.mark.parametrize("part", ["paths", "components", "tags", "servers"])
def test_a_help_text_is_a_sentence(part: str) -> None:
    found = [(where, text) for where, text in descriptions(document()[part])]

    assert found
    assert [(where, text) for where, text in found if not text.endswith(".")] == []
    assert [(where, text) for where, text in found if not (text[0].isupper() or text[0] in "`")] == []


def test_the_header_is_listed_exactly_where_the_code_honours_it() -> None:
    listed = {
        name
        for name, operation in operations().items()
        if any(parameter["name"] == HEADER for parameter in operation.get("parameters", []))
    }

    assert listed == {name for name, handler in handlers().items() if is_marked(handler)}
    assert listed >= {"POST /v1/videos", "POST /v1/webhook-endpoints", "POST /v1/api-keys"}


def test_a_post_without_the_header_has_no_second_effect_by_nature() -> None:
    """docs/api.md names them: presigned URLs and estimates have no effect, and completing an upload again returns its
    video."""
    without = {name for name, handler in handlers().items() if name.startswith("POST ") and not is_marked(handler)}

    assert without == {
        "POST /v1/uploads/{upload_id}/part-urls",
        "POST /v1/uploads/{upload_id}/complete",
        "POST /v1/questions:estimate",
        "POST /v1/videos:estimate",
    }


def test_links_lead_from_what_was_made_to_all_that_can_be_done_with_it() -> None:
    by_id = {operation["operationId"]: (name, operation) for name, operation in operations().items()}
    linked: dict[str, set[str]] = {}
    for source, (_, operation) in by_id.items():
        for status, reply in operation["responses"].items():
            for target, link in reply.get("links", {}).items():
                assert status.startswith("2")
                assert target == link["operationId"]
                linked.setdefault(source, set()).add(target)
                (parameter,) = link["parameters"]
                assert f"{{{parameter.removeprefix('path.')}}}" in by_id[target][0]

    assert sum(map(len, linked.values())) >= 130
    for made, then in {
        "createUpload": {"getUpload", "createPartUrls", "completeUpload", "deleteUpload"},
        "completeUpload": {"getVideo", "deleteVideo"},
        "createVideo": {"getVideo", "updateVideo", "deleteVideo", "appendInputSegment"},
        "createQuestion": {"getQuestion", "cancelQuestion", "deleteQuestion", "putFeedback"},
        "createSearch": {"getSearch", "deleteSearch"},
        "createQuestionBatch": {"getQuestionBatch", "deleteQuestionBatch"},
        "createComparison": {"getComparison", "deleteComparison"},
        "createWebhookEndpoint": {"getWebhookEndpoint", "testWebhookEndpoint", "deleteWebhookEndpoint"},
        "createApiKey": {"getApiKey", "rotateApiKey", "revokeApiKey"},
        "createInvitation": {"getInvitation", "revokeInvitation"},
        "listMembers": {"getMember"},
        "deleteQuestion": {"getQuestion"},
    }.items():
        assert then <= linked[made], made


def parts(node: Any) -> list[dict[str, Any]]:
    """Every object of a part of the document, with the schemas that it refers to."""
    found, seen, left = [], set(), [node]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            found.append(each)
            name = str(each.get("$ref", "")).removeprefix("#/components/schemas/")
            if name in schemas() and name not in seen:
                seen.add(name)
                left.append(schemas()[name])
        left += each.values() if isinstance(each, dict) else each if isinstance(each, list) else []
    return found


def test_a_value_that_comes_later_breaks_no_generated_client() -> None:
    sent = [reply.get("content") for each in operations().values() for reply in each["responses"].values()]
    sent += [each["post"]["requestBody"] for each in document()["webhooks"].values()]

    assert [each for each in parts(sent) if "enum" in each] == []
    status = schemas()["Video"]["properties"]["status"]
    assert (status["type"], status[KNOWN][0]) == ("string", "queued")
    assert status["description"].endswith("`ready`, `failed`, `deleting`. Others may follow.")
    finish = schemas()["Question"]["properties"]["finish_reason"]
    assert (finish["type"], "answered" in finish[KNOWN]) == (["string", "null"], True)
    assert {name for name in schemas() if name in ("NullEnum", "BlankEnum")} == set()


def test_a_field_of_a_request_that_has_a_default_may_be_left_out() -> None:
    """openapi-typescript requires each field with `default`."""
    received = [each["requestBody"] for each in operations().values() if "requestBody" in each]

    fields = [field for each in parts(received) for field in each.get("properties", {}).values()]
    assert [field for field in fields if "default" in field] == []
    request = schemas()["QuestionRequest"]
    assert "effort" not in request["required"]
    assert request["properties"]["seed"]["description"].endswith("By default `0`.")


def test_a_response_has_all_its_fields() -> None:
    """Apart from those that the caller asks for, or has set."""
    optional = {
        "Comparison.grading_charge", "Comparison.report", "Question.trace", "QuestionBudget.max_calls",
        "QuestionBudget.max_tokens", "QuestionBudget.max_seconds", "Timeline.entities", "Timeline.events",
        "Timeline.gaps", "Timeline.objects", "Timeline.speech", "Timeline.topics", "TimelineEvents.summary",
    }  # fmt: skip
    received = {name for name in schemas() if name.endswith("Request")}

    missing = {
        f"{name}.{field}"
        for name, schema in schemas().items()
        for field in schema.get("properties", {})
        if name not in received and field not in schema.get("required", [])
    }
    assert missing == optional


def test_a_reply_that_is_a_file_is_kept_by_generators_that_know_only_json_text_and_bytes() -> None:
    known = ("application/json", "application/octet-stream", "text/")

    replies = {
        operation["operationId"]: list(reply["content"])
        for operation in operations().values()
        for status, reply in operation["responses"].items()
        if status.startswith("2") and "content" in reply
    }
    assert [name for name, media in replies.items() if not any(each.startswith(known) for each in media)] == []
