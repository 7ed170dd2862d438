"""A state machine of one customer who looks for model output, or model work, that nobody pays for.

The customer's acts are requests, also while a worker answers; the worker is the real one with a scripted engine. What
must hold is computed here from the acts alone, not from the rows that the service keeps about them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import F, Sum
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from backend.api.public_ids import decode, encode
from backend.billing.models import Reservation, UsageEvent
from backend.billing.services.limits.budgets import monthly_budget
from backend.jobs.models import Job
from backend.jobs.services import JobFailed
from backend.questions.models import OPEN, Question
from backend.questions.queries.questions import job_key
from backend.questions.services import searches
from backend.questions.stream import QuestionEvents
from gpu_workers.engine.answering.contract import Answer, CandidateRecord, NodeRecord, PartialAnswer, Usage
from gpu_workers.engine.models.roles import ModelCall
from tests.billing.violated import settled_violations
from tests.conftest import make_tenant
from tests.factories import make_video
from tests.running import run_job

PRICES = {"low": Decimal("0.01"), "medium": Decimal("0.02"), "high": Decimal("0.05")}
SHARE = Decimal("0.03")
"""Free work an hour in the machine's world."""
CALL = ModelCall("answer", "reasoner", wall_ms=10, prompt_tokens=90, completion_tokens=10)
SEARCH_PRICE = Decimal("0.001")

LOOKS, TURNS = ["read", "list", "stream"], ["cancel", "delete", "deadline"]
ACTS = st.lists(st.sampled_from(["call", "partial", "partial", *LOOKS, *TURNS]), min_size=2, max_size=6)
TAKEN_BACK = {
    "abstained": ("insufficient_evidence", "abstained"),
    "no_consensus": ("insufficient_evidence", "no_consensus"),
    "unsupported": ("insufficient_evidence", "unsupported"),
    "refused": ("refused", "model_refused"),
}
"""Ends at which the service itself says that it has no answer, with their reasons and details."""
ENDS = st.sampled_from(["answered", *TAKEN_BACK, "spent", "crash", "failure"])
MODELS = SimpleNamespace(
    **{
        role: SimpleNamespace(name=role)
        for role in ("reasoner", "text_embedder", "frame_embedder", "similarity", "checker", "reranker", "entailer")
    }
)


@dataclass(slots=True)
class Round:
    """One asking of a question: what it did, and what the customer saw of it. taken_back: whether the service ended it
    without an answer before the customer did."""

    price: Decimal
    calls: int = 0
    seen: set[str] = field(default_factory=set)
    own_deadline: bool = False
    taken_back: bool = False
    over: bool = False


