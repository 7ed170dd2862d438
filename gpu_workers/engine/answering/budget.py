"""The gate every model call of a question passes: budget, time and cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from gpu_workers.engine.answering.contract import Budget, Price, Usage
from gpu_workers.engine.models.roles import Meter, ModelCall, ModelError


class Halt(Exception):
    """No further model call may be made for this question. code: stable, for Answer.detail."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class BudgetSpent(Halt):
    """code names the limit: max_calls, max_tokens, max_seconds or max_cost, or tenant_max_… of an Allowance."""


class Canceled(Halt):
    """The caller's should_stop() returned true."""

    def __init__(self) -> None:
        super().__init__("canceled")


class BranchMeter(Meter):
    """Counts the calls of one node and passes each on to the question's meter, whose cache_salt they carry."""

    def __init__(self, trunk: Meter) -> None:
        super().__init__(trunk.cache_salt)
        self._trunk = trunk

    def record(self, call: ModelCall) -> None:
        call = self._trunk.attributed(call)
        self.keep(call)
        self._trunk.record(call)

    def answer_of(self, dependency: str) -> None:
        super().answer_of(dependency)
        self._trunk.answer_of(dependency)

    def outage_of(self, error: ModelError) -> None:
        super().outage_of(error)
        self._trunk.outage_of(error)


@dataclass(frozen=True, slots=True)
class Admission:
    """samples: how many one request may ask for. timeout_s: how long it may take, None for no limit."""

    samples: int
    timeout_s: float | None


@dataclass(frozen=True, slots=True)
class Allowance:
    """The total that a limit shared with other questions leaves for this one at this moment; None is no limit.

    max_seconds: model time, summed over calls that may run in parallel; Budget.max_seconds is elapsed time.
    """

    max_tokens: int | None = None
    max_seconds: float | None = None
    max_cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class _Limit:
    """The rest of a limit. cost_of_one: the most that one sample consumes of it. ends_at_nothing_left: whether a
    used-up limit refuses even a sample that consumes nothing."""

    code: str
    left: Decimal
    cost_of_one: Decimal = Decimal(0)
    ends_at_nothing_left: bool = True


