"""docs/errors.md lists every error code that a customer can meet, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from rest_framework.test import APIClient

from backend import urls
from backend.api.bodies import StrictSerializer

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "errors.md"
CODE = re.compile(r"[a-z]+(_[a-z]+)*")
ROW = re.compile(r"^\| `([a-z_]+)` \|", re.MULTILINE)
FOLDERS = ("backend", "workers", "gpu_workers")
# What makes an error, and where its code stands among the arguments.
POSITION = {
    "Refused": 0,
    "Problem": 1,
    "FieldError": 1,
    "JobFailed": 0,
    "ModelError": 0,
    "ProbeError": 0,
    "SourceUnreadable": 0,
    "TransportError": 0,
}
NAMES = frozenset({"code", "error_code", "default_code"})
# Customers never meet these.
INTERNAL = {
    "acceptance_required": "the page of sign-in",
    "address_missing": "the page of sign-in",
    "address_unproven": "the pages of accounts",
    "address_unverified": "the page of sign-in",
    "content_closed": "staff at the console",
    "domain_not_allowed": "the page of sign-in",
    "no_call_left": "a step of a program, which goes on without it",
    "not_invited": "the page of sign-in",
    "wrong_account": "the page of an invitation",
    "nothing_to_do": "staff at the console",
    "reason_missing": "staff at the console",
    "too_short": "staff at the console",
    "job_not_ended": "operators replay jobs in the console and on the command line",
    "job_over": "operators cancel jobs in the console and on the command line",
    "not_skippable": "operators skip jobs in the console and on the command line",
    "mail_refused": "the job that mails a notice is tried again",
    "cost_book_away": "a worker waits before its first task",
    "unpriced_model": "a worker waits before its first task",
    "slug_taken": "an operator creates tenants on the command line",
    "unknown_method": "the API refuses an unknown method before the engine sees it",
    "version_in_use": "the job that removes an old index version is tried again",
    "video_in_use": "the job that deletes a video is tried again",
    "tenant_in_use": "the job that erases a tenant is tried again",
    "not_erased": "the job that erases a tenant is tried again",
    "people_wait": "the job that erases a tenant is tried again once the API has erased its people",
    "coupon_exists": "an operator creates coupons",
    "coupon_expired": "an operator redeems coupons",
    "invalid_coupon": "an operator creates coupons",
    "coupon_redeemed": "an operator redeems coupons",
    "unknown_coupon": "an operator redeems coupons",
    "invalid_credit": "an operator grants credit",
    "invalid_tax_note": "staff set the tax in the console",
    "invalid_tax_rate": "staff set the tax in the console",
    "already_reversed": "an operator corrects the ledger",
    "is_a_reversal": "an operator corrects the ledger",
    "unknown_usage_event": "an operator corrects the ledger",
    "not_priced": "an operator corrects the ledger",
    "subscribed_already": "an operator subscribes a tenant to a plan",
    "subscription_in_past": "an operator subscribes a tenant to a plan",
    "unknown_plan": "an operator subscribes a tenant to a plan",
    "not_staff": "staff at the console",
    "unknown_act": "staff at the console",
    "unknown_segment": "staff at the console",
    "missing": "staff who ask a question again whose videos are gone",
    "model_bad_reply": "an operator measures what a model server's tokens take",
    "invoice_corrected": "an operator voids and corrects invoices",
    "invoice_not_final": "an operator voids and corrects invoices",
    "weights_corrupt": "a worker does not start",
    "weights_error": "a worker does not start",
    "weights_unavailable": "a worker does not start",
    "weights_unknown": "a worker does not start",
}


def trees(folder: str) -> list[ast.Module]:
    files = sorted((ROOT / folder).rglob("*.py"))
    return [ast.parse(file.read_text()) for file in files if "migrations" not in file.parts]


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def positions(modules: list[ast.Module]) -> dict[str, int]:
    """POSITION, and the same for all classes of these modules that are derived from those of POSITION."""
    bases = {
        node.name: {name_of(base) for base in node.bases}
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
    }
    known = dict(POSITION)
    while new := {
        name: known[base] for name, parents in bases.items() for base in parents & known.keys() if name not in known
    }:
        known |= new
    return known


def words(node: ast.AST | None) -> set[str]:
    """The codes that an expression may give: a string, or the strings of both arms of a choice."""
    match node:
        case ast.Constant(value=str(text)) if CODE.fullmatch(text):
            return {text}
        case ast.IfExp():
            return words(node.body) | words(node.orelse)
        case ast.BoolOp():
            return {word for value in node.values for word in words(value)}
        case ast.Tuple() | ast.List():
            return {word for value in node.elts for word in words(value)}
    return set()


def of_call(call: ast.Call, position: int | None) -> set[str]:
    by_name = [keyword.value for keyword in call.keywords if keyword.arg in NAMES]
    by_position = [call.args[position]] if position is not None and len(call.args) > position else []
    return {word for value in [*by_name, *by_position] for word in words(value)}


def raised_in(module: ast.Module, known: dict[str, int]) -> Iterator[str]:
    for node in ast.walk(module):
        match node:
            case ast.Call():
                yield from of_call(node, known.get(name_of(node.func)))
            case ast.ClassDef() if node.name in known:
                # super().__init__("code", …)
                for call in ast.walk(node):
                    if isinstance(call, ast.Call) and name_of(call.func) == "__init__":
                        yield from of_call(call, known[node.name])
            case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)]) if name in NAMES:
                yield from words(node.value)
            case ast.AnnAssign(target=ast.Name(id="_DRF_CODES")):
                yield from words(node.value)
            case ast.FunctionDef(name=name) if name.endswith("code_of"):
                for statement in ast.walk(node):
                    if isinstance(statement, ast.Return):
                        yield from words(statement.value)


def raised() -> set[str]:
    found: set[str] = set()
    for folder in FOLDERS:
        modules = trees(folder)
        known = positions(modules)
        found |= {code for module in modules for code in raised_in(module, known)}
    return found


def request_serializers(base: type[Any] = StrictSerializer) -> Iterator[type[Any]]:
    for each in base.__subclasses__():
        yield each
        yield from request_serializers(each)


def value_codes(field: Any) -> set[str]:
    """The codes with which a field, and what it holds, refuse a value."""
    inner = [*getattr(field, "fields", {}).values(), *([child] if (child := getattr(field, "child", None)) else [])]
    return set(field.error_messages).union(*map(value_codes, inner))


def documented() -> list[str]:
    return ROW.findall(DOCUMENT.read_text())


def test_every_code_that_the_code_gives_is_in_the_document_and_the_reverse() -> None:
    # Importing the routes defines every serializer.
    assert urls.v1
    refused = {code for serializer in request_serializers() for code in value_codes(serializer())}
    given = raised() | refused

    assert INTERNAL.keys() <= given
    assert sorted(given - INTERNAL.keys() - set(documented())) == [], "not in docs/errors.md"
    assert sorted(set(documented()) - (given - INTERNAL.keys())) == [], "in docs/errors.md, but never given"


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ('raise Refused("a_b", "x")', {"a_b"}),
        ('raise invalid(pointer="/x", code="a_b", detail="x")', {"a_b"}),
        ('raise Problem(409, "late" if late else "early", "x")', {"late", "early"}),
        ('row.error_code = answer.detail or "engine_error"', {"engine_error"}),
        ('class Own(Refused): ...\nraise Own("own", "x")', {"own"}),
        ('class Own(Refused):\n    def __init__(self): super().__init__("inner", "x")', {"inner"}),
        ('def _code_of(status): return "gone" if status == 410 else "http_error"', {"gone", "http_error"}),
        ('other("a_b", "x")', set()),
    ],
)
def test_codes_are_found_wherever_they_are_given(source: str, codes: set[str]) -> None:
    module = ast.parse(source)

    assert set(raised_in(module, positions([module]))) == codes


def test_the_type_of_each_problem_is_a_place_on_a_page() -> None:
    client = APIClient()
    refused = client.get("/v1/videos").json()
    url, _, anchor = refused["type"].partition("#")
    assert (url, anchor) == (f"{settings.PUBLIC_URL}/errors", "not_authenticated")

    page = client.get("/errors")
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    anchors = re.findall(r'<tr id="([a-z_]+)">', page.content.decode())
    assert len(anchors) == len(set(anchors))
    assert set(anchors) == set(documented())
    assert '<tr id="not_found"><td><code>not_found</code></td><td>404</td>' in page.content.decode()
