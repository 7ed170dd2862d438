"""The parts of an operation that the OpenAPI document takes from its view: summary, description, scope, header."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from backend.api.contract.deprecation import Deprecation
from backend.api.idempotency import HEADER, is_marked

_FIRST_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)
IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$"},
    OpenApiParameter.HEADER,
    description="A text of your choice, such as a UUID. The same key with the same request within 24 hours has no "
    "second effect and returns the first reply.",
)


class PublicIdSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes an id with the prefix of its kind. The generator finds the class by its target."""

    target_class = "backend.api.public_ids.PublicIdField"

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^{self.target.prefix}_[1-9A-HJ-NP-Za-km-z]+$"}


class WireSchema(AutoSchema):
    """Reads an operation from the docstring, the scopes and the marks of its method."""

    def get_summary(self) -> str | None:
        """Return the first sentence of the method's docstring, without its full stop."""
        sentence = _FIRST_SENTENCE.match(self._docstring())
        return " ".join(sentence[0].split()).removesuffix(".") if sentence else None

    def get_description(self) -> str:  # type: ignore[override]
        """Return the method's docstring and the scope that it needs; never the docstring of a view class."""
        scope = getattr(self.view, "scopes", {}).get(self.method)
        needs = f"The API key needs the scope `{scope}`." if scope else ""
        return "\n\n".join(part for part in (self._docstring(), needs) if part)

    def get_override_parameters(self) -> list[Any]:
        """Return the Idempotency-Key header if the method honours it."""
        return [IDEMPOTENCY_KEY] if is_marked(self._handler()) else []

    def is_deprecated(self) -> bool:
        """Whether the method goes."""
        return self._deprecation() is not None

    def get_extensions(self) -> dict[str, Any]:
        """Return the day on which a deprecated method goes."""
        ending = self._deprecation()
        return {} if ending is None else {"x-sunset": ending.sunset.isoformat()}

    def _deprecation(self) -> Deprecation | None:
        endings: Mapping[str, Deprecation] = getattr(self.view, "deprecated", {})
        return endings.get(self.method)

    def _get_request_body(self, direction: Any = "request") -> Any:
        # The generator gives a body to POST, PUT and PATCH alone; `bodies` names what else has one.
        method = self.method
        if method in getattr(self.view, "bodies", ()):
            self.method = "POST"
        try:
            return super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        finally:
            self.method = method

    def _handler(self) -> Any:
        return getattr(self.view, self.method.lower(), None)

    def _docstring(self) -> str:
        return inspect.cleandoc(getattr(self._handler(), "__doc__", None) or "")

    def _get_serializer_field_meta(self, field: Any, direction: str) -> Any:
        meta = super()._get_serializer_field_meta(field, direction)  # type: ignore[no-untyped-call]
        # The generator knows this only if it splits one serializer into two components; here each has one direction.
        if direction == "request" and isinstance(field, serializers.CharField) and not field.allow_blank:
            meta["minLength"] = 1
        return meta