class Spending:
    """Admits model calls while the budget and the allowance last. Safe to share between threads.

    Calls in flight hold a reservation for the most they can consume. So calls made in parallel cannot together overrun
    a limit that each of them keeps alone. Time cannot be reserved: the calls in flight may exceed a limit of time, and
    a limit of cost by the price of their time. allowance: called before every call, from any thread, since other
    questions consume meanwhile.
    """

    def __init__(
        self,
        budget: Budget,
        meter: Meter,
        *,
        clock: Callable[[], float],
        should_stop: Callable[[], bool] | None = None,
        allowance: Callable[[], Allowance] | None = None,
    ) -> None:
        self._budget = budget
        self._allowance = allowance or Allowance
        self._meter = meter
        self.clock = clock
        self._should_stop = should_stop or _never
        self._began = clock()
        self._calls = 0
        self._reserved_tokens = 0
        self._reserved_cost = Decimal(0)
        self._lock = threading.Lock()

    def elapsed_ms(self) -> int:
        return round((self.clock() - self._began) * 1000)

    def usage(self) -> Usage:
        """Return all calls so far, and what the successful ones consumed: a failed call spends no budget."""
        calls = self._meter.calls
        paid = [call for call in calls if call.ok]
        return Usage(
            calls=calls,
            prompt_tokens=sum(call.prompt_tokens for call in paid),
            cached_tokens=sum(call.cached_tokens for call in paid),
            completion_tokens=sum(call.completion_tokens for call in paid),
            cost=sum((self._call_cost(call) for call in paid), Decimal(0)),
        )

    def check(self) -> None:
        """Raise Canceled or BudgetSpent if not even the smallest call may be made."""
        allowed = self._allowance()
        if self._should_stop():
            raise Canceled
        with self._lock:
            self._affordable(allowed, "", 0, 0, 1)

    @contextmanager
    def admitted(self, model: str, *, prompt_tokens: int, sample_tokens: int, n: int = 1) -> Iterator[Admission]:
        """Reserve room for one request of up to n samples, as many as the budget holds, at least one.

        sample_tokens: maximum length of one sample. The prompt is reserved once per sample, since a server that cannot
        sample n at once is asked n times. Raises Canceled or BudgetSpent instead of admitting the call.
        """
        allowed = self._allowance()
        if self._should_stop():
            raise Canceled
        with self._lock:
            n = self._affordable(allowed, model, prompt_tokens, sample_tokens, n)
            tokens = n * (prompt_tokens + sample_tokens)
            cost = n * _cost(self._budget.prices.get(model, Price()), prompt_tokens, 0, sample_tokens)
            self._calls += 1
            self._reserved_tokens += tokens
            self._reserved_cost += cost
        try:
            yield Admission(n, self._remaining_s())
        finally:
            with self._lock:
                self._reserved_tokens -= tokens
                self._reserved_cost -= cost

    def holds(self, calls: int, prompt_tokens: int, sample_tokens: int, model: str) -> bool:
        """Whether that many further calls of one sample each would be admitted now, one after another.

        prompt_tokens, sample_tokens: of all these calls together. It reserves nothing. For one call it is true exactly
        if admitted() would not raise. Time cannot be foreseen: it is enough that some is left.
        """
        allowed = self._allowance()
        if self._should_stop():
            return False
        with self._lock:
            if self._budget.max_calls is not None and self._budget.max_calls - self._calls < calls:
                return False
            try:
                return self._affordable(allowed, model, prompt_tokens, sample_tokens, 1) == 1
            except BudgetSpent:
                return False

    def rations(self) -> bool:
        """Whether calls in flight can keep others out: time is not reserved, but calls, tokens and cost are."""
        budget = self._budget
        limits = (budget.max_calls, budget.max_tokens, budget.max_cost)
        return any(limit is not None for limit in limits) or self._allowance() != Allowance()

    def out_of_time(self) -> bool:
        remaining = self._remaining_s()
        return remaining is not None and remaining <= 0

    def _affordable(self, allowed: Allowance, model: str, prompt_tokens: int, sample_tokens: int, n: int) -> int:
        """Return how many of n samples every limit leaves room for. Raises BudgetSpent if a limit has room for none."""
        for limit in self._limits(allowed, model, prompt_tokens, sample_tokens):
            while n > 0 and n * limit.cost_of_one > limit.left:
                n -= 1
            if n == 0 or (limit.left <= 0 and limit.ends_at_nothing_left):
                raise BudgetSpent(limit.code)
        return n

    def _limits(self, allowed: Allowance, model: str, prompt_tokens: int, sample_tokens: int) -> Iterator[_Limit]:
        """Yield the limits on a call, in the order in which they are reported."""
        budget = self._budget
        if budget.max_calls is not None:
            yield _Limit("max_calls", Decimal(budget.max_calls - self._calls))
        remaining = self._remaining_s()
        if remaining is not None:
            yield _Limit("max_seconds", Decimal(remaining))
        if budget.max_tokens is None and budget.max_cost is None and allowed == Allowance():
            return
        used = self.usage()
        if allowed.max_seconds is not None:
            yield _Limit("tenant_max_seconds", Decimal(allowed.max_seconds - _seconds(used.calls)))
        tokens = used.prompt_tokens + used.completion_tokens + self._reserved_tokens
        for most, code in ((budget.max_tokens, "max_tokens"), (allowed.max_tokens, "tenant_max_tokens")):
            if most is not None:
                yield _Limit(code, Decimal(most - tokens), Decimal(prompt_tokens + sample_tokens))
        price = budget.prices.get(model, Price())
        cost, cost_of_one = used.cost + self._reserved_cost, _cost(price, prompt_tokens, 0, sample_tokens)
        if budget.max_cost is not None:
            # A question whose money is spent may still ask a model that costs nothing; a tenant may not.
            yield _Limit("max_cost", budget.max_cost - cost, cost_of_one, ends_at_nothing_left=price != Price())
        if allowed.max_cost is not None:
            yield _Limit("tenant_max_cost", allowed.max_cost - cost, cost_of_one)

    def _remaining_s(self) -> float | None:
        if self._budget.max_seconds is None:
            return None
        return self._budget.max_seconds - (self.clock() - self._began)

    def _call_cost(self, call: ModelCall) -> Decimal:
        price = self._budget.prices.get(call.model, Price())
        tokens = _cost(price, call.prompt_tokens, call.cached_tokens, call.completion_tokens)
        return tokens + price.per_second * Decimal(str(call.billed_ms)) / 1000


def _never() -> bool:
    return False


def _cost(price: Price, prompt: int, cached: int, completion: int) -> Decimal:
    fresh = max(0, prompt - cached)
    total = fresh * price.prompt_per_million + cached * price.cached_per_million
    return (total + completion * price.completion_per_million) / 1_000_000


def _seconds(calls: Iterable[ModelCall]) -> float:
    return sum(call.billed_ms for call in calls if call.ok) / 1000
