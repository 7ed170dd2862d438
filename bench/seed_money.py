"""The ledger of a large installation with its roll-ups, and what tenants are billed by: plans, credit, invoices."""

from __future__ import annotations

import psycopg

from bench.figures import show_progress
from bench.seed_rows import DAYS, insert, spread

_EACH_TENANT = (
    "SELECT row_number() OVER (ORDER BY id) AS n, created_at AS at, id AS tenant_id FROM tenancy_tenant "
    "WHERE slug ~ '^tenant-[0-9]+$'"
)


def accounts(server: psycopg.Connection) -> None:
    """Write the keys and members of each tenant, its subscription, account and budget, and credit of some."""
    insert(
        server, "tenancy_apikey", _EACH_TENANT,
        {"name": "'Key'", "public_id": "'seed' || n", "scopes": "'[]'", "allowed_ips": "'[]'", "created_at": "at"},
    )  # fmt: skip
    insert(
        server, "people_person", f"SELECT n, at FROM ({_EACH_TENANT}) t",
        {"email": "'seed' || n || '@example.org'", "password": "'!'", "is_active": "true"},
    )  # fmt: skip
    insert(
        server, "people_membership",
        f"SELECT t.*, p.id AS person FROM ({_EACH_TENANT}) t JOIN people_person p "
        "ON p.email = 'seed' || n || '@example.org'",
        {"person_id": "person", "role": "'owner'", "created_at": "at"},
    )  # fmt: skip
    insert(
        server, "billing_subscription", _EACH_TENANT,
        {"plan_version_id": "(SELECT v.id FROM billing_planversion v JOIN billing_plan p ON p.id = v.plan_id "
                            "WHERE p.code = 'standard' ORDER BY v.version DESC LIMIT 1)",
         "effective_from": "at", "author": "'seed'", "entered_at": "at"},
    )  # fmt: skip
    insert(
        server, "billing_billingaccount", _EACH_TENANT,
        {"legal_name": "'Tenant ' || n", "currency": "'USD'", "time_zone": "'UTC'"},
    )  # fmt: skip
    insert(server, "billing_tenantbudget", _EACH_TENANT, {"max_cost": "250"})
    insert(
        server, "billing_creditgrant", f"SELECT * FROM ({_EACH_TENANT}) t WHERE n % 4 = 1",
        {"amount": "25", "currency": "'USD'", "reason": "'outage'", "author": "'seed'", "granted_at": "at"},
    )  # fmt: skip


def documents(server: psycopg.Connection) -> None:
    """Write the invoices of three months, with their lines, the paid and reconciled days, and what discounts."""
    insert(
        server, "billing_invoice",
        "SELECT row_number() OVER (ORDER BY m, tenant_id) AS n, date_trunc('month', now()) - m * interval '1 month' AS "
        f"at, tenant_id FROM ({_EACH_TENANT}) t, generate_series(3, 1, -1) m",
        {"kind": "'invoice'", "state": "CASE WHEN n % 9 = 2 THEN 'final' ELSE 'paid' END",
         "entity_id": "(SELECT code FROM billing_legalentity ORDER BY is_default DESC LIMIT 1)", "sequence": "n",
         "number": "'SEED-' || n", "period_start": "at", "period_end": "at + interval '1 month'",
         "time_zone": "'UTC'", "locale": "'en'", "currency": "'USD'", "subtotal": "120", "total": "120",
         "created_at": "at + interval '1 month'", "issued_at": "at + interval '1 month'",
         "due_at": "at + interval '2 months'"},
    )  # fmt: skip
    insert(
        server, "billing_invoiceline",
        "SELECT row_number() OVER (ORDER BY id, k) AS n, created_at AS at, tenant_id, id AS invoice, period_start, k "
        "FROM billing_invoice, generate_series(0, 5) k WHERE number LIKE 'SEED-%'",
        {"invoice_id": "invoice", "ordinal": "k", "kind": "'usage'", "meter": "'questions'", "quantity": "1000",
         "unit_amount": "0.02", "exact_amount": "20", "amount": "20", "usage_start": "period_start"},
    )  # fmt: skip
    insert(
        server, "billing_costday", f"SELECT n, now() AS at FROM generate_series(1, {DAYS}) n",
        {"day": "current_date - n::int", "paid_seconds": "86400", "attributed_seconds": "60000",
         "overhead_seconds": "26400", "utilisation": "0.69", "paid_usd": "20", "attributed_usd": "14",
         "overhead_usd": "6"},
    )  # fmt: skip
    insert(
        server, "billing_machineday", f"SELECT n, now() AS at FROM generate_series(1, {DAYS}) n",
        {"day": "current_date - n::int", "machine": "'seed'", "devices": "1", "hours": "24", "usd_per_hour": "0.8333",
         "author": "'seed'"},
    )  # fmt: skip
    insert(
        server, "billing_modelrate", "SELECT 1 AS n, now() AS at",
        {"model": "'seed-model'", "fresh_us": "20", "cached_us": "2", "output_us": "400", "author": "'seed'"},
    )  # fmt: skip
    insert(
        server, "billing_coupon", "SELECT n, now() AS at FROM generate_series(1, 20) n",
        {"code": "'SEED' || n", "percent": "10", "author": "'seed'"},
    )  # fmt: skip


