"""The OpenAPI 3.1 document: settings of drf-spectacular, and what every operation has in common.

    manage.py spectacular --file frontend_api_schema/openapi.yaml --validate --fail-on-warn

writes the checked-in copy; a test compares it with the code.
"""

from __future__ import annotations

from typing import Any

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457 problem details.",
    "required": ["type", "title", "status", "detail", "instance", "code", "request_id", "errors"],
    "properties": {
        "type": {"type": "string", "description": "urn:ava:problem: and the code"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string", "description": "stable; branch on this"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {
                    "pointer": {"type": "string", "description": "JSON Pointer into the body, or /name of a parameter"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
_PROBLEM_RESPONSE = {
    "description": "Any other outcome.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_IDEMPOTENCY_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {"type": "string", "maxLength": 255},
    "description": "The same key and body again within 24 hours has no second effect and gets the first answer.",
}
# Their answers carry a secret that must not be stored, or they are idempotent by nature.
WITHOUT_IDEMPOTENCY_KEY = frozenset({"completeUpload", "createPartUrls", "createApiKey", "rotateApiKey"})


def only_v1(endpoints: list[tuple[str, str, str, Any]], **kwargs: Any) -> list[tuple[str, str, str, Any]]:
    """Preprocessing hook: the document is about /v1, not about itself."""
    return [entry for entry in endpoints if entry[0].startswith("/v1/") and entry[0] != "/v1/openapi.json"]


def common_parts(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: the problem answer of every operation, the idempotency header of POSTs."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    for operations in result["paths"].values():
        for method, operation in operations.items():
            operation["responses"]["default"] = _PROBLEM_RESPONSE
            if method == "post" and operation["operationId"] not in WITHOUT_IDEMPOTENCY_KEY:
                operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
    return result


SETTINGS: dict[str, Any] = {
    "TITLE": "AVA Cloud",
    "DESCRIPTION": "Answers open-ended questions about very long video, with evidence.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/v1",
    "SORT_OPERATION_PARAMETERS": True,
    "PREPROCESSING_HOOKS": ["backend.api.openapi.only_v1"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "backend.api.openapi.common_parts",
    ],
    "ENUM_NAME_OVERRIDES": {
        "VideoStatus": "backend.library.models.VideoStatus",
        "SourceType": "backend.library.models.SourceType",
        "PieceSourceType": "backend.library.bodies.videos.PIECE_SOURCES",
        "InputStatus": "backend.library.models.InputStatus",
        "IndexState": "backend.library.models.IndexState",
        "UploadStatus": "backend.library.models.UploadStatus",
        "Profile": "backend.library.models.Profile",
        "IndexJobStatus": "backend.library.indexing.api.STATUSES",
        "Scope": "backend.tenancy.api.SCOPE_CHOICES",
        "QuestionStatusEnum": "backend.questions.models.QuestionStatus",
        "BatchStatus": "backend.questions.models.BatchStatus",
        "CitationStatus": "backend.questions.bodies.questions.CITATION_STATUSES",
        "QuestionMethod": "backend.questions.bodies.questions.METHODS",
        "Effort": "gpu_workers.engine.answering.contract.EFFORTS",
        "CheckMode": "gpu_workers.engine.answering.contract.CHECKS",
        "Fusion": "gpu_workers.engine.retrieval.fusion.FUSIONS",
        "SearchView": "backend.questions.services.searches.VIEWS",
        "Verdict": "backend.questions.models.Verdict",
        "UsageMeter": "backend.billing.models.UsageMeter",
        "EndpointState": "backend.webhooks.models.EndpointState",
        "DeliveryState": "backend.webhooks.models.DeliveryState",
    },
    "CONTACT": {},
}
