"""Judging a statement over many events: what it will cost, the calls in parallel, and what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BudgetSpent, Halt
from gpu_workers.engine.answering.calls import MESSAGE_TOKENS, Calls
from gpu_workers.engine.answering.identity import verdict_key
from gpu_workers.engine.answering.scan_price import NUMBER_TOKENS, likely_seconds, most_calls, scan_batch
from gpu_workers.engine.answering.scanning.judging import (
    Judged,
    judge_both_sides,
    judge_event,
    judge_event_prompt,
    judge_events,
    judge_prompt,
)
from gpu_workers.engine.models.roles import Meter, ModelError
from gpu_workers.engine.ports import StoredEvent


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a scan will take, before it starts. events: number to be judged now. kept: number whose verdicts are known.
    money: in the budget's currency. seconds: with in_flight calls at once."""

    calls: int
    events: int
    kept: int
    prompt_tokens: int
    completion_tokens: int
    money: Decimal
    seconds: float

    def in_words(self) -> str:
        money = f", {self.money:.4f} in money" if self.money else ""
        kept = f"; {self.kept} events are known from an earlier scan" if self.kept else ""
        tokens = self.prompt_tokens + self.completion_tokens
        price = f"about {tokens} tokens{money}, about {self.seconds:.0f} s"
        return f"{self.calls} calls over {self.events} events, {price}{kept}"


@dataclass(slots=True)
class Verdicts:
    """true, false, denied: the verdicts. error: of the first batch that failed. halt: what ended the scan early."""

    true: set[UUID] = field(default_factory=set)
    false: set[UUID] = field(default_factory=set)
    denied: set[UUID] = field(default_factory=set)
    error: str = ""
    halt: Halt | None = None

    @property
    def read(self) -> int:
        return len(self.true) + len(self.false) + len(self.denied)


@dataclass(frozen=True, slots=True)
class _Batch:
    video_id: UUID
    judged: Judged
    halt: Halt | None = None