class Money(RuleBasedStateMachine):
    """Raises AssertionError when output, or more than the share of the work, is unpaid, or a budget misses work.

    script: the engine of the question that a worker answers. group: path of the latest batch or comparison.
    """

    questions = Bundle("questions")
    script: ClassVar[Callable[..., Answer]]

    def __init__(self) -> None:
        super().__init__()
        self.cast = make_tenant("acme")
        self.client = self.cast.client
        with self.cast.scope():
            self.video_id = make_video(status="ready", indexed_until_ms=30_000).id
        self.video = encode("vid", self.video_id)
        self.rounds: dict[UUID, Round] = {}
        self.words: dict[str, UUID] = {}
        self.numbers = count()
        self.tokens = 0
        self.paid = self.free = Decimal(0)
        self.group = ""

    # --- requests -----------------------------------------------------------------------------------------------

    def send(self, method: str, path: str, body: Any = None) -> Any:
        reply = getattr(self.client, method)(path, body) if body is not None else getattr(self.client, method)(path)
        assert reply.status_code < 500
        content = b"".join(reply.streaming_content) if reply.streaming else reply.content
        self.see(content.decode())
        return reply

    def see(self, text: str) -> None:
        for word in re.findall(r"marmot\d+x", text):
            question_id = self.words[word]
            if question_id in self.rounds:
                self.rounds[question_id].seen.add(word)

    def url(self, question_id: UUID) -> str:
        return f"/v1/questions/{encode('qst', question_id)}"

    def adopt(self, ids: Sequence[UUID], effort: str) -> list[UUID]:
        for question_id in ids:
            self.rounds[question_id] = Round(PRICES[effort])
        return list(ids)

    @rule(target=questions, effort=st.sampled_from(sorted(PRICES)), route=st.sampled_from(["auto", "scan"]))
    def ask(self, effort: str, route: str) -> UUID:
        body = {"question": "What is it?", "video_ids": [self.video], "effort": effort, "route": route}
        reply = self.send("post", "/v1/questions", body)
        return self.adopt([decode("qst", reply.json()["id"])], effort)[0]

    @rule(target=questions, effort=st.sampled_from(sorted(PRICES)))
    def ask_together(self, effort: str) -> Any:
        questions = [{"question": f"What {n}?"} for n in range(2)]
        body = {"questions": questions, "video_ids": [self.video], "effort": effort}
        batch = decode("bat", self.send("post", "/v1/question-batches", body).json()["id"])
        with self.cast.scope():
            ids = list(Question.objects.filter(batch_id=batch).values_list("id", flat=True))
        self.group = f"/v1/question-batches/{encode('bat', batch)}"
        return multiple(*self.adopt(ids, effort))

    @rule(target=questions)
    def compare(self) -> Any:
        arms = [{"method": "ava", "effort": "low"}, {"method": "uniform", "effort": "low"}]
        items = [{"question": "What is it?", "correct_answer": "A marmot."}]
        body = {"questions": items, "arms": arms, "video_ids": [self.video]}
        comparison = decode("cmp", self.send("post", "/v1/comparisons", body).json()["id"])
        with self.cast.scope():
            rows = {row.id: row for row in Question.objects.filter(comparison_id=comparison)}
        for row in rows.values():
            self.rounds[row.id] = Round(row.charge_amount)
        self.group = f"/v1/comparisons/{encode('cmp', comparison)}"
        return multiple(*rows)

    @rule(act=st.sampled_from(["cancel", "retry", "delete", "results"]))
    def on_group(self, act: str) -> None:
        """Do something to the latest batch or comparison."""
        if not self.group or (act == "retry" and "comparisons" in self.group):
            return
        method = {"delete": "delete", "results": "get"}.get(act, "post")
        self.send(method, self.group if act == "delete" else f"{self.group}/{act}")
        self.settle()

    @rule(question_id=questions, act=st.sampled_from([*LOOKS, *TURNS, "retry"]))
    def act(self, question_id: UUID, act: str) -> None:
        self.do(act, question_id)
        self.settle()

    @rule(begun=st.booleans(), act=st.sampled_from(["cancel", "delete"]))
    def search(self, begun: bool, act: str) -> None:
        with self.cast.scope():
            search_id = searches.create_search(text="a van", video_ids=[self.video_id], api_key_id=self.cast.key_id).id
        if begun:
            with self.cast.scope():
                searches.begin(search_id=search_id)
        path = f"/v1/searches/{encode('sea', search_id)}"
        self.send("delete" if act == "delete" else "post", path if act == "delete" else f"{path}/cancel")
        with self.cast.scope():
            rows = UsageEvent.objects.filter(source_type="search", source_id=str(search_id))
            paid = rows.aggregate(sum=Sum("price_amount", default=Decimal(0)))["sum"]
        self.count(SEARCH_PRICE, paid=bool(paid), worked=begun)

    @rule(effort=st.sampled_from(sorted(PRICES)))
    def estimate(self, effort: str) -> None:
        body = {"question": "What is it?", "video_ids": [self.video], "effort": effort}
        self.send("post", "/v1/questions:estimate", body)

    @rule()
    def an_hour_passes(self) -> None:
        with self.cast.scope():
            hour = timedelta(minutes=61)
            Reservation.objects.exclude(settled_at=None).update(settled_at=F("settled_at") - hour)
        self.paid = self.free = Decimal(0)

    def do(self, act: str, question_id: UUID) -> None:
        if act in ("read", "list"):
            self.send("get", f"{self.url(question_id)}?include=trace" if act == "read" else "/v1/questions")
        elif act == "stream":
            self.see(QuestionEvents(tenant_id=self.cast.tenant_id, question_id=question_id).look().decode())
        elif act == "delete":
            self.send("delete", self.url(question_id))
        elif act == "deadline":
            soon = (timezone.now() + timedelta(minutes=5)).isoformat()
            changed = self.send("patch", self.url(question_id), {"deadline_at": soon}).status_code == 200
            if changed:
                self.rounds[question_id].own_deadline = True
                with self.cast.scope():
                    Job.objects.filter(dedupe_key=job_key(question_id)).update(deadline_at=timezone.now())
        elif self.send("post", f"{self.url(question_id)}/{act}").status_code == 202:
            self.rounds[question_id] = Round(self.rounds[question_id].price)

    # --- the worker ---------------------------------------------------------------------------------------------

    @rule(question_id=questions, acts=ACTS, end=ENDS)
    def work(self, question_id: UUID, acts: list[str], end: str) -> None:
        """Let a worker answer a question, if it is open."""
        with self.cast.scope():
            job = Job.objects.filter(dedupe_key=job_key(question_id)).first()
        if job is None:
            return
        Money.script = partial(self.engine, question_id=question_id, acts=acts, end=end)
        run_job(job.id, self.cast.tenant_id, worker="w")
        self.settle()

    @rule(effort=st.sampled_from(sorted(PRICES)), acts=ACTS, end=ENDS)
    def ask_and_work(self, effort: str, acts: list[str], end: str) -> None:
        self.work(self.ask(effort, "auto"), acts, end)

    def word(self, question_id: UUID) -> str:
        word = f"marmot{next(self.numbers)}x"
        self.words[word] = question_id
        return word

    def engine(self, *_given: object, question_id: UUID, acts: list[str], end: str, **options: Any) -> Answer:
        """Answer as the engine does: each partial answer follows a call; the customer acts in between."""
        mine = self.rounds[question_id]
        for act in acts:
            if act in ("call", "partial"):
                options["allowance"]()
                options["meter"].record(CALL)
                mine.calls += 1
                self.tokens += CALL.prompt_tokens + CALL.completion_tokens
                if act == "partial":
                    options["on_partial"](PartialAnswer(self.word(question_id), None, 0.5, "", 1))
            else:
                self.do(act, question_id)
        if end == "crash":
            raise RuntimeError("the worker has a fault")
        if end == "failure":
            raise JobFailed("answer_failed", "a fault of ours", retryable=False)
        words = self.word(question_id)
        sample = CandidateRecord(words, None, words, (), 0.5, 0.5, 0.5)
        node = NodeRecord("", 0, "SA", candidates=(sample,), seen=(words,))
        reason, detail = {"answered": ("answered", ""), "spent": ("budget", "max_calls"), **TAKEN_BACK}[end]
        text = words if end in ("answered", "unsupported") else ""
        usage = Usage(options["meter"].calls)
        return Answer(text, None, None, reason, nodes=(node,), usage=usage, detail=detail)  # type: ignore[arg-type]

    # --- what must hold -----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Account for each round that is over."""
        for question_id, mine in list(self.rounds.items()):
            with self.cast.scope():
                row = Question.objects.filter(id=question_id).first()
                rows = UsageEvent.objects.filter(meter="questions", question_id=question_id)
                paid = rows.aggregate(sum=Sum("price_amount", default=Decimal(0)))["sum"]
            if row is not None and row.status in OPEN:
                if mine.over:
                    self.rounds[question_id] = Round(mine.price)
                continue
            ours = (
                row is not None
                and row.status == "failed"
                and not (mine.own_deadline and row.error_code == "deadline_exceeded")
            )
            if ours:
                assert paid == 0, "the customer pays for a fault of ours"
            if row is not None and not mine.over:
                mine.taken_back = (row.finish_reason, row.finish_detail) in TAKEN_BACK.values()
            if mine.seen and not ours and not mine.taken_back:
                assert paid == mine.price, f"{sorted(mine.seen)} were shown, and {paid} of {mine.price} is paid"
            if not mine.over:
                self.count(mine.price, paid=bool(paid), worked=mine.calls > 0 and not ours)
            mine.over = True

    def count(self, price: Decimal, *, paid: bool, worked: bool) -> None:
        if paid:
            self.paid += price
        elif worked:
            self.free += price

    @invariant()
    def at_most_the_share_is_unpaid(self) -> None:
        assert self.free <= self.paid + SHARE, f"{self.free} is unpaid, and {self.paid} is paid"

    @invariant()
    def budgets_count_all_work(self) -> None:
        with self.cast.scope():
            counted = monthly_budget().used.tokens
        assert counted == self.tokens, f"budgets count {counted} of {self.tokens} tokens"

    def teardown(self) -> None:
        violated = settled_violations(self.cast)
        assert not violated, violated
