"""The OpenAPI 3.1 document: settings of drf-spectacular, and what every operation has in common.

    manage.py spectacular --file frontend_api_schema/openapi.yaml --validate --fail-on-warn

writes the checked-in copy; a test compares it with the code.
"""

from __future__ import annotations

from typing import Any

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Problem details (RFC 9457).",
    "required": ["type", "title", "status", "detail", "instance", "code", "request_id", "errors"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "description": "Page that explains the code."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string", "description": "Stable code; branch on it."},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {
                    "pointer": {
                        "type": "string",
                        "description": "JSON Pointer into the body, or `/name` of a parameter.",
                    },
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
_PROBLEM_RESPONSE = {
    "description": "The request was refused or has failed; `code` says why (docs/errors.md).",
    "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", "Retry-After")},
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {"description": "The id of the request. Quote it to support.", "schema": {"type": "string"}},
    "RateLimit-Policy": {
        "description": 'Requests that you may send in a span of seconds, such as `"requests";q=600;w=60`.',
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": 'Requests that are left, and the seconds until all are, such as `"requests";r=599;t=1`.',
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "Seconds after which a refused request can succeed.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "ETag": {
        "description": "Names this reply. Send it in `If-None-Match` to read only what has changed, and in `If-Match` "
        "with a change that must not overwrite what somebody else has written since.",
        "schema": {"type": "string"},
    },
    "Location": {"description": "The path of what was made.", "schema": {"type": "string", "format": "uri-reference"}},
    "Idempotency-Replayed": {
        "description": "`true` if this is the reply to an earlier request with the same `Idempotency-Key`.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}
"""Headers of replies, by their name."""
LOCATED = frozenset(
    {
        "appendInputSegment", "completeUpload", "createApiKey", "createClip", "createCollection", "createComparison",
        "createInvitation", "createQuestion", "createQuestionBatch", "createSearch", "createSession", "createShare",
        "createUpload", "createVideo", "createWebhookEndpoint", "deleteTenant", "rotateApiKey",
    }
)  # fmt: skip
"""Operations whose 201 or 202 says in Location where the thing is that they made."""
IF_NONE_MATCH: dict[str, Any] = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "The ETag that you have. If the reply is still the same, it is 304 without a body.",
}
# What the generator writes if a reply has no description.
_GENERATED = ("", "No response body")
_PROBLEM = {"$ref": "#/components/responses/Problem"}

TAGS: dict[str, str] = {
    "Videos": "Recordings and how far they are indexed.",
    "Input segments": "Pieces that are appended to a recording while it grows.",
    "Collections": "Folders of videos with a common profile and instructions.",
    "Uploads": "Presigned multipart uploads, from the first part to the video.",
    "Data": "How much is stored, and for how long.",
    "Index jobs": "Status, stage and progress of the indexing of each video.",
    "Index versions": "The indexes that were built for a video.",
    "Event Knowledge Graph": "What the index of a video holds: events, entities, frames, transcript and summary.",
    "Playback": "What a player shows with a video: captions, chapters and the timeline.",
    "Questions": "Questions about videos, their answers and the evidence.",
    "Searches": "Searches for events without a language model.",
    "Sessions": "Questions that follow each other and share a scope.",
    "Question batches": "Many questions in one request.",
    "Comparisons": "Your own questions, answered by several methods side by side.",
    "Methods": "The answering methods.",
    "Feedback": "Your verdicts on answers.",
    "Clips": "Parts of recordings as files.",
    "Shares": "Links that show one answer or one recording to whoever has them.",
    "Usage": "What was consumed, and its price.",
    "Invoices": "What was billed, and the credit that pays for it.",
    "Budget": "Limits of what all questions and searches of a month may consume.",
    "API keys": "Keys of the API, with their scopes.",
    "Members": "People of the tenant, their roles, invitations and how they sign in.",
    "Audit log": "Administrative acts, and what our staff opened.",
    "Changes": "One stream that rings when something of the tenant has changed.",
    "Webhooks": "Endpoints that receive events, and the deliveries to them.",
}
"""Tags of the operations, in the order of the document; each operation has exactly one."""

MADE_AT = {"/v1/search": "/v1/searches", "/v1/uploads/{upload_id}/complete": "/v1/videos"}
"""Paths of operations that make something whose own path begins otherwise."""


