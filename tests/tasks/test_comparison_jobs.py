"""Comparisons answered over an index on the real stack: over pinned versions, without the truth, each pair once."""

from __future__ import annotations

import json
import logging
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.utils import timezone

from backend.api.public_ids import encode
from backend.billing import queries as ledger
from backend.billing.models import ModelCall, UsageEvent
from backend.ekg.models import Event
from backend.jobs import leases as jobs
from backend.jobs.models import Job, JobKind, JobState
from backend.questions.models import ComparisonItem, Evidence, Node, Question, QuestionVideo
from backend.questions.services import questions
from backend.webhooks.models import WebhookEvent
from gpu_workers.engine.answering.methods import METHODS
from tests.conftest import Cast
from tests.library.growing import begin, close, cut, path_of, send
from tests.questions.comparing import TRUTH, cmp, compared, events, item, post, questions_of, results, shown, vid
from tests.running import run_job
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import GREEN, STORIES
from tests.tasks.kept_index import KeptIndex
from tests.tasks.test_answer_jobs import CHOICES, judged, saying
from tests.tasks.world import FORTY_SECONDS, run_due

pytestmark = pytest.mark.slow

ARMS = [{"method": "ava"}, {"method": "caption_rag"}]


@pytest.fixture
def video_id(kept_index: KeptIndex, vlm: ScriptedOpenAIServer) -> UUID:
    vlm.requests.clear()
    return kept_index.video_id


def answering(request: ScriptedRequest) -> Reply:
    """Choose the tennis ball, and answer open questions in a few words."""
    if judged(request):
        return Reply("no", prompt_tokens=10, completion_tokens=1)
    word = "B" if CHOICES[0] in request.user else STORIES[GREEN]
    texts = [{"reasoning": "E1 shows two dogs.", "answer": word, "evidence": [1, 2]}] * request.n
    return Reply(texts, prompt_tokens=100, cached_tokens=30, completion_tokens=200)


def labelled(n: int) -> dict[str, Any]:
    return {"question": f"What do the dogs chase in part {n}?", "choices": CHOICES, "correct_choice": 1}


