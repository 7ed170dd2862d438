"""The plan of the house: which files an app has, and which way imports point."""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest
from importlinter import api as importlinter
from importlinter.application.use_cases import read_user_options
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

ROOT = Path(__file__).parents[1]
BACKEND = ROOT / "backend"

ROOMS = {
    "__init__", "apps", "models", "services", "queries", "bodies", "api", "payloads", "migrations", "management",
}  # fmt: skip
"""Rooms that every app may have; a room that outgrows its file is a folder of the same name."""

OTHER_FILES: dict[str, dict[str, str]] = {
    "accounts": {"suspension": "stops a tenant everywhere"},
    "api": {
        "acts": "administrative acts, for the audit log",
        "fleet_reports": "what workers and model servers report",
        "address_limits": "requests per address",
        "body_budget": "bytes of bodies that a process holds",
        "broker": "connections to Redis",
        "browsers": "headers and CORS",
        "asgi_requests": "body, environment and callers of a request",
        "awaiting": "what a reply waits for",
        "changes": "notices of the database",
        "date_formats": "how pages write dates",
        "conditional_views": "ETags of what has no version",
        "connections": "time limits of a connection",
        "deployment": "checks of manage.py check --deploy",
        "deprecation": "headers of an operation that goes",
        "document": "the route of the OpenAPI document",
        "examples": "examples of the OpenAPI document",
        "error_pages": "/errors",
        "event_streams": "server-sent events on the wire",
        "early_refusals": "refusals on the event loop",
        "etags": "optimistic locking and unchanged replies over HTTP",
        "fair_threads": "threads that no caller takes alone",
        "health": "the checks behind /readyz",
        "idempotency": "Idempotency-Key",
        "item_schemas": "one item of a streamed reply, in the OpenAPI document",
        "key_tenants": "tenants of presented API keys",
        "listing": "span, labels and order of lists",
        "middleware": "request ids, and refusing",
        "model_reports": "what workers last found out about the models",
        "open_callers": "ends open replies whose caller has ended",
        "chores": "work that API processes repeat, because it needs a role of theirs",
        "open_replies": "the cap on open replies",
        "openapi": "settings of drf-spectacular",
        "pagination": "cursors",
        "parsers": "JSON only, bounded",
        "probes": "/healthz and /readyz on the event loop",
        "problems": "RFC 9457",
        "public_ids": "prefixed ids",
        "rate_limits": "token buckets in Redis",
        "readiness": "checks that apps register",
        "recent_requests": "the latest requests, for the console",
        "schema": "what drf-spectacular cannot see of a view",
        "serving": "the ASGI application",
        "views": "the base view",
    },
    "audit": {"installation_log": "acts of commands that concern no tenant"},
    "billing": {
        "charges": "what a customer is charged for work",
        "currencies": "minor units",
        "documents": "invoices as PDF and CSV",
        "exports": "billing systems outside",
        "hosted_rates": "a check of the deployment",
        "invariants": "checks of the books that run every night",
        "invoiced_usage": "sums of the ledger that invoices and invariants read",
        "rates": "the prices in force",
        "preview": "what new prices would have cost",
        "plan_preview": "what a new version of a plan would have cost",
        "rating": "lines of a bill",
        "terms": "the terms in force",
    },
    "archives": {
        "archive": "the file of a tenant",
        "exporting": "from the installation into the file",
        "importing": "from the file into the installation",
        "people_rows": "the accounts of a tenant's members",
        "tenant_graph": "a tenant's part of the graph",
        "tenant_rows": "a tenant's rows",
    },
    "console": {
        "act_forms": "what acts ask for",
        "refusing": "pages of refusals",
        "actions": "what operators may do",
        "acts": "one act on one row, and its record",
        "calls": "the model calls of a question as bars",
        "operations": "the page of an incident",
        "playing": "what the player of a video needs",
        "timeline": "lanes under the player",
        "admin": "the lists",
        "anomalies": "marks of what stands out",
        "charts": "data of unfold's charts",
        "filters": "filters of the lists",
        "finance_forms": "the forms of coupons and machine hours",
        "finance_pages": "the pages of coupons, sellers, machine hours and model rates",
        "finding": "the page that an id names",
        "money_pages": "the pages of prices, plans, invoices and credit",
        "overview": "the first page",
        "plan_form": "the form of a version of a plan",
        "tenant_acts": "what staff may do to a tenant",
        "tenant_money_acts": "what staff may do to a tenant's money",
        "tenant_limits": "the limits of a tenant, as the services hold work to them",
        "tenants": "the page of a tenant",
        "base": "read-only pages",
        "comparisons": "the pages of a comparison",
        "figure_rows": "the figures of a comparison, for a table",
        "frontier": "the drawing of accuracy over cost",
        "details": "the pages of a video and a question",
        "price_form": "the form of a new price",
        "requests": "the page of the latest requests",
        "gate": "who gets past the sign-in",
        "opening": "the page of reasons",
        "signed_in_as": "the pages of a tenant as its owner reads them",
        "second_factor": "the pages of second factors",
        "site_settings": "what differs from the API's settings",
        "urls": "the routes of the console's process",
        "viewing": "what staff may see, and its record",
        "search_tree": "the tree of a question, for a template",
        "searches": "the pages of searches",
        "site": "the admin site and its dashboard",
        "static": "style sheets",
        "templates": "pages",
        "templatetags": "filters of the templates",
        "words": "labels",
    },
    "people": {
        "account_log": "what people do with their accounts, for the audit log",
        "account_mail": "mails about accounts",
        "account_rules": "who may sign up, for allauth",
        "authentication": "browser sessions on requests of the API",
        "checked_requests": "requests to providers by the checked transport",
        "forms": "the forms of an invited person and of second factors",
        "pages": "the pages under /accounts",
        "provider_exchanges": "bounds on the requests to providers",
        "providers": "tenants' identity providers, for allauth",
        "roles": "the scopes of each role",
        "sessions": "how long sessions last and what they cover",
        "static": "style sheets",
        "templates": "pages",
        "try_again": "refusals that pass by themselves",
    },
    "ekg": {
        "arrays": "the text of arrays in statements",
        "completion": "what a complete version holds, for library.indexing",
        "graph_store": "the only door to Cypher",
        "index_reads": "reads of the index tasks",
        "invariants": "the checks of check_index",
        "kept_verdicts": "what scans have judged",
        "known_entities": "the entities that linking compares",
        "moment_reads": "the reader's reads by time, words and topic",
        "named_reads": "the reader's reads by name",
        "object_memory": "objects and tracks",
        "reader": "the graph for the engine",
        "recording_reads": "the reader's reads of whole videos",
        "repair": "puts back what failed in a version",
        "retirement": "removes a version",
        "scope": "the hard filter of the reader, and its connection",
        "sketch_search": "which items of a large scope are compared",
        "sketches": "stored sketches of vectors",
        "stored_rows": "rows as the engine's plain data",
        "thing_reads": "the reader's reads by object and entity",
        "view_search": "the vector searches of the reader",
        "views": "the views that these search",
        "word_index": "the writer's index of words",
        "word_search": "the reader's search by words",
        "word_columns": "the ranking of words in a large scope",
        "writer": "the only writer of a version",
    },
    "jobs": {
        "breakers": "what waits for a dependency that is away",
        "clock": "times of PostgreSQL",
        "holds": "dependencies that staff hold back",
        "commits": "writes that outlive a broken connection",
        "control": "what people decide about jobs",
        "deadlines": "how long a job may take",
        "dispatching": "what runs next, over all tenants",
        "failures": "how an attempt ends without a result",
        "fairness": "the order of tenants",
        "leases": "the life of a claimed job",
        "queue_ages": "how long the oldest job of a class waited, minute by minute",
        "retention": "how long ended jobs are kept",
        "sweeps": "recurring work",
    },
    "library": {
        "document": "sources in the OpenAPI document",
        "content_types": "what a browser takes a recording for",
        "index_contents": "the numbers of an index, which ekg registers",
        "indexing": "the life of an index version",
        "recording": "where a recording lies in storage",
        "wall_clocks": "when videos were recorded",
        "storage": "S3",
    },
    "observability": {
        "exposition": "/metrics",
        "json_lines": "the form of log lines",
        "log_context": "the fields of log lines",
        "metrics": "what is counted",
        "middleware": "what is seen of a request",
        "tracing": "spans",
        "uvicorn_log": "log lines of the process that starts the API's",
    },
    "outbound": {
        "addresses": "which addresses may be called",
        "async_transport": "the same requests on an event loop",
        "transport": "requests to addresses that customers name",
    },
    "questions": {
        "cached_tokens": "cached tokens as customers see them",
        "figures": "the figures of a comparison's arms and pairs",
        "paired": "paired statistics",
        "stream": "server-sent events",
        "waiting": "Prefer: wait",
    },
    "shares": {
        "pages": "the page of a share",
        "static": "style sheets",
        "templates": "pages",
    },
    "staff": {
        "factors": "who may add and remove second factors, and codes of authenticator apps",
        "session_retention": "deletes expired sessions of customers and staff",
        "passkeys": "WebAuthn as a second factor",
        "sign_in": "counted attempts and limits of sessions",
    },
    "tenancy": {
        "README": "how isolation works",
        "authentication": "API keys of requests",
        "callers": "the key and the member behind a request",
        "context": "tenant_scope",
        "ddl": "row-level security as migration operations",
        "graph_routines": "functions of AGE that may be run",
        "guard": "the self-check at start and while running",
        "isolation": "the self-check",
        "key_limits": "what a key cannot pass on",
        "keys": "generation and digests of API keys",
        "link_tokens": "links whose path is a secret",
        "months": "partitions by month",
        "networks": "addresses of clients",
        "origins": "pages that may use a tenant's keys",
        "postgresql": "Django's database backend, for composite keys",
        "provision": "roles and grants, in SQL",
        "refusals": "errors that customers can act on",
        "rights": "what each role may do",
        "role_settings": "time-outs and search path of each role",
        "routing": "the database router",
        "secrets": "sealing",
    },
    "webhooks": {
        "attempts": "one delivery attempt",
        "breaker": "holds the deliveries of a failing receiver back",
        "budget_mail": "the mail about a limit",
        "document": "the events in the OpenAPI document",
        "invoice_events": "what a tenant hears about its invoices",
        "notices": "what a tenant hears about a disabled endpoint",
        "redaction": "takes deleted text out of events",
        "recipients": "who gets a notice by mail",
        "recovery": "sends deliveries again",
        "retention": "the end of old deliveries",
        "signing": "Standard Webhooks",
        "refused_work": "the report of a limit that refused a request, after the rollback",
        "thresholds": "events about the monthly budget",
    },
}
"""Files outside the rooms, each with the reason for a name of its own."""

