"""Videos with their indexes, questions with their searches, comparisons, deliveries and jobs of a load."""

from __future__ import annotations

import psycopg

from bench.seed_rows import insert, of_each, spread

_VIDEO = "(parent).id"
_HOURS = 20
"""Hours of the newest video; the others have half an hour."""
_SPAN = {"start_ms": "(parent).duration_ms * k / parts", "end_ms": "(parent).duration_ms * (k + 1) / parts"}
_PARTS: dict[str, tuple[int, int, dict[str, str]]] = {
    "ekg_event": (20, 2_000, {**_SPAN, "n": "k", "summary": "'Something happens at ' || k"}),
    "ekg_chunk": (40, 4_000, {**_SPAN, "n": "k", "description": "CASE WHEN k % 40 <> 9 THEN 'A street' END",
                              "gap": "CASE WHEN k % 40 = 9 THEN 'unreadable' END"}),
    "ekg_frame": (40, 4_000, {"ms": "1000 * k", "thumbnail_key": "'seed/' || k"}),
    "ekg_transcriptline": (20, 2_000, {**_SPAN, "text": "'Good morning ' || k"}),
    "ekg_trackedobject": (6, 1_500, {**_SPAN, "n": "k", "category": "'car'"}),
    "ekg_track": (6, 1_500, {**_SPAN, "track_no": "k", "category": "'car'"}),
    "ekg_entity": (8, 200, {"name": "'Person ' || k", "type": "'person'", "weight": "k"}),
    "ekg_topic": (2, 60, {**_SPAN, "n": "k", "title": "'Topic ' || k"}),
    "ekg_overview": (1, 1, {"text": "'A street with cars'"}),
}  # fmt: skip
"""Rows of one video's index, of the newest video's, and their columns, by table."""


def videos(server: psycopg.Connection, count: int) -> None:
    """Write videos, and recorded: the videos of each tenant."""
    insert(
        server, "library_video", spread(count),
        {"status": "CASE WHEN n % 50 = 7 THEN 'failed' ELSE 'ready' END", "title": "'Video ' || n",
         "profile": "'general'", "source_type": "'upload'",
         "duration_ms": f"CASE WHEN n = {count} THEN {_HOURS * 3_600_000} ELSE 1800000 END",
         "indexed_until_ms": f"CASE WHEN n = {count} THEN {_HOURS * 3_600_000} ELSE 1800000 END",
         "error_code": "CASE WHEN n % 50 = 7 THEN 'worker_lost' ELSE '' END", "created_at": "at",
         "index_started_at": "at", "ready_at": "CASE WHEN n % 50 <> 7 THEN at + interval '9 minutes' END",
         "failed_at": "CASE WHEN n % 50 = 7 THEN at + interval '5 minutes' END", "size_bytes": "400000000",
         "object_key": "'seed/' || n",
         "stage_ms": "jsonb_build_object('describe_ms', 300000 + n % 90000, 'embed_ms', 40000 + n % 9000)",
         "active_index_version": "1", "building_index_version": "1", "version": "1"},
    )  # fmt: skip
    server.execute(
        "CREATE TEMP TABLE recorded AS SELECT tenant_id, array_agg(id ORDER BY id) AS ids FROM library_video "
        "WHERE object_key LIKE 'seed/%' GROUP BY 1"
    )


