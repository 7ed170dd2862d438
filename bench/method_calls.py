"""The model calls of each answering method, against a model server with fixed rates.

The reasoner is scripted (bench.tool_user). Fresh tokens are counted with a prefix cache for each question alone. The
shares that a cache holds are counted as the service works, where all questions of a tenant share a cache: twelve
questions one after another, the first of them with an empty cache. Pictures go to a checker with a name of its own. Its
answers from frames count as calls, its looks are counted apart, and its tokens are left out.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count

from bench.answer_calls import CHOICES, RATES, SLOTS
from bench.figures import Figure, Figures, at_least, at_most, ratio, show_progress, side_by_side
from bench.instant_models import EqualTexts
from bench.method_world import LONG, SHORT, LeaningEmbedder, whole_day
from bench.model_server import ModelServer, Rates, Words
from bench.tool_user import sensible, tireless
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.catalogue import AVATAAR, METHOD_SETTINGS
from gpu_workers.engine.answering.contract import Answer, QuestionInput
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import AnswerModels, ChatCapabilities, Meter, ModelCall
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.vision import VlmChecker

QUESTIONS = 12
"""Questions of a method, every other one in doubt. The scripted reasoner does something else in each."""
SPEED = 5
"""Times as fast as RATES for seconds, so that twenty methods take minutes; our own time then weighs 5 times as much."""
LOOPS = ("dvd_lite", "videoagent_mem", "avp_lite")
"""Methods whose conversation only grows, so that a prefix cache reads each step once."""
MOST_CALLS: Mapping[str, int] = {
    "videoagent": 8,
    "avataar": 2 + 3 * AVATAAR["medium"].rethinks,
    "ravu": 8,
}
"""Maximum number of calls at effort medium, whatever the reasoner says, without looks."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the questions of one method spent on average. calls: without looks. most_calls: of any question. prompt,
    fresh: tokens of the reasoner's prompts, and those that its prefix cache did not hold. sure: fresh tokens of the
    questions whose samples agree. steps_cached: share of the prompt tokens of the method's own calls, without the
    shared head's, that the cache held. looks, look_tokens: of the checker."""

    calls: float
    most_calls: int
    prompt: float
    fresh: float
    sure: float
    steps_cached: float
    looks: float
    look_tokens: float

    @property
    def cached_share(self) -> float:
        return 1 - self.fresh / self.prompt if self.prompt else 0.0


def methods() -> Figures:
    """Yield calls, tokens, seconds and growth of each method at effort medium, next to those of `ava`."""
    whole_day(SHORT), whole_day(LONG)
    ava = spent("ava", sensible)
    yield from _told("ava", ava, ava)
    for name in METHOD_SETTINGS:
        show_progress(f"{name} …")
        yield from _told(name, spent(name, sensible), ava)
        yield growth(name)
    yield from seconds()


def _told(name: str, mine: Spent, ava: Spent) -> Figures:
    looks = f"{mine.looks:.1f} looks with {mine.look_tokens:.0f} tokens more"
    most = f"at most {mine.most_calls} in {QUESTIONS} questions"
    if name in METHOD_SETTINGS:
        worst = spent(name, tireless)
        most += f"; {worst.calls:.1f} with a reasoner that is never satisfied (at most {worst.most_calls})"
    yield _bounded_calls(name, mine, f"calls on average, {most}; {looks}")
    shown = f"{mine.fresh:.0f} of {mine.prompt:.0f} prompt tokens were not in the question's own prefix cache"
    shared = spent(name, sensible, one_cache=True)
    tenant = f"in {QUESTIONS} questions of a tenant; in one question alone"
    whole = f"of all prompt tokens {tenant} {mine.cached_share:.3f}"
    if name == "ava":
        yield _plain("ava_fresh_tokens", mine.fresh, shown)
        yield _plain("ava_cached_share", shared.cached_share, whole)
        return
    steps = f"of those of its own calls, without the head that draws the answer, {tenant} {mine.steps_cached:.3f}"
    share = mine.fresh / ava.fresh
    reference = (
        f"{shown}; `ava` at medium: {ava.fresh:.0f}, half of its questions in doubt, {ava.sure:.0f} where its samples "
        f"agree, against which it is {mine.sure / ava.sure:.2f}"
    )
    if name in LOOPS:
        yield at_most(f"{name}_fresh_tokens", share, 1.5, reference)
        yield at_least(f"{name}_cached_share", shared.cached_share, 0.7, whole)
        yield at_least(f"{name}_own_cached_share", shared.steps_cached, 0.7, steps)
    else:
        yield _plain(f"{name}_fresh_tokens", share, reference)
        yield _plain(f"{name}_cached_share", shared.cached_share, whole)
        yield _plain(f"{name}_own_cached_share", shared.steps_cached, steps)


def _bounded_calls(name: str, mine: Spent, reference: str) -> Figure:
    if name in MOST_CALLS:
        return at_most(
            f"{name}_calls", mine.most_calls, MOST_CALLS[name], f"most of any question; {mine.calls:.1f} {reference}"
        )
    return _plain(f"{name}_calls", mine.calls, reference)