APPS = sorted(path.name for path in BACKEND.iterdir() if path.is_dir() and path.name != "__pycache__")


@pytest.mark.parametrize("app", APPS)
def test_an_app_has_the_rooms_of_all_apps_and_a_reason_for_every_other_file(app: str) -> None:
    found = {path.stem for path in (BACKEND / app).iterdir() if path.name != "__pycache__"}

    assert found - ROOMS == set(OTHER_FILES.get(app, {}))


def contract(name: str) -> Contract:
    """The contract of pyproject.toml whose name begins so."""
    options = importlinter.read_configuration(str(ROOT / "pyproject.toml"))
    (found,) = [one for one in options["contracts_options"] if one["name"].startswith(name)]
    kind = {"layers": LayersContract, "forbidden": ForbiddenContract}[found["type"]]
    return kind(found["name"], options["session_options"], found)


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    packages = read_user_options(str(ROOT / "pyproject.toml")).session_options["root_packages"]
    return grimp.build_graph(*packages, include_external_packages=True, cache_dir=None)


@pytest.mark.parametrize(
    ("name", "importer", "imported"),
    [
        ("Three floors", "backend.library.queries", "workers.runner"),
        ("Three floors", "workers.runner", "gpu_workers.tasks.models"),
        ("Three floors", "gpu_workers.engine.ports", "backend.jobs.models"),
        ("The engine imports no framework", "gpu_workers.engine.memory_graph", "django"),
        ("Inside the engine", "gpu_workers.engine.models.roles", "gpu_workers.engine.indexing.assembly"),
        ("The apps of the backend", "backend.jobs.services", "backend.library.models"),
        ("The apps of the backend", "backend.webhooks.payloads", "backend.questions.models"),
        ("The apps of the backend", "backend.tenancy.services", "backend.api.problems"),
        ("Inside an app", "backend.library.queries", "backend.library.services.videos"),
        ("The backend imports no Celery", "backend.jobs.services", "celery"),
        ("Nothing in the product", "workers.runner", "infra.local.stack"),
    ],
)
def test_a_contract_holds_and_an_import_in_the_wrong_direction_breaks_it(
    imports: grimp.ImportGraph, name: str, importer: str, imported: str
) -> None:
    checked = contract(name)
    assert checked.check(imports, verbose=False).kept

    imports.add_import(importer=importer, imported=imported)
    try:
        assert not checked.check(imports, verbose=False).kept
    finally:
        imports.remove_import(importer=importer, imported=imported)


