"""Drawing a node's samples: the vote, one retry for samples that were cut off, one repair, then abstention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter, BudgetSpent, Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.parsing import ParsedAnswer, answer_schema, parse_answer
from gpu_workers.engine.answering.search.consistency import same_answer
from gpu_workers.engine.answering.wording import abstain_rule, answer_form, as_data, choice_lines
from gpu_workers.engine.models.roles import Message, Meter, ModelError, Sample
from gpu_workers.engine.prompts import load

REPAIR_CHARACTERS = 2_000


@dataclass(slots=True)
class Draw:
    """Samples of one node. parsed[i]: the answer in texts[i], None if it cannot be read. error: code of a failed call,
    "" if all went well; samples drawn before the failure are kept. halt: set if the budget or the caller ended the
    draw."""

    parsed: list[ParsedAnswer | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    error: str = ""
    halt: Halt | None = None
    started_ms: int = 0
    wall_ms: int = 0
    meter: Meter = field(default_factory=Meter)


def draw_answers(
    asked: Asked, calls: Calls, messages: Sequence[Message], *, path: str, n: int, stage: str = "answer"
) -> Draw:
    """Draw up to n samples for one prompt. stage: of the model calls. Raises neither Halt nor ModelError."""
    draw = Draw(started_ms=calls.spending.elapsed_ms(), meter=BranchMeter(calls.meter))
    try:
        _vote(asked, calls, draw, messages, path=path, n=n, stage=stage)
        if not any(draw.parsed):
            _repair(asked, calls, draw, path=path)
    except Halt as halt:
        draw.halt, draw.error = halt, halt.code
    except ModelError as error:
        _fail(calls, draw, error)
    if draw.parsed and not draw.error and not any(draw.parsed):
        draw.error = "unreadable"
    draw.wall_ms = calls.spending.elapsed_ms() - draw.started_ms
    return draw


def check_answers(
    asked: Asked, calls: Calls, sample: Callable[[Meter], list[Sample]], *, meter: Meter | None = None
) -> Draw:
    """Draw samples by a look at frames, which is not repeated. meter: the node's, if it has made calls before. Raises
    neither Halt nor ModelError."""
    draw = Draw(started_ms=calls.spending.elapsed_ms(), meter=meter or BranchMeter(calls.meter))
    try:
        _keep(asked, draw, sample(draw.meter))
        if draw.texts and not any(draw.parsed):
            draw.error = "unreadable"
    except Halt as halt:
        draw.halt, draw.error = halt, halt.code
    except ModelError as error:
        _fail(calls, draw, error)
    draw.wall_ms = calls.spending.elapsed_ms() - draw.started_ms
    return draw


def _vote(
    asked: Asked, calls: Calls, draw: Draw, messages: Sequence[Message], *, path: str, n: int, stage: str
) -> None:
    """Draw n samples, at once without early_majority. With it, first draw as many as decide the vote if they agree.
    Then draw as many as the leading answer lacks for a majority, until the rest cannot change the leader."""
    drawn = n // 2 + 1 if asked.settings.samples.early_majority and n > 2 else n
    _request(asked, calls, draw, messages, n=drawn, seed=asked.seed_of(path), spread=n > 1, stage=stage)
    while drawn < n:
        leading, second = leaders(draw.parsed, asked.question.question)
        if leading - second > n - drawn:
            return
        more = min(n - drawn, max(1, n // 2 + 1 - leading))
        seed = asked.seed_of(f"{path}+{drawn}")
        _request(asked, calls, draw, messages, n=more, seed=seed, spread=True, stage=stage)
        drawn += more


def _request(
    asked: Asked,
    calls: Calls,
    draw: Draw,
    messages: Sequence[Message],
    *,
    n: int,
    seed: int,
    spread: bool,
    stage: str,
) -> None:
    settings, choices = asked.settings, asked.question.choices
    temperature = settings.samples.temperature if spread else 0.0

    def sampled(count: int, max_tokens: int) -> list[Sample]:
        return calls.ask(
            messages,
            stage=stage,
            meter=draw.meter,
            schema=answer_schema(choices, abstain=settings.samples.abstain),
            n=count,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
        )

    samples = sampled(n, settings.prompt.answer_tokens)
    cut = [index for index, sample in enumerate(samples) if sample.truncated and _unread(asked, sample)]
    if cut:
        # A cut answer is a lost vote: ask again once with twice the room. Should that fail, the vote stays lost.
        try:
            again = sampled(len(cut), 2 * settings.prompt.answer_tokens)
        except ModelError:
            again = []
        except Halt as halt:
            again, draw.halt = [], halt
        for index, sample in zip(cut, again, strict=False):
            samples[index] = sample
    _keep(asked, draw, samples)


def _keep(asked: Asked, draw: Draw, samples: Sequence[Sample]) -> None:
    for sample in samples:
        draw.texts.append(sample.text)
        parsed = None if sample.refused else parse_answer(sample.text, asked.question.choices)
        if parsed is not None and asked.answer_language:
            parsed = replace(parsed, language=asked.answer_language)
        draw.parsed.append(parsed)
    if samples and all(sample.refused for sample in samples):
        draw.error = "model_refused"


def _repair(asked: Asked, calls: Calls, draw: Draw, *, path: str) -> None:
    """Ask once which answer the longest unreadable text gives. If the reply can be read, it is the node's only sample:
    the other texts support no answer."""
    longest = max(range(len(draw.texts)), key=lambda index: len(draw.texts[index]), default=None)
    if longest is None or not draw.texts[longest].strip():
        return
    question, settings = asked.question, asked.settings
    prompt = load("answer_repair", question.profile).substitute(
        question=question.question,
        choices=choice_lines(question.choices),
        text=as_data(draw.texts[longest])[:REPAIR_CHARACTERS],
        abstain=abstain_rule(question.choices, abstain=True),
        answer_form=answer_form(question.choices, abstain=True, language=asked.answer_language),
    )
    repaired = calls.ask(
        [Message("user", (prompt,))],
        stage="repair",
        meter=draw.meter,
        # A repair may always abstain: the text may hold no answer, whatever the question's preset demands.
        schema=answer_schema(question.choices, abstain=True),
        max_tokens=settings.prompt.answer_tokens,
        seed=asked.seed_of(f"{path}!"),
    )
    answer = parse_answer(repaired[0].text, question.choices)
    if answer is not None:
        draw.parsed, draw.texts = [answer], [draw.texts[longest]]


def _fail(calls: Calls, draw: Draw, error: ModelError) -> None:
    draw.error = error.code
    if calls.spending.out_of_time():
        # The call was given the question's last seconds: the budget failed, not the model.
        draw.halt = BudgetSpent("max_seconds")


def _unread(asked: Asked, sample: Sample) -> bool:
    return parse_answer(sample.text, asked.question.choices) is None


def leaders(parsed: Sequence[ParsedAnswer | None], question: str) -> tuple[int, int]:
    """Return the votes of the leading answer and of the next one, as far as words alone distinguish answers."""
    groups: list[list[ParsedAnswer]] = []
    for answer in parsed:
        if answer is None:
            continue
        same = (group for group in groups if all(same_answer(member, answer, question) for member in group))
        group = next(same, None)
        if group is None:
            groups.append([answer])
        else:
            group.append(answer)
    first, second, *_ = [*sorted((len(group) for group in groups), reverse=True), 0, 0]
    return first, second
