"""/v1/comparisons: every arm asked every question, or nothing written and every fault named; truth kept apart."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from uuid6 import uuid7

from backend.api import public_ids
from backend.billing.models import UsageEvent
from backend.billing.services.limits.budgets import Limits
from backend.jobs.dispatching import next_jobs
from backend.jobs.models import Job, JobKind
from backend.library.models import Collection, Video
from backend.questions.models import Comparison, ComparisonItem, ComparisonVideo, Question, QuestionVideo
from backend.questions.services import comparison_drafts
from backend.questions.services.comparison_drafts import latin_square
from tests.conftest import Cast
from tests.factories import make_video, set_limits
from tests.questions.comparing import ARMS, TRUTH, compared, item, post, questions_of, results, shown, vid


@pytest.fixture
def video(acme: Cast) -> UUID:
    with acme.scope():
        return UUID(str(make_video(indexed_until_ms=30_000).id))


def nothing_written(cast: Cast) -> bool:
    with cast.scope():
        models = (Comparison, ComparisonItem, ComparisonVideo, Question, QuestionVideo, Job, UsageEvent)
        return not any(model.objects.exists() for model in models)


# --- making -----------------------------------------------------------------------------------------------------------


def test_every_arm_is_asked_every_question_over_the_pinned_index(acme: Cast, video: UUID) -> None:
    with acme.scope():
        Video.objects.filter(id=video).update(active_index_version=3)
    reply = post(
        acme,
        [
            item(0, kind="colour", evidence=[{"video_id": vid(video), "start_ms": 0, "end_ms": 900}]),
            item(1, choices=["red", "Green"], correct_answer="green ", start_ms=1_000, end_ms=2_000),
            {"question": "When?"},
        ],
        arms=[{"method": "ava", "check": "inspect"}, {"method": "uniform", "effort": "high", "label": "baseline"}],
        video_ids=[vid(video)],
        effort="low",
        seed=7,
        repeats=2,
        budget={"max_calls": 5},
        max_total_charge="1.5",
        grading="exact",
        name="Exam",
        external_id="exam-1",
        metadata={"team": "a"},
    )

    body = reply.json()
    assert reply.status_code == 202, reply.content
    assert reply.headers["Location"] == f"/v1/comparisons/{body['id']}"
    assert body["id"].startswith("cmp_")
    assert body["arms"] == [
        {"label": "ava low inspect", "method": "ava", "effort": "low", "check": "inspect"},
        {"label": "baseline", "method": "uniform", "effort": "high", "check": "auto"},
    ]
    assert body["videos"] == [{"video_id": vid(video), "index_version": 3, "indexed_until_ms": 30_000}]
    counts = {"queued": 12, "running": 0, "succeeded": 0, "failed": 0, "canceled": 0}
    assert body["counts"] == {"total": 12, **counts, "items_left_out": 0}
    assert (body["status"], body["name"], body["grading"], body["repeats"]) == ("running", "Exam", "exact", 2)
    assert (body["max_total_charge"], body["charge"]) == (
        "1.5",
        {"amount": "0.18", "currency": "USD", "price_version": 1},
    )
    assert (body["external_id"], body["metadata"], body["completed_at"]) == ("exam-1", {"team": "a"}, None)
    assert "report" not in body
    with acme.scope():
        items = list(ComparisonItem.objects.order_by("position"))
        assert [(i.correct_choice, i.correct_answer, i.kind) for i in items] == [
            (None, TRUTH, "colour"), (1, "", ""), (None, "", ""),
        ]  # fmt: skip
        assert items[0].evidence == [{"video_id": str(video), "start_ms": 0, "end_ms": 900}]
        rows = Question.objects.order_by("id")
        pairs = Counter((q.comparison_item_id, q.comparison_arm, q.repeat) for q in rows)
        assert pairs == {(i.id, arm, repeat): 1 for i in items for arm in (0, 1) for repeat in (0, 1)}
        asked = {(q.method, q.effort, q.check_mode, q.comparison_arm) for q in rows}
        assert asked == {("ava", "low", "inspect", 0), ("uniform", "high", "auto", 1)}
        assert {(q.seed, q.repeat) for q in rows} == {(7, 0), (8, 1)}
        assert {tuple(q.budget.items()) for q in rows} == {(("max_calls", 5),)}
        assert {(q.start_ms, q.end_ms) for q in rows if q.choices} == {(1_000, 2_000)}
        pins = QuestionVideo.objects.values_list("video_id", "index_version", "indexed_until_ms")
        assert Counter(pins) == {(video, 3, 30_000): 12}
        jobs = Job.objects.filter(kind=JobKind.ANSWER_QUESTION)
        assert {(job.priority, job.queue) for job in jobs} == {(-10, "gpu.query")}
        assert {job.subject_id for job in jobs} == {q.id for q in rows}
        charges = UsageEvent.objects.values_list("price_amount", "api_key_id", "meter")
        # Effort low has a price of its own.
        assert Counter(charges) == {
            (Decimal("0.02"), acme.key_id, "questions"): 6,
            (Decimal("0.01"), acme.key_id, "questions"): 6,
        }


@pytest.mark.parametrize("n", [2, 3, 8])
def test_a_latin_square_has_each_arm_once_in_each_row_and_column(n: int) -> None:
    for seed in range(20):
        square = latin_square(n, seed)
        assert all(sorted(row) == list(range(n)) for row in square)
        assert all(sorted(column) == list(range(n)) for column in zip(*square, strict=True))
    assert latin_square(n, 5) == latin_square(n, 5)
    assert len({json.dumps(latin_square(n, seed)) for seed in range(20)}) > 1


def test_the_arms_of_an_item_are_queued_together_and_each_comes_first_equally_often(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 6, repeats=2, seed=3)
    with acme.scope():
        order = [job.job_id for job in next_jobs("gpu.query", limit=100)]
        subjects = dict(Job.objects.values_list("id", "subject_id"))
        rows = {q.id: q for q in Question.objects.select_related("comparison_item")}
    queued = [rows[subjects[job]] for job in order]

    blocks = [queued[start : start + 3] for start in range(0, len(queued), 3)]
    named = [{(q.comparison_item.position, q.repeat) for q in block} for block in blocks]
    assert named == [{(position, repeat)} for repeat in (0, 1) for position in range(6)]
    for place in range(3):
        assert Counter(block[place].comparison_arm for block in blocks) == {0: 4, 1: 4, 2: 4}
    square = latin_square(3, 3)
    assert [[q.comparison_arm for q in block] for block in blocks[:6]] == [square[n % 3] for n in range(6)]
    assert questions_of(acme, comparison_id) == [q.id for q in queued]


@pytest.mark.parametrize(
    ("odd", "values", "pointer", "code"),
    [
        ({"question": ""}, {}, "/questions/1/question", "blank"),
        ({"choices": ["a", "A"]}, {}, "/questions/1/choices", "invalid_choices"),
        ({"start_ms": 9, "end_ms": 9}, {}, "/questions/1/end_ms", "invalid_span"),
        ({"correct_choice": 2, "choices": ["a", "b"]}, {}, "/questions/1/correct_choice", "unknown_choice"),
        ({"correct_choice": -1, "choices": ["a", "b"]}, {}, "/questions/1/correct_choice", "min_value"),
        ({"correct_choice": 0}, {}, "/questions/1/correct_choice", "label_without_choices"),
        ({"correct_choice": 0, "correct_answer": "a", "choices": ["a", "b"]}, {}, "/questions/1", "two_labels"),
        ({"correct_answer": "c", "choices": ["a", "b"]}, {}, "/questions/1/correct_answer", "unknown_choice"),
        ({"evidence": [{"video_id": "mine", "start_ms": 5, "end_ms": 5}]}, {}, "/questions/1/evidence/0/end_ms",
         "invalid_span"),
        ({"evidence": [{"video_id": "other", "start_ms": 5, "end_ms": 9}]}, {}, "/questions/1/evidence/0/video_id",
         "outside_scope"),
        ({"video_ids": ["foreign"]}, {}, "/questions/1/video_ids", "unknown_video"),
        ({"video_ids": ["deleting"]}, {}, "/questions/1/video_ids", "unknown_video"),
        ({"video_ids": ["empty"]}, {}, "/questions/1", "nothing_indexed"),
        ({"truth": "x"}, {}, "/questions/1/truth", "unknown_field"),
        ({}, {"arms": ARMS[:1]}, "/arms", "min_length"),
        ({}, {"arms": [{"method": "ava", "effort": e, "check": c} for e in ("low", "high", "paper")
                       for c in ("off", "frames", "inspect")]}, "/arms", "max_length"),
        ({}, {"arms": [ARMS[0], ARMS[1], {"method": "ava", "effort": "medium"}]}, "/arms/2", "duplicate_arm"),
        ({}, {"arms": [{"method": "ava", "label": "x"}, {"method": "vector", "label": "x"}]}, "/arms/1/label",
         "duplicate_label"),
        ({}, {"arms": [{"method": "ava"}, {"method": "vector", "check": "off"}]}, "/arms/1/check",
         "check_not_applicable"),
        ({}, {"arms": [{"method": "ava"}, {"method": "guess"}]}, "/arms/1/method", "invalid_choice"),
        ({}, {"repeats": 4}, "/repeats", "max_value"),
        ({}, {"grading": "feeling"}, "/grading", "invalid_choice"),
        ({}, {"max_total_charge": "-1"}, "/max_total_charge", "min_value"),
        ({}, {"video_ids": ["mine"], "collection_id": "col"}, "", "scope_required"),
        ({}, {"video_ids": None}, "/questions/0", "scope_required"),
    ],
)  # fmt: skip
def test_one_fault_refuses_the_comparison_and_is_named(
    acme: Cast, globex: Cast, video: UUID, odd: dict[str, Any], values: dict[str, Any], pointer: str, code: str
) -> None:
    with globex.scope():
        foreign = make_video(indexed_until_ms=30_000).id
    with acme.scope():
        names = {
            "mine": vid(video),
            "foreign": vid(foreign),
            "other": vid(make_video(indexed_until_ms=30_000).id),
            "deleting": vid(make_video(status="deleting", indexed_until_ms=30_000).id),
            "empty": vid(make_video(indexed_until_ms=0).id),
            "col": public_ids.encode("col", Collection.objects.create(tenant_id=acme.tenant_id, name="c").id),
        }

    def spelled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: spelled(inner) for name, inner in value.items() if inner is not None}
        return [spelled(inner) for inner in value] if isinstance(value, list) else names.get(value, value)

    plain = {"question": "Who?"}
    reply = post(acme, [plain, spelled({**plain, **odd})], **spelled({"video_ids": ["mine"], **values}))

    assert reply.status_code == (409 if code == "nothing_indexed" else 400), reply.content
    assert (pointer, code) in [(e["pointer"], e["code"]) for e in reply.json()["errors"]]
    assert len(reply.json()["errors"]) == (2 if values.get("video_ids", "") is None else 1)
    assert nothing_written(acme)


def test_every_fault_is_named_at_once(acme: Cast, video: UUID) -> None:
    reply = post(
        acme,
        [
            item(choices=["a", "a"], start_ms=2, end_ms=1),
            item(correct_choice=0, correct_answer=""),
            item(video_ids=[vid(uuid7())], evidence=[{"video_id": vid(video), "start_ms": 3, "end_ms": 2}]),
        ],
        arms=[ARMS[2], ARMS[2], {"method": "vector", "check": "frames"}],
        video_ids=[vid(video)],
    )

    assert sorted((e["pointer"], e["code"]) for e in reply.json()["errors"]) == [
        ("/arms/1", "duplicate_arm"),
        ("/arms/2/check", "check_not_applicable"),
        ("/questions/0/choices", "invalid_choices"),
        ("/questions/0/end_ms", "invalid_span"),
        ("/questions/1/correct_choice", "label_without_choices"),
        ("/questions/2/evidence/0/end_ms", "invalid_span"),
        ("/questions/2/video_ids", "unknown_video"),
    ]
    assert nothing_written(acme)


def test_a_comparison_has_at_most_2000_questions(acme: Cast, video: UUID) -> None:
    """667 items with three arms are 2,001 questions; 666 are 1,998."""
    reply = post(acme, [{"question": "Who?"}] * 667, video_ids=[vid(video)])
    assert [(e["pointer"], e["code"]) for e in reply.json()["errors"]] == [("/questions", "too_many_questions")]
    assert "2001" in reply.json()["errors"][0]["detail"]
    thrice = post(acme, [{"question": "Who?"}] * 223, video_ids=[vid(video)], repeats=3)
    assert thrice.json()["errors"][0]["code"] == "too_many_questions"
    assert post(acme, [{"question": "Who?"}] * 1_001, video_ids=[vid(video)]).status_code == 400
    assert nothing_written(acme)
    assert post(acme, [{"question": "Who?"}] * 666, video_ids=[vid(video)]).status_code == 202
    with acme.scope():
        assert Question.objects.count() == 1_998


def test_a_comparison_that_is_too_wide_is_refused(acme: Cast, video: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison_drafts, "MAX_SCOPE_ROWS", 11)
    reply = post(acme, [item(n) for n in range(2)], video_ids=[vid(video)], repeats=2)
    assert [(e["pointer"], e["code"]) for e in reply.json()["errors"]] == [("/questions", "comparison_too_wide")]
    assert nothing_written(acme)
    monkeypatch.setattr(comparison_drafts, "MAX_SCOPE_ROWS", 12)
    assert post(acme, [item(n) for n in range(2)], video_ids=[vid(video)], repeats=2).status_code == 202


def test_a_comparison_is_not_made_once_the_months_budget_is_used_up(acme: Cast, video: UUID) -> None:
    with acme.scope():
        set_limits(Limits(max_tokens=0))
    reply = post(acme, [item()], video_ids=[vid(video)])
    assert (reply.status_code, reply.json()["code"]) == (402, "budget_exhausted")
    assert nothing_written(acme)


def test_the_same_key_makes_a_comparison_once(acme: Cast, video: UUID) -> None:
    first, second = (post(acme, [item()], video_ids=[vid(video)], key="k1") for _ in range(2))
    other = post(acme, [item(1)], video_ids=[vid(video)], key="k1")

    assert (first.status_code, second.status_code, other.status_code) == (202, 202, 422)
    assert first.json()["id"] == second.json()["id"]
    assert second.headers["Idempotency-Replayed"] == "true"
    with acme.scope():
        assert (Comparison.objects.count(), Question.objects.count()) == (1, 3)


def test_a_large_comparison_takes_as_many_statements_as_a_small_one(acme: Cast, video: UUID) -> None:
    def statements(n: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert post(acme, [item(k) for k in range(n)], video_ids=[vid(video)]).status_code == 202
        return len(captured)

    assert statements(50) == statements(2)


# --- reading ----------------------------------------------------------------------------------------------------------


def test_comparisons_are_listed_newest_first_and_filtered(acme: Cast, video: UUID) -> None:
    first, second = (compared(acme, video, 1, external_id=name) for name in ("a", "b"))
    listed = acme.client.get("/v1/comparisons").json()["data"]
    assert [row["external_id"] for row in listed] == ["b", "a"]
    assert acme.client.get("/v1/comparisons?external_id=a").json()["data"] == [listed[1]]
    assert acme.client.get("/v1/comparisons?status=completed").json()["data"] == []
    alone = shown(acme, first)
    report = alone.pop("report")
    assert alone.pop("grading_charge") == "0"
    assert alone == listed[1]
    assert (report["items"], report["counted"], report["open"]) == (1, 0, 1)
    assert shown(acme, second)["report"]["best"] is None


def test_results_are_one_line_an_item_read_in_pages(acme: Cast, video: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.questions.api.comparisons.RESULTS_PAGE", 2)
    comparison_id = compared(acme, video, 5, repeats=2)
    lines = results(acme, comparison_id)

    assert [line["position"] for line in lines] == list(range(5))
    assert [line["external_id"] for line in lines] == [f"item-{n}" for n in range(5)]
    assert {line["correct_answer"] for line in lines} == {TRUTH}
    named = [[(a["arm"], a["repeat"]) for a in line["answers"]] for line in lines]
    assert named == [[(arm, repeat) for arm in range(3) for repeat in (0, 1)]] * 5


def test_another_tenant_cannot_tell_a_comparison_from_none(acme: Cast, globex: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video)
    for path in ("", "/results", "/cancel"):
        call = globex.client.post if path == "/cancel" else globex.client.get
        theirs = call(f"/v1/comparisons/{public_ids.encode('cmp', comparison_id)}{path}")
        nobodys = call(f"/v1/comparisons/{public_ids.encode('cmp', uuid7())}{path}")
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.json()["detail"] == nobodys.json()["detail"]
    assert globex.client.get("/v1/comparisons").json()["data"] == []
    assert shown(acme, comparison_id)["counts"]["queued"] == 6


# --- truth ------------------------------------------------------------------------------------------------------------


def test_no_row_that_a_worker_reads_holds_the_truth(acme: Cast, video: UUID) -> None:
    """The labels are on the items alone: not on questions, their scopes, their jobs or the ledger."""
    evidence = [{"video_id": vid(video), "start_ms": 1_234_567_891, "end_ms": 1_345_678_912}]
    compared(acme, video, 2)
    post(acme, [item(9, evidence=evidence, kind="hiddenkind")], video_ids=[vid(video)])
    marks = (TRUTH, "1234567891", "hiddenkind")

    with connection.cursor() as cursor, acme.scope():
        held = {}
        for table in connection.introspection.table_names(cursor):
            if not table.startswith(("questions_", "jobs_", "billing_", "webhooks_")):
                continue
            cursor.execute(f"SELECT coalesce(string_agg(to_jsonb(t)::text, '|'), '') FROM {table} t")
            (text,) = cursor.fetchone()
            held[table] = [mark for mark in marks if mark in text]
    assert {table for table, found in held.items() if found} == {"questions_comparisonitem"}
    assert held["questions_comparisonitem"] == list(marks)


def test_the_questions_of_a_comparison_are_listed(acme: Cast, video: UUID) -> None:
    comparison_id = compared(acme, video, 1)
    compared(acme, video, 1)
    listed = acme.client.get(f"/v1/questions?comparison_id={public_ids.encode('cmp', comparison_id)}").json()["data"]
    assert {public_ids.decode("qst", row["id"]) for row in listed} == set(questions_of(acme, comparison_id))
    assert {row["comparison_id"] for row in listed} == {public_ids.encode("cmp", comparison_id)}


def test_a_question_shows_no_label_of_its_item(acme: Cast, video: UUID) -> None:
    (first, *_) = questions_of(acme, compared(acme, video, 1))
    reply = acme.client.get(f"/v1/questions/{public_ids.encode('qst', first)}?include=trace")
    assert reply.status_code == 200
    assert TRUTH not in reply.content.decode()