def arrows_between(imports: grimp.ImportGraph, root: str, *, depth: int | None) -> dict[str, set[str]]:
    """Return what imports what below a package: its modules, or its folders and files at a depth below the root."""

    def part(module: str) -> str:
        return module if depth is None else ".".join(module.split(".")[: root.count(".") + 1 + depth])

    below = {module for module in imports.modules if module == root or module.startswith(f"{root}.")}
    found: dict[str, set[str]] = {part(module): set() for module in below}
    for importer in below:
        ends = {part(imported) for imported in imports.find_modules_directly_imported_by(importer) & below}
        found[part(importer)] |= ends - {part(importer)}
    return found


def circles(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows that lie in a circle, or between two circles."""
    while True:
        tips = {end for ends in arrows.values() for end in ends}
        left = {begin: ends & arrows.keys() for begin, ends in arrows.items() if ends & arrows.keys() and begin in tips}
        if left == arrows:
            return left
        arrows = left


WITHOUT_CIRCLES = (
    "backend", "workers", "gpu_workers.tasks", "gpu_workers.engine.indexing", "gpu_workers.engine.languages",
    "gpu_workers.engine.memory_graph", "gpu_workers.engine.models", "gpu_workers.engine.prompts",
    "gpu_workers.engine.retrieval",
)  # fmt: skip


@pytest.mark.parametrize("root", WITHOUT_CIRCLES)
def test_no_two_modules_import_each_other_in_a_circle(imports: grimp.ImportGraph, root: str) -> None:
    """Imports inside functions and for types count as well."""
    assert circles(arrows_between(imports, root, depth=None)) == {}


@pytest.mark.parametrize("root", [root for root in WITHOUT_CIRCLES if root.startswith("gpu_workers.engine.")])
def test_no_two_folders_of_the_engine_import_each_other_in_a_circle(imports: grimp.ImportGraph, root: str) -> None:
    """Folders at any depth, with the files next to them."""
    packages = [module for module in imports.modules if f"{module}.".startswith(f"{root}.")]
    for package in packages:
        if imports.find_children(package):
            inner = arrows_between(imports, package, depth=1)
            # A package's own __init__ may gather what its modules offer.
            assert circles({part: ends - {package} for part, ends in inner.items() if part != package}) == {}


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b": {"c"}, "c": {"b"}}


def test_no_two_packages_import_each_other_in_a_circle(imports: grimp.ImportGraph) -> None:
    """Packages: the apps of the backend, the rooms of the engine, workers and tasks."""
    arrows: dict[str, set[str]] = {}
    for importer in imports.modules:
        for imported in imports.find_modules_directly_imported_by(importer):
            begin, end = package_of(importer), package_of(imported)
            if begin and end and begin != end:
                arrows.setdefault(begin, set()).add(end)

    assert circles(arrows) == {}


def package_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] == "workers":
        return "workers"
    if parts[:2] == ["gpu_workers", "engine"]:
        return ".".join(parts[:3])
    if parts[0] in ("backend", "gpu_workers"):
        return ".".join(parts[:2])
    return None
