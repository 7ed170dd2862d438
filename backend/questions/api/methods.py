"""/v1/methods: the answering methods that a question can name."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.views import TenantView
from backend.questions.bodies.methods import MethodListSerializer
from backend.questions.queries.methods import methods


class MethodsView(TenantView):
    scopes = {"GET": "questions:read"}

    @extend_schema(operation_id="listMethods", tags=["Methods"], responses=MethodListSerializer)
    def get(self, request: Request) -> Response:
        """List the answering methods, with what each needs and whether it can be used now."""
        return Response(MethodListSerializer({"data": methods()}).data)


routes: list[Any] = [path("methods", MethodsView.as_view())]