def growth(name: str) -> Figure:
    """Compare calls and prompt tokens over 10 hours with those over 75 minutes; the larger change of both."""
    short, long = (spent(name, sensible, events=events) for events in (SHORT, LONG))
    calls, tokens = long.calls / short.calls, long.prompt / short.prompt
    return at_most(
        f"{name}_growth",
        max(calls, tokens),
        1.05,
        f"10 hours over 75 minutes: {long.calls:.2f} calls over {short.calls:.2f}, {long.prompt:.0f} prompt tokens "
        f"over {short.prompt:.0f}",
    )


def seconds() -> Figures:
    """Measure each method's wall time against that of `ava` in the same turn."""
    faster = Rates(RATES.latency_s / SPEED, RATES.prefill * SPEED, RATES.decode * SPEED)
    names = ["ava", *METHOD_SETTINGS]
    with ModelServer(faster, slots=SLOTS, words=sensible) as server:
        asking: list[Callable[[], object]] = [lambda name=name: ask(server, name) for name in names]  # type: ignore[misc]
        timings = dict(zip(names, side_by_side(3, *asking), strict=True))
    for name in METHOD_SETTINGS:
        yield _plain(
            f"{name}_seconds",
            ratio(timings[name], timings["ava"]),
            f"{timings[name].median * SPEED:.1f} s over {timings['ava'].median * SPEED:.1f} s of `ava` at medium, "
            f"whose samples agree; on a clock {SPEED} times as fast",
        )


# --- questions ---------------------------------------------------------------------------------------------------

_NUMBER = count()


@cache
def spent(name: str, words: Words, *, events: int = SHORT, one_cache: bool = False) -> Spent:
    """Ask QUESTIONS questions by the method, at effort medium, and return what they spent on average.

    one_cache: the questions share a prefix cache, as those of a tenant do (backend.tenancy.secrets.cache_salt).
    """
    first = next(_NUMBER)
    salts = [f"{first}" if one_cache else f"{first}/{n}" for n in range(QUESTIONS)]
    with ModelServer(Rates(0.0, 1e9, 1e9), slots=SLOTS, words=words) as server:
        answers = [ask(server, name, number=n, events=events, salt=salts[n]) for n in range(QUESTIONS)]
    calls = [_calls(answer) for answer in answers]
    looks = [_looks(answer) for answer in answers]
    read = [_of_reasoner(some) for some in calls]

    def mean(count: Callable[[ModelCall], int], of: Sequence[Sequence[ModelCall]]) -> float:
        return statistics.fmean(sum(count(call) for call in some) for some in of)

    return Spent(
        mean(lambda call: 1, calls),
        max(map(len, calls)),
        mean(lambda call: call.prompt_tokens, read),
        mean(_fresh, read),
        mean(_fresh, read[::2]),
        _steps_cached(read),
        mean(lambda call: 1, looks),
        mean(lambda call: call.prompt_tokens, looks),
    )


def ask(server: ModelServer, name: str, *, number: int = 0, events: int = SHORT, salt: str = "") -> Answer:
    """Answer a question by the method; the samples never agree on one with an odd number. Raises AssertionError if that
    ends in an error."""
    reasoner, eyes = _models(server.url)
    embedder = LeaningEmbedder()
    models = AnswerModels(reasoner, embedder, embedder, EqualTexts(), UNMEASURED, checker=VlmChecker(eyes))
    question = QuestionInput(f"Where does person {number} go after the bell?", CHOICES, method=name)
    answer = answer_question(question, whole_day(events), models, meter=Meter(salt or f"once {next(_NUMBER)}"))
    if answer.finish_reason not in {"answered", "insufficient_evidence"}:
        raise AssertionError(f"{name}: {answer.finish_reason} {answer.detail}")
    return answer


@cache
def _models(url: str) -> tuple[OpenAIChatModel, OpenAIChatModel]:
    seeing = ChatCapabilities(32_768, images=True)
    return (
        OpenAIChatModel(base_url=url, model="scripted", concurrency=SLOTS),
        OpenAIChatModel(base_url=url, model=EYES, capabilities=seeing, concurrency=SLOTS),
    )


EYES, LOOK = "scripted eyes", "observe"
"""Name of the checker, and the stage of a look that reports what it sees."""
HEAD = frozenset({"answer", "judge", "verify"})
"""Stages of the calls that draw the answer, alike for all methods."""


def _calls(answer: Answer) -> list[ModelCall]:
    """Return the calls of language models, without the looks: those of the reasoner, and answers from frames."""
    return [call for call in answer.usage.calls if call.completion_tokens and call.stage != LOOK]


def _looks(answer: Answer) -> list[ModelCall]:
    return [call for call in answer.usage.calls if call.completion_tokens and call.stage == LOOK]


def _of_reasoner(calls: Sequence[ModelCall]) -> list[ModelCall]:
    return [call for call in calls if call.model != EYES]


def _steps_cached(questions: Sequence[Sequence[ModelCall]]) -> float:
    steps = [call for calls in questions for call in calls if call.stage not in HEAD]
    return sum(call.cached_tokens for call in steps) / max(1, sum(call.prompt_tokens for call in steps))


def _fresh(call: ModelCall) -> int:
    return call.prompt_tokens - call.cached_tokens


def _plain(name: str, value: float, reference: str) -> Figure:
    return Figure(name, float(f"{value:.4g}"), "none", True, reference)