def test_both_arms_answer_and_the_report_says_what_each_was_worth(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = answering
    reply = post(acme, [labelled(0), labelled(1), item(2)], arms=ARMS, video_ids=[vid(video_id)], grading="exact")
    comparison_id = reply.json()["id"]
    run_due(times=2)

    body = acme.client.get(f"/v1/comparisons/{comparison_id}").json()
    assert (body["status"], body["counts"]["succeeded"], body["counts"]["total"]) == ("completed", 6, 6)
    report = body["report"]
    assert [(arm["n"], arm["right"], arm["accuracy"]["n"]) for arm in report["arms"]] == [(3, 2, 3), (3, 2, 3)]
    (pair,) = report["pairs"]
    assert (pair["gained"], pair["lost"], pair["p_value"], pair["difference"]) == (0, 0, 1.0, 0.0)
    ava, cheap = report["arms"]
    assert ava["calls"] > cheap["calls"] > 0
    assert (ava["versions"], cheap["versions"]) == ([METHODS["ava"].version], [METHODS["caption_rag"].version])
    assert len(ava["prompts"]) == 1
    assert sum(Decimal(arm["charge"]["total"]) for arm in report["arms"]) > 0
    with acme.scope():
        prices = UsageEvent.objects.filter(meter="questions").values_list("price_amount", flat=True)
        assert Decimal(body["charge"]["amount"]) == sum(prices) > 0
    with acme.scope():
        for row in Question.objects.all():
            assert row.settings["effort"] == "medium"
            assert len(row.prompts) == 16
            assert row.signals["head"]
            assert ledger.question_mismatches(row.id) == []
        assert Counter(Question.objects.values_list("grade", "graded_by")) == {
            ("right", "choice"): 4, ("wrong", "exact"): 2,
        }  # fmt: skip
        pairs = Counter(UsageEvent.objects.filter(meter="questions").values_list("source_id", flat=True))
        assert pairs == {str(id): 1 for id in Question.objects.values_list("id", flat=True)}
        sources = ModelCall.objects.filter(source_type="question").values_list("source_id", "ordinal")
        assert max(Counter(sources).values()) == 1
    assert [event["id"] for event in events(acme)] == [comparison_id]


@pytest.mark.long
def test_no_label_reaches_a_model_a_job_a_log_or_an_event_of_a_question(
    acme: Cast,
    video_id: UUID,
    llm: ScriptedOpenAIServer,
    vlm: ScriptedOpenAIServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Every method of the registry is an arm once, eight at a time."""
    caplog.set_level(logging.DEBUG)
    llm.script = answering
    # No answer of a checker is needed; a server that is away would be waited for.
    vlm.script = Fault(400, "bad_request", "not asked for here")
    mark = [{"video_id": vid(video_id), "start_ms": 1_234_567_891, "end_ms": 1_345_678_912}]
    names = sorted(METHODS)
    for start in range(0, len(names), 8):
        arms = [{"method": name, "effort": "low"} for name in names[start : start + 8]]
        arms += [{"method": "ava", "effort": "medium"}] if len(arms) == 1 else []
        reply = post(acme, [item(start, evidence=mark, kind="hiddenkind")], arms=arms, video_ids=[vid(video_id)])
        assert reply.status_code == 202, reply.content
    run_due()

    requests = [*llm.requests, *vlm.requests]
    assert requests
    marks = (TRUTH, "marmot", "1234567891", "1345678912", "hiddenkind")
    for request in requests:
        sent = json.dumps(dict(request.body))
        assert [mark for mark in marks if mark in sent] == []
    assert [mark for mark in marks if mark in caplog.text] == []
    with acme.scope():
        told = "".join(WebhookEvent.objects.values_list("body", flat=True))
        assert [mark for mark in marks if mark in told] == []
        assert all(TRUTH not in str(row) for row in Job.objects.values())
        rows = [*Question.objects.values(), *Node.objects.values(), *Evidence.objects.values()]
        assert [mark for mark in marks if mark in str(rows)] == []
        assert ComparisonItem.objects.filter(correct_answer=TRUTH).exists()


def test_the_pinned_version_outlives_a_new_index_until_the_last_arm(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second arm is not begun while the video is indexed again and the old version is due for removal."""
    monkeypatch.setattr(settings, "RETIRE_AFTER_SECONDS", 0)
    monkeypatch.setattr(jobs, "RETRY_BASE_SECONDS", 1_000)
    llm.script = saying(lambda request: "B")
    reply = post(acme, [labelled(0)], arms=ARMS, video_ids=[vid(video_id)])
    assert reply.status_code == 202
    with acme.scope():
        _, second = Job.objects.filter(kind=JobKind.ANSWER_QUESTION).order_by("id")
        Job.objects.filter(id=second.id).update(not_before=timezone.now() + timedelta(hours=1), due=False)
        old = set(Event.objects.filter(index_version=1).values_list("id", flat=True))
    run_due()
    assert acme.client.post(f"{path_of(video_id)}/reindex").status_code == 202
    run_due()

    with acme.scope():
        retirement = Job.objects.get(kind=JobKind.RETIRE_VERSION)
        assert (retirement.state, retirement.error_code) == (JobState.QUEUED, "version_in_use")
        assert Event.objects.filter(index_version=2).count() == len(old)
        assert set(Event.objects.filter(index_version=1).values_list("id", flat=True)) == old
        Job.objects.filter(id=second.id).update(not_before=timezone.now())
    run_job(second.id, acme.tenant_id, worker="test")
    with acme.scope():
        assert set(QuestionVideo.objects.values_list("index_version", flat=True)) == {1}
        read = {UUID(event["event_id"]) for node in Node.objects.all() for event in node.events}
        assert read
        assert read <= old
        assert Question.objects.filter(status="succeeded", choice=1).count() == 2
        Job.objects.filter(id=retirement.id).update(not_before=timezone.now())
    run_job(retirement.id, acme.tenant_id, worker="test")
    with acme.scope():
        assert not Event.objects.filter(index_version=1).exists()
        assert Evidence.objects.count() == 2


@pytest.mark.long
def test_every_arm_reads_only_what_was_indexed_when_the_comparison_was_made(
    acme: Cast, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    llm.script = answering
    video_id = begin(acme)
    send(acme, video_id, cut(FORTY_SECONDS, 0, 15_400))
    run_due()
    comparison_id = compared(acme, video_id, 1, arms=ARMS)
    assert shown(acme, comparison_id)["videos"][0]["indexed_until_ms"] == 15_000
    with acme.scope():
        later = timezone.now() + timedelta(hours=1)
        Job.objects.filter(kind=JobKind.ANSWER_QUESTION).update(not_before=later, due=False)
    send(acme, video_id, cut(FORTY_SECONDS, 15_400, 40_000))
    close(acme, video_id)
    run_due()
    with acme.scope():
        Job.objects.filter(kind=JobKind.ANSWER_QUESTION).update(not_before=timezone.now())
        waiting = list(Job.objects.filter(kind=JobKind.ANSWER_QUESTION).values_list("id", flat=True))
    llm.requests.clear()
    for id in waiting:
        run_job(id, acme.tenant_id, worker="test")

    assert shown(acme, comparison_id)["status"] == "completed"
    assert llm.requests
    assert not any(STORIES[GREEN] in request.text for request in llm.requests), "the dogs come after 15 s"


def test_the_months_budget_ends_what_is_left_without_a_call(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer
) -> None:
    llm.script = answering
    comparison_id = compared(acme, video_id, 2, arms=ARMS)
    (first, *rest) = questions_of(acme, comparison_id)
    with acme.scope():
        job = Job.objects.get(subject_id=first)
    run_job(job.id, acme.tenant_id, worker="test")
    assert acme.client.put("/v1/budget", {"max_tokens": 1}, format="json").status_code == 200
    llm.requests.clear()
    run_due()

    assert llm.requests == []
    body = shown(acme, comparison_id)
    counts = body["counts"]
    assert (body["status"], counts["succeeded"], counts["canceled"]) == ("completed", 1, 3)
    with acme.scope():
        ended = Question.objects.filter(id__in=rest).values_list("finish_reason", "finish_detail")
        assert set(ended) == {("budget", "tenant_max_tokens")}
    assert len(events(acme)) == 1


def test_a_worker_that_dies_at_any_moment_leaves_each_pair_once_in_the_ledger(
    acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt dies before its calls, the second after them and before its commit, the third as it commits."""

    class Killed(BaseException):
        """Stands for SIGKILL: no code that would clean up runs."""

    llm.script = answering
    comparison_id = compared(acme, video_id, 1, arms=ARMS)
    asked = questions_of(acme, comparison_id)
    with acme.scope():
        job = Job.objects.get(subject_id=asked[0])

    def die(*args: Any, **kwargs: Any) -> Any:
        raise Killed

    for target in ("answer_question", "_keep_evidence"):
        with monkeypatch.context() as patch:
            patch.setattr(f"gpu_workers.tasks.answer_question.{target}", die)
            with pytest.raises(Killed):
                run_job(job.id, acme.tenant_id, worker="dead")
        _expire(acme, job.id)
    with monkeypatch.context() as patch:
        patch.setattr("backend.questions.services.comparison_outcomes.settle", die)
        with pytest.raises(Killed):
            run_job(job.id, acme.tenant_id, worker="dead")
    _expire(acme, job.id)
    assert shown(acme, comparison_id)["counts"]["succeeded"] == 0
    run_job(job.id, acme.tenant_id, worker="alive")
    run_due(times=2)

    body = shown(acme, comparison_id)
    assert (body["status"], body["counts"]["succeeded"]) == ("completed", 2)
    with acme.scope():
        charges = Counter(UsageEvent.objects.filter(meter="questions").values_list("source_id", flat=True))
        # Without an answer the charge is taken back, once.
        assert charges == {str(row.id): 1 if row.has_answer else 2 for row in Question.objects.all()}
        calls = Counter(ModelCall.objects.filter(source_type="question").values_list("source_id", "ordinal"))
        assert set(calls.values()) == {1}
        for id in asked:
            assert ledger.question_mismatches(id) == []
        assert ledger.mismatches() == []
    assert len(events(acme)) == 1
    assert len(events(acme, "question.completed")) == 2
    (line,) = results(acme, comparison_id)
    assert {answer["question_id"] for answer in line["answers"]} == {encode("qst", id) for id in asked}
    assert acme.client.post(f"/v1/comparisons/{cmp(comparison_id)}/cancel").status_code == 409


def _expire(cast: Cast, job_id: UUID) -> None:
    """End the lease of a dead worker."""
    with cast.scope():
        Job.objects.filter(id=job_id).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_question_asked_alone_goes_before_a_comparison(acme: Cast, video_id: UUID, llm: ScriptedOpenAIServer) -> None:
    llm.script = answering
    compared(acme, video_id, 1, arms=ARMS)
    with acme.scope():
        alone = questions.create_question(text="Who?", video_ids=[video_id])
    order = run_due()
    with acme.scope():
        assert Job.objects.get(id=order[0]).subject_id == alone.id