def index(server: psycopg.Connection) -> None:
    """Write the segments and the Event Knowledge Graph of each video."""
    ours = "object_key LIKE 'seed/%'"
    insert(
        server, "library_indexversion", of_each("library_video", 1, where=ours),
        {"video_id": _VIDEO, "n": "1", "state": "'ready'", "indexed_until_ms": "(parent).duration_ms",
         "created_at": "at", "ready_at": "(parent).ready_at"},
    )  # fmt: skip
    insert(
        server, "library_segment", of_each("library_video", 6, newest=1_200, where=ours),
        {**_SPAN, "video_id": _VIDEO, "index_version": "1", "n": "k", "state": "'assembled'", "observed_at": "at",
         "assembled_at": "at", "stage_ms": "jsonb_build_object('describe_ms', 15000 + k, 'embed_ms', 2000)",
         "error_code": "CASE WHEN n % 200 = 3 THEN 'model_unavailable' ELSE '' END"},
    )  # fmt: skip
    insert(
        server, "library_inputsegment", of_each("library_video", 0, newest=1_200, where=ours),
        {"video_id": _VIDEO, "n": "k", "status": "'ready'", "created_at": "at", "duration_ms": "60000",
         "start_ms": "60000 * k"},
    )  # fmt: skip
    for table, (each, newest, values) in _PARTS.items():
        rows = of_each("library_video", each, newest=newest, where=ours)
        insert(server, table, rows, {**values, "video_id": _VIDEO, "index_version": "1"})
    of_video = {"video_id": "video_id", "index_version": "1"}
    insert(
        server, "ekg_relation",
        "SELECT row_number() OVER () AS n, now() AS at, * FROM (SELECT tenant_id, video_id, id AS source, lead(id) "
        "OVER (PARTITION BY video_id ORDER BY id) AS target FROM ekg_entity) e WHERE target IS NOT NULL",
        {**of_video, "source_id": "source", "target_id": "target", "predicate": "'talks to'"},
    )  # fmt: skip
    insert(
        server, "ekg_mention",
        "SELECT row_number() OVER () AS n, now() AS at, tenant_id, video_id, id AS entity FROM ekg_entity, "
        "generate_series(1, 2)",
        {**of_video, "entity_id": "entity", "name": "'Person'", "type": "'person'", "role": "'participant'"},
    )  # fmt: skip


_ASKED: dict[str, str] = {
    "method": "(ARRAY['ava', 'ava', 'caption_rag'])[1 + n % 3]", "effort": "'medium'", "check_mode": "'auto'",
    "route": "'auto'", "choices": "'[]'", "created_at": "at", "started_at": "at",
    "completed_at": "at + interval '9 seconds'", "answer": "'Something'", "cost_currency": "'USD'",
    "cost_amount": "0.005", "charge_currency": "'USD'", "charge_amount": "0.02",
    "usage": "jsonb_build_object('calls', 10, 'prompt_tokens', 40000, 'completion_tokens', 2000)",
    "timings": "jsonb_build_object('total_ms', 4000 + hashint8(n) & 8191, 'queue_ms', 90 + n % 300, "
               "'engine_ms', 3400 + n % 3000, 'search_ms', 3000 + n % 3000, "
               "'llm_ms', 9000 + n % 9000, 'rank_ms', 800 + n % 500)",
}  # fmt: skip


def questions(server: psycopg.Connection, count: int) -> None:
    """Write questions, each about one video of its tenant."""
    insert(
        server, "questions_question", spread(count),
        {**_ASKED, "status": "CASE WHEN n % 40 = 7 THEN 'failed' ELSE 'succeeded' END",
         "text": "'What happens in ' || n",
         "error_code": "CASE WHEN n % 40 = 7 THEN 'model_unavailable' ELSE '' END"},
    )  # fmt: skip
    about = (
        "SELECT row_number() OVER () AS n, created_at AS at, q.tenant_id, q.id AS asked, "
        "ids[1 + abs(hashtext(q.id::text)) % cardinality(ids)] AS video FROM questions_question q "
        "JOIN recorded r ON r.tenant_id = q.tenant_id WHERE q.text LIKE 'What happens in %'"
    )
    insert(
        server,
        "questions_questionvideo",
        about,
        {"question_id": "asked", "video_id": "video", "index_version": "1", "indexed_until_ms": "1800000"},
    )
    insert(
        server, "questions_feedback", f"SELECT * FROM ({about}) q WHERE n % 10 = 0",
        {"question_id": "asked", "verdict": "(ARRAY['right', 'right', 'wrong'])[1 + n % 3]", "updated_at": "at",
         "created_at": "at"},
    )  # fmt: skip
    insert(
        server, "questions_evidence", f"{about.replace('row_number() OVER ()', 'row_number() OVER () * 2 + k')}"
        .replace("FROM questions_question q", ", k FROM generate_series(0, 1) k, questions_question q"),
        {"question_id": "asked", "video_id": "video", "ordinal": "k", "end_ms": "3000", "status": "'supported'",
         "quote": "'A car'"},
    )  # fmt: skip


