"""One run: customers work while things break, then everything must be as if nothing had broken."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import psycopg

from backend.api.public_ids import encode, parse
from backend.webhooks.payloads import body_for
from backend.webhooks.redaction import EMPTIED
from tests.faults.chaos import leftovers, reading
from tests.faults.chaos.customers import Customer, GaveUp, Impatience
from tests.faults.chaos.extents import Extent
from tests.faults.chaos.faults import Fault, World, faults_of
from tests.faults.chaos.leftovers import Database
from tests.faults.chaos.receiver import Receiver
from tests.faults.chaos.results import Result

TICK_S = 0.1
IN_FLIGHT = 0.5
"""Share of the deletions that meet a question in flight."""


@dataclass
class Calm:
    """A tenant's work on a day without faults: what every disturbed run is compared with."""

    video_id: str
    index: reading.Rows
    bill: reading.Bill
    answer: tuple[object, ...]
    answer_bill: reading.Bill


@dataclass
class Work:
    """What one customer got accepted in one run. unanswered: a question whose video is deleted in the meantime."""

    customer: Customer
    video_id: str = ""
    questions: list[str] = field(default_factory=list)
    deleted: str = ""
    unanswered: str = ""
    trouble: list[str] = field(default_factory=list)


class Runs:
    """The runs over one service. patience: seconds for which customers wait in a run."""

    def __init__(
        self,
        world: World,
        extent: Extent,
        customers: list[Customer],
        receiver: Receiver,
        database: Database,
        patience: float,
    ) -> None:
        self._extent, self._patience = extent, patience
        self._world, self._customers, self._receiver, self._database = world, customers, receiver, database
        self._calm: dict[str, Calm] = {}
        self._before: dict[str, str] = {}
        # Events that an earlier run has read: what a later run deletes is taken out of their stored bodies.
        self._read: set[UUID] = set()
        self._repeated: set[str] = set()

    def undisturbed(self) -> None:
        """Index each tenant's recording and ask about it while nothing breaks."""
        works = [Work(customer) for customer in self._customers]
        for customer in self._customers:
            customer.impatience = Impatience(self._patience)
        self._meanwhile([_threaded(work, self._first) for work in works], [])
        trouble = [text for work in works for text in work.trouble]
        assert not trouble, trouble

    def _first(self, work: Work) -> None:
        customer, tenant_id = work.customer, UUID(work.customer.tenant_id)
        video = customer.video(customer.upload("calm"))
        assert video["status"] == "ready", video
        question = customer.answer(customer.ask(video["id"]))
        assert question["status"] == "succeeded", question
        video_id, question_id = own_id(video["id"]), own_id(question["id"])
        self._calm[customer.slug] = Calm(
            video["id"],
            reading.index_of(tenant_id, video_id),
            reading.bill_of_video(tenant_id, video_id),
            reading.answer_of(tenant_id, question_id),
            reading.bill_of_question(tenant_id, question_id),
        )
        close_connections()

    def run(self, seed: int, faults: list[Fault] | None = None) -> Result:
        """Do one run. Everything random in it comes from seed. faults: instead of random ones."""
        chance = random.Random(seed)
        pool, window_s = chance.choice(self._extent.pools), self._extent.window_s
        self._world.service.use_pool(pool)
        began = time.monotonic()
        faults = faults_of(self._world, chance, window_s) if faults is None else faults
        works = [Work(customer) for customer in self._customers]
        threads = []
        for work in works:
            work.customer.impatience = Impatience(self._patience)
            delay, deletes = chance.uniform(0, window_s / 2), chance.uniform(0, window_s)
            threads.append(_threaded(work, self._day(delay, seed)))
            if work.customer.slug in self._before:
                work.deleted = self._before.pop(work.customer.slug)
                threads.append(_threaded(work, self._deletion(deletes, in_flight=chance.random() < IN_FLIGHT)))
        self._meanwhile(threads, faults)
        trouble = [f"{work.customer.slug}: {text}" for work in works for text in work.trouble]
        trouble += self._settle()
        trouble += [text for work in works for text in self._compare(work)]
        trouble += self._broken_money()
        trouble += self._left_behind(time.monotonic() - began)
        trouble += self._delivered_again(any(fault.repeats for fault in faults))
        return Result(seed, trouble, time.monotonic() - began, pool)

    def _day(self, delay: float, seed: int) -> Callable[[Work], None]:
        def work_through(work: Work) -> None:
            customer = work.customer
            time.sleep(delay)
            old = self._calm[customer.slug].video_id
            work.questions.append(customer.ask(old))
            work.video_id = customer.upload(f"run-{seed}")
            video = customer.video(work.video_id)
            if video["status"] != "ready":
                work.trouble.append(f"the video is {video['status']}: {video['error']}")
                return
            work.questions.append(customer.ask(work.video_id))
            for question_id in work.questions:
                question = customer.answer(question_id)
                if question["status"] != "succeeded":
                    work.trouble.append(f"a question is {question['status']}: {question['error']}")

        return work_through

    def _deletion(self, delay: float, *, in_flight: bool) -> Callable[[Work], None]:
        """Delete the video of the run before. in_flight: while a question about it is being answered."""

        def delete(work: Work) -> None:
            time.sleep(delay)
            if in_flight:
                work.unanswered = work.customer.ask(work.deleted)
                work.customer.begun(work.unanswered)
            work.customer.delete(work.deleted)
            if in_flight:
                work.customer.answer(work.unanswered)

        return delete

    def _meanwhile(self, threads: list[threading.Thread], faults: list[Fault]) -> None:
        """Break things and start dead processes again until all threads end."""
        began = passed = time.monotonic()
        for thread in threads:
            thread.start()
        waiting = list(faults)
        ending: list[Fault] = []
        while waiting or ending or any(thread.is_alive() for thread in threads):
            now = time.monotonic() - began
            while waiting and waiting[0].at <= now:
                fault = waiting.pop(0)
                say(f"    {now:5.1f} s  {fault.name}")
                fault.begin()
                if fault.end is not None:
                    ending.append(fault)
            for fault in [fault for fault in ending if fault.until <= now]:
                ending.remove(fault)
                assert fault.end is not None
                fault.end()
            self._world.service.tend()
            pace = max((fault.pace for fault in ending), default=1.0)
            if pace > 1:
                self._pass(timedelta(seconds=(pace - 1) * (time.monotonic() - passed)))
            passed = time.monotonic()
            time.sleep(TICK_S)

    def _pass(self, time_passed: timedelta) -> None:
        """Let time pass for jobs that wait, for their deadlines, and for breakers."""
        try:
            self._database.rows(
                "UPDATE jobs_job SET not_before = not_before - %s, deadline_at = deadline_at - %s "
                "WHERE state = 'queued' AND NOT queue LIKE 'system%%' ",
                time_passed,
                time_passed,
            )
            self._database.rows("UPDATE jobs_breaker SET probe_at = probe_at - %s", time_passed)
            self._database.rows("UPDATE webhooks_endpoint SET probe_at = probe_at - %s", time_passed)
        except psycopg.OperationalError:
            return

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def _settle(self) -> list[str]:
        """Wait until no job has work to do. Returns the jobs that still have after a while."""
        deadline = time.monotonic() + self._patience
        while left := [*leftovers.open_jobs(self._database), *self._undelivered()]:
            if time.monotonic() > deadline:
                return [f"work has not ended: {text}" for text in left[:10]]
            self._hurry_webhooks()
            self._world.service.tend()
            time.sleep(TICK_S * 3)
        return []

    def _hurry_webhooks(self) -> None:
        """Let the hours between two attempts at a delivery pass, and those until a failing receiver is tried again."""
        self._database.rows(
            "UPDATE webhooks_endpoint SET probe_at = now() "
            "WHERE breaker = 'open' AND probe_at > now() + interval '2 seconds'"
        )
        self._database.rows(
            "UPDATE jobs_job SET not_before = now() WHERE kind = 'deliver_webhook' AND state = 'queued' "
            "AND not_before > now() + interval '2 seconds'"
        )

    def _undelivered(self) -> list[str]:
        rows = self._database.rows("SELECT id, state FROM webhooks_delivery WHERE state <> 'succeeded' LIMIT 10")
        return [f"delivery {id} is {state}" for id, state in rows]

    def _compare(self, work: Work) -> list[str]:
        slug, tenant_id = work.customer.slug, UUID(work.customer.tenant_id)
        calm, found = self._calm[slug], []
        if work.video_id:
            self._before[slug] = work.video_id
            video_id = own_id(work.video_id)
            found += reading.difference(calm.index, reading.index_of(tenant_id, video_id))
            found += _bills(calm.bill, reading.bill_of_video(tenant_id, video_id))
        for question_id in map(own_id, work.questions):
            if (answer := reading.answer_of(tenant_id, question_id)) != calm.answer:
                found.append(f"a question ended with {answer}, undisturbed with {calm.answer}")
            found += _bills(calm.answer_bill, reading.bill_of_question(tenant_id, question_id))
        if work.unanswered:
            question_id = own_id(work.unanswered)
            bill, (status, *_) = (
                reading.bill_of_question(tenant_id, question_id),
                reading.answer_of(tenant_id, question_id),
            )
            if status != "succeeded" and bill.price:
                found.append(f"a question whose video was deleted is {status} and costs {bill.price}")
        close_connections()
        return [f"{slug}: {text}" for text in found]

    def _broken_money(self) -> list[str]:
        found = reading.broken_money([UUID(customer.tenant_id) for customer in self._customers])
        close_connections()
        return found

    def _left_behind(self, seconds: float) -> list[str]:
        service, found = self._world.service, []
        found += leftovers.failed_jobs(self._database, seconds)
        bucket = service.bucket()
        found += leftovers.open_uploads(bucket, self._database)
        found += leftovers.strangers(service)
        found += leftovers.silent(service)
        found += [f"file {file} was left behind" for file in service.scratch.files()]
        for body in self._receiver.bodies.values():
            if len(set(body)) > 1 and len(set(map(_redacted, body))) > 1:
                found.append("a webhook was sent with two different bodies")
        found += self._lost_webhooks()
        found += self._stray_objects(leftovers.objects(bucket))
        return found

    def _lost_webhooks(self) -> list[str]:
        sent = self._database.rows(
            "SELECT e.id, e.body, d.endpoint_sequence FROM webhooks_webhookevent e "
            "JOIN webhooks_delivery d ON d.tenant_id = e.tenant_id AND d.event_id = e.id"
        )
        found = []
        fresh = [row for row in sent if row[0] not in self._read]
        self._read.update(row[0] for row in fresh)
        for id, body, sequence in fresh:
            arrived = self._receiver.bodies.get(encode("msg", id), [])
            written = body_for(body, endpoint_sequence=sequence).encode()
            if not self._receiver.accepted.get(encode("msg", id)):
                found.append(f"webhook {id} was never accepted: {body[:200]}")
            # The texts of deleted things leave an event, perhaps after its delivery.
            if not arrived or any(each != written and _redacted(each) != written for each in arrived):
                found.append(f"webhook {id} arrived {len(arrived)} times, and not as it was written: {body[:200]}")
        return found[:5]

    def _delivered_again(self, expected: bool) -> list[str]:
        """Return the deliveries that were sent again after their acceptance. expected: a fault may have hidden it."""
        again = [id for id, times in self._receiver.accepted.items() if times > 1 and id not in self._repeated]
        self._repeated.update(again)
        return [] if expected else [f"webhook {id} was sent again after it was accepted" for id in again[:5]]

    def _stray_objects(self, keys: set[str]) -> list[str]:
        """Return the objects of videos that are gone, and the pictures that no answer of a living video shows."""
        known = {str(row[0]) for row in self._database.rows("SELECT id FROM library_video")}
        sources = {row[0] for row in self._database.rows("SELECT object_key FROM library_video")}
        strays = [key for key in sorted(keys) if "/v/" in key and key.split("/")[3] not in known]
        strays += [key for key in sorted(keys) if key.endswith("/source") and key not in sources]
        shown = {row[0] for row in self._database.rows("SELECT frame_key FROM questions_evidence")}
        unshown = [key for key in sorted(keys) if "/q/" in key and key not in shown and key not in strays]
        return [
            *(f"object {key} belongs to no video" for key in strays[:5]),
            *(f"picture {key} is shown by no answer" for key in unshown[:5]),
        ]


def _threaded(work: Work, body: Callable[[Work], None]) -> threading.Thread:
    def run() -> None:
        try:
            body(work)
        except GaveUp as error:
            work.trouble.append(f"no answer in time: {error}")
        except Exception as error:
            work.trouble.append(f"{type(error).__name__}: {error}")

    return threading.Thread(target=run, daemon=True)


def _bills(calm: reading.Bill, found: reading.Bill) -> list[str]:
    if calm == found:
        return []
    before, after = set(calm.lines), set(found.lines)
    return [f"billed {found.price}, undisturbed {calm.price}: less {before - after}, more {after - before}"]


def _redacted(body: bytes) -> bytes:
    """Return the body of a webhook without the texts that a deletion removes."""
    envelope = json.loads(body)
    kept = {name: EMPTIED.get(name, value) for name, value in envelope["data"].items()}
    return json.dumps({**envelope, "data": kept}, ensure_ascii=False, separators=(",", ":")).encode()


def own_id(public_id: str) -> UUID:
    """Return the id in the database."""
    found = parse(public_id.partition("_")[0], public_id)
    assert found is not None, public_id
    return found


def close_connections() -> None:
    from django.db import connections

    connections.close_all()


def say(line: str) -> None:
    print(line, flush=True)