_METER = "(ARRAY['output_tokens', 'input_tokens', 'device_seconds', 'questions', 'media_seconds'])[1 + n % 5]"
_MEDIA = "n % 5 = 4"


def ledger(server: psycopg.Connection, count: int) -> None:
    """Write count rows of the ledger: of media for a fifth, of questions for the rest, each with the price in force."""
    server.execute(
        "CREATE TEMP TABLE asked AS SELECT row_number() OVER (ORDER BY id) AS nth, id, tenant_id "
        "FROM questions_question WHERE text LIKE 'What happens in %'"
    )
    server.execute(
        "CREATE TEMP TABLE filmed AS SELECT row_number() OVER (ORDER BY v.id, s.n) AS nth, s.id, v.id AS video_id, "
        "v.tenant_id FROM library_segment s JOIN library_video v ON v.id = s.video_id WHERE v.object_key LIKE 'seed/%'"
    )
    server.execute("CREATE TEMP TABLE keys AS SELECT tenant_id, id FROM tenancy_apikey WHERE public_id LIKE 'seed%'")
    server.execute(
        "CREATE TEMP TABLE members AS SELECT DISTINCT ON (tenant_id) tenant_id, person_id FROM people_membership"
    )
    server.execute(
        "CREATE TEMP TABLE prices AS SELECT DISTINCT ON (meter) meter, p.id, p.version, unit_amount "
        "FROM billing_price p JOIN billing_pricebook b ON b.id = p.book_id WHERE b.kind = 'price' "
        "AND b.tenant_id IS NULL AND b.currency = 'USD' AND p.model = '' AND p.variant = '' AND p.effective_to IS NULL "
        "ORDER BY meter, b.code"
    )
    server.execute("ANALYZE asked, filmed, keys, members, prices")
    booked = (
        f"SELECT s.n, s.at, {_METER} AS meter, coalesce(q.tenant_id, f.tenant_id) AS tenant_id, q.id AS question, "
        "f.id AS segment, f.video_id AS video, CASE WHEN s.n % 3 > 0 THEN k.id END AS key, "
        "CASE WHEN s.n % 3 = 0 THEN m.person_id END AS person, p.id AS price, p.version AS price_version, "
        f"CASE WHEN {_METER} = 'questions' THEN 1 ELSE 1 + n % 700 END AS quantity, coalesce(unit_amount, 0) AS unit "
        f"FROM (SELECT n, at FROM ({spread(count)}) r) s "
        f"LEFT JOIN asked q ON NOT {_MEDIA} AND q.nth = 1 + (n - 1) * (SELECT count(*) FROM asked) / {count} "
        f"LEFT JOIN filmed f ON {_MEDIA} AND f.nth = 1 + (n - 1) * (SELECT count(*) FROM filmed) / {count} "
        "LEFT JOIN keys k ON k.tenant_id = coalesce(q.tenant_id, f.tenant_id) "
        "LEFT JOIN members m ON m.tenant_id = coalesce(q.tenant_id, f.tenant_id) "
        f"LEFT JOIN prices p ON p.meter = {_METER}"
    )
    insert(
        server, "billing_usageevent", booked,
        {"meter": "meter", "quantity": "quantity", "occurred_at": "at", "recorded_at": "at",
         "source_type": "CASE WHEN segment IS NULL THEN 'question' ELSE 'segment' END",
         "source_id": "coalesce(segment, question)::text", "question_id": "question", "video_id": "video",
         "api_key_id": "key", "person_id": "person", "stage": "(ARRAY['rank', 'verify', 'plan'])[1 + n % 3]",
         "model": "CASE WHEN meter IN ('questions', 'media_seconds') THEN '' "
                  "ELSE (ARRAY['reasoner', 'describer'])[1 + n % 2] END",
         "cost_amount": "0.0001 * (n % 90)", "price_id": "price", "price_version": "price_version",
         "price_amount": "CASE WHEN n % 20 > 0 THEN round(unit * quantity, 10) ELSE 0 END", "currency": "'USD'",
         "price_currency": "'USD'", "billable": "n % 20 > 0",
         "method": "CASE WHEN segment IS NULL THEN 'ava' ELSE '' END",
         "effort": "CASE WHEN segment IS NULL THEN 'medium' ELSE '' END",
         "profile": "CASE WHEN segment IS NULL THEN '' ELSE 'general' END"},
    )  # fmt: skip


_DIMENSIONS = (
    "meter, variant, model, stage, method, effort, profile, api_key_id, person_id, collection_id, video_id, price_id, "
    "price_currency, billable"
)


def sum_up(server: psycopg.Connection) -> None:
    """Make the hourly roll-ups out of the ledger; their own trigger makes the sums of the days."""
    show_progress("billing_usagehour …")
    server.execute("SET session_replication_role = origin")
    server.execute(
        f"INSERT INTO billing_usagehour (id, tenant_id, hour, {_DIMENSIONS}, quantity, events, cost, price) "
        f"SELECT gen_random_uuid(), tenant_id, date_trunc('hour', occurred_at, 'UTC'), {_DIMENSIONS}, sum(quantity), "
        f"count(*), sum(cost_amount), sum(price_amount) FROM billing_usageevent GROUP BY 2, 3, {_DIMENSIONS}"
    )