class Scan:
    """One statement over one scope. Verdicts that were kept by an earlier scan, or by a worker that was killed, are not
    paid for again."""

    def __init__(self, asked: Asked, calls: Calls, statement: str, *, both_sides: bool = False) -> None:
        self.asked, self.calls, self.statement = asked, calls, statement
        reasoner = asked.models.reasoner
        self.small = asked.models.calibration.small
        self.by_odds = self.small and reasoner.capabilities.log_probabilities
        self.both_sides = both_sides and not self.small
        self.size = scan_batch(small=self.small, by_odds=self.by_odds)
        self.most_calls = most_calls(asked.settings.effort, small=self.small, by_odds=self.by_odds)
        self._key = verdict_key(
            statement,
            model=reasoner.name,
            profile=asked.question.profile,
            events=0 if self.by_odds else self.size,
            both_sides=self.both_sides,
        )
        self._denial_key = f"{self._key[:-1]}~" if self.both_sides else ""
        self.known = dict(calls.verdicts.verdicts(self._key))
        self.denied = calls.verdicts.verdicts(self._denial_key) if self.both_sides else {}

    def estimate(self, events: Sequence[StoredEvent]) -> Estimate:
        """Return what judging these events would take. Tokens are those of the real prompts."""
        batches = self._batches(events)
        count = self.asked.models.reasoner.count_tokens
        prompt = sum(MESSAGE_TOKENS + count(self._prompt(batch)) for batch in batches)
        written = len(batches) if self.by_odds else sum(count(likely_reply(len(batch))) for batch in batches)
        at_once = min(len(batches), self.asked.settings.in_flight)
        seconds = likely_seconds(prompt, written, small=self.small, at_once=at_once)
        model = self.asked.models.reasoner.name
        money = self.calls.spending.price_of(model, prompt, written)
        unknown = sum(len(batch) for batch in batches)
        return Estimate(len(batches), unknown, len(events) - unknown, prompt, written, money, seconds)

    def fitting(self, events: Sequence[StoredEvent]) -> list[StoredEvent]:
        """Return the first of events whose scan keeps to the number of calls and to the budget, with room for one call
        after it."""
        known = [event for event in events if event.id in self.known]
        unknown = [event for event in events if event.id not in self.known][: self.most_calls * self.size]
        spending, model = self.calls.spending, self.asked.models.reasoner.name
        while unknown and spending.rations():
            cost = self.estimate(unknown)
            most = cost.calls * (40 + NUMBER_TOKENS * self.size)
            if spending.holds(cost.calls + 1, cost.prompt_tokens, most, model):
                break
            unknown = unknown[: len(unknown) // 2]
        chosen = {event.id for event in (*known, *unknown)}
        return [event for event in events if event.id in chosen]

    def run(self, events: Sequence[StoredEvent], *, meter: Meter) -> Verdicts:
        """Judge the events whose verdict is not known, in batches; each batch is kept as soon as it ends.

        Never raises Halt or ModelError: both are in the result.
        """
        wanted = {event.id for event in events}
        denied = {event_id for event_id, no in self.denied.items() if no and event_id in wanted}
        found = Verdicts(
            {event_id for event_id, true in self.known.items() if true and event_id in wanted},
            {event_id for event_id, true in self.known.items() if not true and event_id in wanted} - denied,
            denied,
        )

        def landed(batch: _Batch) -> None:
            found.true |= batch.judged.true
            found.false |= batch.judged.false
            found.denied |= batch.judged.denied
            found.error = found.error or batch.judged.error
            found.halt = found.halt or batch.halt
            judged = batch.judged
            verdicts = {**dict.fromkeys(judged.true, True), **dict.fromkeys(judged.false | judged.denied, False)}
            if verdicts and self.both_sides:
                # Kept first: an event counts as known once its other verdict is there.
                self.calls.verdicts.keep(
                    self._denial_key, batch.video_id, {event_id: event_id in judged.denied for event_id in verdicts}
                )
            if verdicts:
                self.calls.verdicts.keep(self._key, batch.video_id, verdicts)

        tasks = [partial(self._judge, batch, meter) for batch in self._batches(events)]
        self.calls.together("scan", tasks, landed=landed)
        return found

    def _prompt(self, batch: Sequence[StoredEvent]) -> str:
        if self.by_odds:
            return judge_event_prompt(self.asked, batch[0], self.statement)
        return judge_prompt(self.asked, batch, self.statement, both_sides=self.both_sides)

    def _batches(self, events: Sequence[StoredEvent]) -> list[list[StoredEvent]]:
        """Return the events without a verdict in batches of one video each, in order of time."""
        by_video: dict[UUID, list[StoredEvent]] = {}
        for event in sorted(events, key=lambda event: (event.video_id, event.span, event.id)):
            if event.id not in self.known:
                by_video.setdefault(event.video_id, []).append(event)
        return [own[at : at + self.size] for own in by_video.values() for at in range(0, len(own), self.size)]

    def _judge(self, events: Sequence[StoredEvent], meter: Meter) -> _Batch:
        video_id = events[0].video_id
        try:
            if self.by_odds:
                judged = judge_event(self.asked, self.calls, events[0], self.statement, stage="scan", meter=meter)
            elif self.both_sides:
                judged = judge_both_sides(self.asked, self.calls, events, self.statement, stage="scan", meter=meter)
            else:
                judged = judge_events(self.asked, self.calls, events, self.statement, stage="scan", meter=meter)
        except Halt as halt:
            return _Batch(video_id, Judged(error=halt.code), halt)
        except ModelError as error:
            late = self.calls.spending.out_of_time()
            return _Batch(video_id, Judged(error=error.code), BudgetSpent("max_seconds") if late else None)
        return _Batch(video_id, judged)


def likely_reply(events: int) -> str:
    """Return a verdict on that many events, as long as most are: one is true."""
    return f'{{"true": [1], "false": {list(range(2, events + 1))}}}'
