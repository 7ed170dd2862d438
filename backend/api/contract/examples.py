"""Examples of requests and replies in the OpenAPI document, for the operations that a newcomer calls first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXAMPLES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text())
"""Id of an operation -> its request, the status and the reply."""


def add(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: an example for the body and the reply of these operations."""
    operations = {each["operationId"]: each for every in result["paths"].values() for each in every.values()}
    for operation_id, example in EXAMPLES.items():
        operation = operations[operation_id]
        operation["requestBody"]["content"]["application/json"]["example"] = example["request"]
        reply = operation["responses"][str(example["status"])]
        reply["content"]["application/json"]["example"] = example["reply"]
    return result