def answers(server: psycopg.Connection) -> None:
    """Write the search tree of each question, and its model calls."""
    ours = "text LIKE 'What happens in %'"
    insert(
        server, "questions_node", of_each("questions_question", 5, newest=80, where=ours),
        {"question_id": "(parent).id", "ordinal": "k", "depth": "least(k, 3)", "action": "'F'", "answer": "'Something'",
         "path": "CASE WHEN k = 0 THEN '' ELSE 'F' || k END", "events": "'[]'", "sub_queries": "'[]'", "seen": "'[]'",
         "score": "0.5", "started_ms": "400 * k", "wall_ms": "390"},
    )  # fmt: skip
    insert(
        server, "questions_candidate",
        "SELECT row_number() OVER () AS n, now() AS at, tenant_id, id AS node, k FROM questions_node, "
        "generate_series(0, 1) k WHERE path ~ '^(F[0-9]+)?$'",
        {"node_id": "node", "ordinal": "k", "answer": "'Something'", "reasoning": "'It is seen.'", "score": "0.5"},
    )  # fmt: skip
    insert(
        server, "billing_modelcall", of_each("questions_question", 10, newest=400, where=ours),
        {"source_type": "'question'", "source_id": "(parent).id", "ordinal": "k",
         "stage": "(ARRAY['rank', 'verify', 'plan'])[1 + k % 3]", "model": "'reasoner'", "wall_ms": "300 + k",
         "device_ms": "120", "prompt_tokens": "4000", "completion_tokens": "200", "items": "1", "ok": "true",
         "start_ms": "350 * k", "called_at": "at"},
    )  # fmt: skip


def searches(server: psycopg.Connection, count: int) -> None:
    insert(
        server, "questions_search", spread(count),
        {"status": "'succeeded'", "text": "'White lorry ' || n", "results": "'[]'", "degraded": "'[]'",
         "created_at": "at", "completed_at": "at", "timings": "jsonb_build_object('total_ms', 300)",
         "charge_currency": "'USD'"},
    )  # fmt: skip


def comparisons(server: psycopg.Connection, count: int) -> None:
    """Write comparisons of two arms with their questions."""
    insert(
        server, "questions_comparison", spread(count),
        {"status": "'completed'", "name": "'Comparison ' || n", "grading": "'choice'", "repeats": "1", "total": "20",
         "arms": """'[{"method": "ava", "effort": "low", "label": "ava"}, {"method": "vector", "effort": "low", """
                 """"label": "vector"}]'""", "created_at": "at", "completed_at": "at"},
    )  # fmt: skip
    insert(
        server, "questions_comparisonitem",
        of_each("questions_comparison", 5, newest=100, where="name LIKE 'Comparison %'"),
        {"comparison_id": "(parent).id", "position": "k", "text": "'Which car is seen at ' || k", "choices": "'[]'",
         "video_ids": "'[]'", "evidence": "'[]'", "correct_answer": "'The red car'"},
    )  # fmt: skip
    insert(
        server, "questions_question",
        "SELECT 1000000000 + row_number() OVER () AS n, created_at AS at, i.tenant_id, i.comparison_id, i.id AS item, "
        "arm FROM questions_comparisonitem i JOIN questions_comparison c ON c.id = i.comparison_id, "
        "generate_series(0, 1) arm WHERE c.name LIKE 'Comparison %'",
        {**_ASKED, "status": "'succeeded'", "text": "'Which car is seen'", "comparison_id": "comparison_id",
         "comparison_item_id": "item", "comparison_arm": "arm", "grade": "(ARRAY['right', 'wrong'])[1 + n % 2]"},
    )  # fmt: skip