def only_v1(endpoints: list[tuple[str, str, str, Any]], **kwargs: Any) -> list[tuple[str, str, str, Any]]:
    """Preprocessing hook: the document is about /v1, not about itself."""
    return [entry for entry in endpoints if entry[0].startswith("/v1/") and entry[0] != "/v1/openapi.json"]


def common_parts(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: the problem replies of every operation."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    components.setdefault("responses", {})["Problem"] = _PROBLEM_RESPONSE
    components["headers"] = HEADERS
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            _name_headers(method, operation)
            replies = operation["responses"]
            for status, reply in replies.items():
                if reply.get("description") in _GENERATED:
                    body = "" if status != "204" else " The reply has no body."
                    reply["description"] = f"The request succeeded.{body}"
            for status in _problem_statuses(path, operation):
                replies[status] = _PROBLEM
            replies["default"] = _PROBLEM
    return result


def _name_headers(method: str, operation: dict[str, Any]) -> None:
    """Add the headers of the replies that succeed; and to reads the header that asks for changes alone."""
    parameters = operation.setdefault("parameters", [])
    named = {parameter["name"] for parameter in parameters}
    for status, reply in list(operation["responses"].items()):
        names = ["X-Request-Id"]
        # Who holds the ticket of an erasure is no caller of a tenant.
        if {"erasureTicket": []} not in operation["security"]:
            names += ["RateLimit-Policy", "RateLimit"]
            if "application/json" in reply.get("content", {}) and status == "200" and method in ("get", "patch", "put"):
                names.append("ETag")
        if status in ("201", "202") and operation["operationId"] in LOCATED:
            names.append("Location")
        if "Idempotency-Key" in named:
            names.append("Idempotency-Replayed")
        reply["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        if method == "get" and "ETag" in names:
            parameters.append(IF_NONE_MATCH)
            same = [name for name in names if name != "Idempotency-Replayed"]
            operation["responses"]["304"] = {
                "description": "Nothing has changed since the reply whose ETag you sent. The reply has no body.",
                "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in same},
            }


def _problem_statuses(path: str, operation: dict[str, Any]) -> list[str]:
    """Return the statuses of the problems that an operation can reply with, apart from its own conflicts."""
    parameters = {parameter["name"] for parameter in operation.get("parameters", [])}
    statuses = {"401", "403", "429"}
    if "{" in path:
        statuses.add("404")
    if "requestBody" in operation or any(parameter["in"] == "query" for parameter in operation.get("parameters", [])):
        statuses.add("400")
    if "Idempotency-Key" in parameters:
        statuses |= {"400", "409", "422"}
    if "If-Match" in parameters:
        statuses.add("412")
    return sorted(statuses)


def links(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: which operations take the id that a reply names.

    A thing that was made leads to all operations on it, the first of a list to those that read it, and one that was
    deleted to the operation that reads it.
    """
    paths = result["paths"]
    for path, operations in paths.items():
        made = MADE_AT.get(path, path)
        if "post" in operations and "{" not in made:
            _link(operations["post"], "$response.body#/id", _operations_on(paths, made))
        if "get" in operations and "{" not in path:
            _link(operations["get"], "$response.body#/data/0/id", _operations_on(paths, path, only="get"))
        if "delete" in operations and "get" in operations and path.endswith("}"):
            name = path[path.rindex("{") + 1 : -1]
            _link(operations["delete"], f"$request.path.{name}", [(operations["get"]["operationId"], name)])
    return result


def _operations_on(paths: dict[str, Any], collection: str, *, only: str = "") -> list[tuple[str, str]]:
    """Return the operations whose path has one parameter, the id of a thing of the collection: id and parameter.

    only: a method; all of them by default.
    """
    found = []
    for path, operations in paths.items():
        if path.startswith(f"{collection}/{{") and path.count("{") == 1:
            name = path[path.index("{") + 1 : path.index("}")]
            found += [(each["operationId"], name) for method, each in operations.items() if only in ("", method)]
    return found


def _link(operation: dict[str, Any], expression: str, targets: list[tuple[str, str]]) -> None:
    """Add links to the replies of an operation that succeeded. targets: ids of operations and their parameters."""
    for status, reply in operation["responses"].items():
        if status.startswith("2") and targets:
            reply["links"] = {
                target: {"operationId": target, "parameters": {f"path.{name}": expression}} for target, name in targets
            }


def undocumented_bases() -> list[type]:
    """Return the classes whose docstrings are for readers of the code (GET_LIB_DOC_EXCLUDES)."""
    # Settings are read before apps, so this file cannot import our modules at its top.
    from drf_spectacular.plumbing import get_lib_doc_excludes

    from backend.api.bodies import StrictSerializer

    excludes: list[type] = get_lib_doc_excludes()  # type: ignore[no-untyped-call]
    return [StrictSerializer, *excludes]


SETTINGS: dict[str, Any] = {
    "TITLE": "AVA Cloud",
    "DESCRIPTION": "Answers open-ended questions about very long video, with evidence.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    # Serializers have one direction each (X and XRequest), so the generator must not derive names of its own.
    "COMPONENT_SPLIT_REQUEST": False,
    "COMPONENT_SPLIT_PATCH": False,
    "GET_LIB_DOC_EXCLUDES": "backend.api.contract.openapi.undocumented_bases",
    "SERVERS": [{"url": "/", "description": "The host that serves this document at /v1/openapi.json."}],
    "TAGS": [{"name": name, "description": description} for name, description in TAGS.items()],
    # Its lists repeat the values in capitals.
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SCHEMA_PATH_PREFIX": "/v1",
    "SORT_OPERATION_PARAMETERS": True,
    "PREPROCESSING_HOOKS": ["backend.api.contract.openapi.only_v1"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "backend.api.contract.openapi.common_parts",
        "backend.api.contract.openapi.links",
        "backend.api.contract.item_schemas.of_streams",
        "backend.library.document.sources",
        "backend.webhooks.document.webhooks",
        "backend.api.contract.generated_clients.open_values",
        "backend.api.contract.examples.add",
    ],
    "ENUM_NAME_OVERRIDES": {
        "VideoStatus": "backend.library.models.VideoStatus",
        "SourceType": "backend.library.models.SourceType",
        "SegmentSourceType": "backend.library.bodies.input_segments.SEGMENT_SOURCES",
        "InputStatus": "backend.library.models.InputStatus",
        "IndexState": "backend.library.models.IndexState",
        "UploadStatus": "backend.library.models.UploadStatus",
        "Profile": "backend.library.models.Profile",
        "IndexJobStatus": "backend.library.bodies.index_jobs.STATUSES",
        "TenantErasureStatus": "backend.erasure.bodies.STATUSES",
        "AuditActorType": "backend.audit.models.ActorKind",
        "Scope": "backend.accounts.bodies.SCOPE_CHOICES",
        "Role": "backend.people.models.Role",
        "MappedRole": "backend.people.services.sign_in.MAPPED_ROLES",
        "QuestionStatusEnum": "backend.questions.models.QuestionStatus",
        "BatchStatus": "backend.questions.models.BatchStatus",
        "FinishReason": "backend.questions.bodies.questions.FINISH_REASONS",
        "CitationStatus": "backend.questions.bodies.answers.CITATION_STATUSES",
        "QuestionMethod": "backend.questions.bodies.questions.METHODS",
        "ComparisonOutcome": "backend.questions.figures.replies.OUTCOMES",
        "Effort": "gpu_workers.engine.answering.contract.EFFORTS",
        "CheckMode": "gpu_workers.engine.answering.contract.CHECKS",
        "RouteWish": "gpu_workers.engine.answering.contract.ROUTE_WISHES",
        "Route": "gpu_workers.engine.answering.understood.ROUTES",
        "SearchMode": "backend.questions.services.searches.ALL_MODES",
        "ComparedBy": "gpu_workers.engine.retrieval.object_search.COMPARED_BY",
        "KeyMode": "backend.accounts.bodies.MODES",
        "ClipMode": "backend.clips.models.ClipMode",
        "ClipCaptions": "backend.clips.models.ClipCaptions",
        "DerivedText": "backend.library.models.DerivedText",
        "Fusion": "gpu_workers.engine.retrieval.fusion.FUSIONS",
        "SearchView": "backend.questions.services.searches.VIEWS",
        "Verdict": "backend.questions.models.Verdict",
        "UsageMeter": "backend.billing.queries.SHOWN_METERS",
        "EndpointState": "backend.webhooks.models.EndpointState",
        "DeliveryState": "backend.webhooks.models.DeliveryState",
        "BreakerState": "backend.webhooks.models.BreakerState",
        "DisabledReason": "backend.webhooks.models.DisabledReason",
    },
    "CONTACT": {"name": "AVA Cloud support"},
    "LICENSE": {"name": "Proprietary", "identifier": "LicenseRef-Proprietary"},
}
