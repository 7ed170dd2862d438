"""Judging a statement over many events: what it will take, the calls in parallel, and the verdicts that are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BudgetSpent, Halt
from gpu_workers.engine.answering.calls import MESSAGE_TOKENS, Calls
from gpu_workers.engine.answering.context import event_text, fitted
from gpu_workers.engine.answering.parsing import ALTERNATIVES, indices_of, log_odds
from gpu_workers.engine.answering.scan_price import (
    EVENT_TOKENS,
    NUMBER_TOKENS,
    VERDICT_TOKENS,
    ScanPrice,
    likely_seconds,
    most_calls,
    scan_batch,
)
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import Message, Meter, ModelError
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, salvaged
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.prompts import digest_of, load

YES_FROM = -0.3
"""Log-odds of yes from which a small reasoner means that a statement is true of an event. The value of the embedded
reasoner on 18 statements about the tape of seed 0: of 125 true events it accepts 108, and of 91 others 6."""


# --- one call ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Verdicts:
    """Verdicts about events. Events in no set were given no verdict, or two. denied: events that say that the statement
    is not true, where both sides are asked for. error: "" or the code of the first failure. halt: what ended it."""

    true: set[UUID] = field(default_factory=set)
    false: set[UUID] = field(default_factory=set)
    denied: set[UUID] = field(default_factory=set)
    error: str = ""
    halt: Halt | None = None

    @property
    def read(self) -> int:
        return len(self.true) + len(self.false) + len(self.denied)

    def add(self, others: Verdicts) -> None:
        self.true |= others.true
        self.false |= others.false
        self.denied |= others.denied
        self.error = self.error or others.error
        self.halt = self.halt or others.halt


def judge_events(
    asked: Asked,
    calls: Calls,
    events: Sequence[StoredEvent],
    statement: str,
    *,
    stage: str,
    meter: Meter,
    both_sides: bool = False,
) -> Verdicts:
    """Return of which events the statement is true, in one call. both_sides: ask which events deny it, too.

    Raises Halt, ModelError.
    """
    if not events:
        return Verdicts()
    prompt = judge_prompt(asked, events, statement, "judge_both_sides" if both_sides else "judge_events")
    names = ("true", "denied", "silent") if both_sides else ("true", "false")
    listed, error = _ask_for_numbers(asked, calls, prompt, names, len(events), stage=stage, meter=meter)
    if error:
        return Verdicts(error=error)
    single = [{events[n].id for n in own if sum(n in each for each in listed.values()) == 1} for own in listed.values()]
    return Verdicts(single[0], single[-1], single[1] if both_sides else set())


def judge_prompt(asked: Asked, events: Sequence[StoredEvent], statement: str, name: str) -> str:
    """Return the prompt of that name about these events, or about the first one, each cut to EVENT_TOKENS."""
    count = asked.models.reasoner.count_tokens
    texts = [fitted(event_text(event), count, EVENT_TOKENS) for event in events]
    prompt = load(name, asked.question.profile)
    return prompt.substitute(event=texts[0], events=numbered(texts), statement=as_data(statement))


def judge_event(asked: Asked, calls: Calls, event: StoredEvent, statement: str, *, meter: Meter) -> Verdicts:
    """Return whether the statement is true of the event, by the odds of yes in one short call. Raises Halt, ModelError.

    Asked about one event, a small reasoner gives the right ones higher odds than the others, though often below even:
    see YES_FROM. The word of a server without log-probabilities counts as certain.
    """
    sample = calls.ask(
        [Message("user", (judge_prompt(asked, [event], statement, "judge_event"),))],
        stage="scan",
        meter=meter,
        max_tokens=1,
        alternatives=ALTERNATIVES,
        seed=asked.seed_of("scan"),
    )[0]
    if sample.refused:
        return Verdicts(error="model_refused")
    odds = log_odds(sample.first or {sample.text: 0.0})
    if odds is None:
        return Verdicts(error="unreadable")
    return Verdicts(true={event.id}) if odds >= YES_FROM else Verdicts(false={event.id})


def rank_texts(asked: Asked, calls: Calls, texts: Sequence[str], phrase: str, *, meter: Meter) -> list[int] | None:
    """Return the indices of the texts that fit the phrase, best first, in one call; None if nothing could be read.

    texts: as data, a line each. Raises Halt, ModelError.
    """
    prompt = load("rank_texts", asked.question.profile).substitute(events=numbered(texts), phrase=as_data(phrase))
    listed, _ = _ask_for_numbers(asked, calls, prompt, ("fits",), len(texts), stage="rank", meter=meter)
    return listed.get("fits")


def numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def _ask_for_numbers(
    asked: Asked, calls: Calls, prompt: str, names: Sequence[str], most: int, *, stage: str, meter: Meter
) -> tuple[Mapping[str, list[int]], str]:
    """Return the indices that the reply lists under each name, and "" or the code of a failure."""
    sample = calls.ask(
        [Message("user", (prompt,))],
        stage=stage,
        meter=meter,
        schema=object_of({name: list_of({"type": "integer"}, most) for name in names}),
        max_tokens=VERDICT_TOKENS + NUMBER_TOKENS * most,
        seed=asked.seed_of(stage),
    )[0]
    if sample.refused:
        return {}, "model_refused"
    try:
        fields = read_object(sample.text) or salvaged(sample.text)
    except RecursionError:
        fields = {}
    if not fields.keys() & set(names):
        return {}, "unreadable"
    return {name: indices_of(fields.get(name), most) for name in names}, ""


# --- many calls ----------------------------------------------------------------------------------------------------


class Scan:
    """One statement over one scope. Verdicts that were kept by an earlier scan, or by a worker that was killed, are not
    paid for again."""

    def __init__(self, asked: Asked, calls: Calls, statement: str, *, both_sides: bool = False) -> None:
        self.asked, self.calls, self.statement = asked, calls, statement
        self.small = asked.models.calibration.small
        self.both_sides = both_sides and not self.small
        self.size = scan_batch(small=self.small)
        self.most_calls = most_calls(asked.settings.effort, small=self.small)
        self._key = verdict_key(
            statement,
            model=asked.models.reasoner.name,
            profile=asked.question.profile,
            events=0 if self.small else self.size,
            both_sides=self.both_sides,
        )
        self._denial_key = f"{self._key[:-1]}~"
        self.known = dict(calls.verdicts.verdicts(self._key))
        self.denied = calls.verdicts.verdicts(self._denial_key) if self.both_sides else {}

    def price(self, events: Sequence[StoredEvent]) -> ScanPrice:
        """Return what judging these events would take. Tokens are those of the real prompts."""
        batches = self._batches(events)
        count = self.asked.models.reasoner.count_tokens
        prompt = sum(MESSAGE_TOKENS + count(self._prompt(batch)) for batch in batches)
        written = len(batches) if self.small else sum(count(_likely_reply(len(batch))) for batch in batches)
        at_once = min(len(batches), self.asked.settings.in_flight)
        seconds = likely_seconds(prompt, written, small=self.small, at_once=at_once)
        return ScanPrice(len(batches), prompt, written, seconds)

    def price_in_words(self, events: Sequence[StoredEvent], price: ScanPrice) -> str:
        """Return what judging these events would take, for the reader, without what the operator pays for it."""
        prompt, written = price.prompt_tokens, price.completion_tokens
        kept = sum(event.id in self.known for event in events)
        known = f"; {kept} events are known from an earlier scan" if kept else ""
        tokens = f"about {prompt + written} tokens, about {price.seconds:.0f} s"
        return f"{price.calls} calls over {len(events) - kept} events, {tokens}{known}"

    def fitting(self, events: Sequence[StoredEvent]) -> list[StoredEvent]:
        """Return the first of events whose scan keeps to the number of calls and to the budget, with room for one call
        after it."""
        unknown = [event for event in events if event.id not in self.known]
        unknown = unknown[: self.most_calls * self.size]
        spending, model = self.calls.spending, self.asked.models.reasoner.name
        while unknown and spending.rations():
            cost = self.price(unknown)
            most = cost.calls * (VERDICT_TOKENS + NUMBER_TOKENS * self.size)
            if spending.holds(cost.calls + 1, cost.prompt_tokens, most, model):
                break
            unknown = unknown[: len(unknown) // 2]
        chosen = {event.id for event in unknown} | self.known.keys()
        return [event for event in events if event.id in chosen]

    def run(self, events: Sequence[StoredEvent], *, meter: Meter) -> Verdicts:
        """Judge the events whose verdict is not known, in batches; each batch is kept as soon as it ends.

        Never raises Halt or ModelError: both are in the result.
        """
        wanted = {event.id for event in events}
        true = {event_id for event_id, yes in self.known.items() if yes} & wanted
        denied = {event_id for event_id, yes in self.denied.items() if yes} & wanted
        found = Verdicts(true, (self.known.keys() & wanted) - true - denied, denied)

        def landed(result: tuple[UUID, Verdicts]) -> None:
            video_id, judged = result
            found.add(judged)
            self._keep(video_id, judged)

        tasks = [partial(self._judge, batch, meter) for batch in self._batches(events)]
        self.calls.together("scan", tasks, landed=landed)
        return found

    def _keep(self, video_id: UUID, judged: Verdicts) -> None:
        verdicts = {**dict.fromkeys(judged.true, True), **dict.fromkeys(judged.false | judged.denied, False)}
        if not verdicts:
            return
        if self.both_sides:
            # Kept first: an event counts as known once its other verdict is there.
            denials = {event_id: event_id in judged.denied for event_id in verdicts}
            self.calls.verdicts.keep(self._denial_key, video_id, denials)
        self.calls.verdicts.keep(self._key, video_id, verdicts)

    def _prompt(self, batch: Sequence[StoredEvent]) -> str:
        name = "judge_event" if self.small else "judge_both_sides" if self.both_sides else "judge_events"
        return judge_prompt(self.asked, batch, self.statement, name)

    def _batches(self, events: Sequence[StoredEvent]) -> list[list[StoredEvent]]:
        """Return the events without a verdict in batches of one video each, in order of time."""
        by_video: dict[UUID, list[StoredEvent]] = {}
        for event in sorted(events, key=lambda event: (event.video_id, event.span, event.id)):
            if event.id not in self.known:
                by_video.setdefault(event.video_id, []).append(event)
        return [own[at : at + self.size] for own in by_video.values() for at in range(0, len(own), self.size)]

    def _judge(self, events: Sequence[StoredEvent], meter: Meter) -> tuple[UUID, Verdicts]:
        asked, calls, statement = self.asked, self.calls, self.statement
        try:
            if self.small:
                judged = judge_event(asked, calls, events[0], statement, meter=meter)
            else:
                judged = judge_events(
                    asked, calls, events, statement, stage="scan", meter=meter, both_sides=self.both_sides
                )
        except Halt as halt:
            judged = Verdicts(error=halt.code, halt=halt)
        except ModelError as error:
            late = calls.spending.out_of_time()
            judged = Verdicts(error=error.code, halt=BudgetSpent("max_seconds") if late else None)
        return events[0].video_id, judged


def _likely_reply(events: int) -> str:
    """Return a verdict on that many events, as long as most are: one is true."""
    return f'{{"true": [1], "false": {list(range(2, events + 1))}}}'


_JUDGE_PROMPTS = frozenset({"judge_events", "judge_event", "judge_both_sides"})


def verdict_key(statement: str, *, model: str, profile: str, events: int, both_sides: bool = False) -> str:
    """Return 64 hex digits that change with the statement's words, the model, the wording of its prompt, or the number
    of events that one call judges.

    events: 0 for the odds of one event. Verdicts of a list say other things of an event than its own odds do. Case and
    space of the statement change nothing. both_sides: whether a call also says which events deny the statement.
    """
    wording = digest_of(_JUDGE_PROMPTS, profile)
    parts = (" ".join(statement.casefold().split()), model, wording, str(events), *(["both"] if both_sides else []))
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