def deliveries(server: psycopg.Connection) -> None:
    """Write an endpoint for each tenant, and one delivery with its attempt for each question."""
    insert(
        server, "webhooks_endpoint",
        "SELECT row_number() OVER (ORDER BY id) AS n, created_at AS at, id AS tenant_id FROM tenancy_tenant "
        "WHERE slug ~ '^tenant-[0-9]+$'",
        {"url": "'https://hooks.example.org/' || n", "event_types": "'[]'", "created_at": "at",
         "breaker": "CASE WHEN n % 20 = 7 THEN 'open' ELSE 'closed' END",
         "state": "CASE WHEN n % 50 = 9 THEN 'auto_disabled' ELSE 'enabled' END"},
    )  # fmt: skip
    asked = of_each("questions_question", 1, where="text LIKE 'What happens in %'")
    insert(
        server, "webhooks_webhookevent", asked,
        {"type": "'question.completed'", "body": "'{}'", "resource_id": "(parent).id", "sequence": "1",
         "created_at": "at"},
    )  # fmt: skip
    insert(
        server, "webhooks_delivery",
        "SELECT row_number() OVER (ORDER BY v.id) AS n, v.created_at AS at, v.tenant_id, v.id AS event, e.id AS "
        "endpoint FROM webhooks_webhookevent v JOIN webhooks_endpoint e ON e.tenant_id = v.tenant_id "
        "AND e.url LIKE 'https://hooks.example.org/%'",
        {"event_id": "event", "endpoint_id": "endpoint", "attempts": "1", "created_at": "at", "completed_at": "at",
         "state": "(ARRAY['dead', 'succeeded'])[1 + (n % 100 <> 3)::int]", "expires_at": "at + interval '3 days'"},
    )  # fmt: skip
    insert(
        server, "webhooks_attempt",
        "SELECT row_number() OVER (ORDER BY d.id) AS n, d.created_at AS at, d.tenant_id, d.id AS delivery, d.state "
        "FROM webhooks_delivery d JOIN webhooks_endpoint e ON e.id = d.endpoint_id "
        "WHERE e.url LIKE 'https://hooks.example.org/%'",
        {"delivery_id": "delivery", "n": "1", "status_code": "CASE WHEN state = 'dead' THEN 503 ELSE 200 END",
         "error_code": "CASE WHEN state = 'dead' THEN 'http_error' ELSE '' END", "latency_ms": "40 + n % 900",
         "attempted_at": "at"},
    )  # fmt: skip


def jobs(server: psycopg.Connection) -> int:
    """Write the job of each question and of each segment; return their number."""
    due: dict[str, str] = {"not_before": "at", "due": "true", "max_attempts": "5", "created_at": "at"}
    asked = insert(
        server, "jobs_job",
        "SELECT *, max(n) OVER () AS count FROM "
        f"({of_each('questions_question', 1, where=_WAITED)}) q",
        {**due, "kind": "'answer_question'", "queue": "'gpu.query'", "subject_id": "(parent).id",
         "dedupe_key": "'seed:answer:' || n",
         "state": "CASE WHEN n % 500 = 3 THEN 'dead' WHEN n > 0.995 * count THEN 'queued' ELSE 'succeeded' END",
         "completed_at": "CASE WHEN n <= 0.995 * count THEN at END",
         "error_code": "CASE WHEN n % 500 = 3 THEN 'worker_lost' ELSE '' END"},
    )  # fmt: skip
    observed = insert(
        server, "jobs_job", f"SELECT n + 1000000000 AS n, at, tenant_id, parent FROM ({_OBSERVED}) s",
        {**due, "kind": "'observe_segment'", "queue": "'gpu.index'", "subject_id": "(parent).id",
         "video_id": "(parent).video_id", "dedupe_key": "'seed:observe:' || n", "state": "'succeeded'",
         "completed_at": "at"},
    )  # fmt: skip
    return asked + observed


_WAITED = "text LIKE 'What happens in %'"
_OBSERVED = of_each("library_segment", 1, at="observed_at")
