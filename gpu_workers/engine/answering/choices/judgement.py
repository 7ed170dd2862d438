"""Whether each choice is right, in the reasoner's own odds of yes against no.

A small reasoner that is asked for the letter of the best of five choices is right hardly more often than by chance.
About one choice at a time it knows more, and the odds of its first word show how much (docs/lab/evaluation.md).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import cut, event_text, shares
from gpu_workers.engine.answering.parsing import ALTERNATIVES, log_odds
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.prompts import load

LEAST_TOKENS = 24
"""Minimum tokens of an event that is cut: fewer words say nothing."""

NUMBER_TOKENS = 8
"""Tokens of a line's number, and of what a tokenizer adds where a text is cut."""


def judge_choices(
    asked: Asked, calls: Calls, choices: Sequence[int], events: Sequence[StoredEvent], *, meter: BranchMeter
) -> tuple[float, ...]:
    """Return the log-odds that each choice is right, given the events, best first, at the reasoner's temperature.

    The best events that fit judge_tokens are shown. If fewer than whole_events fit, judge_events are shown (or all),
    each cut to its share of the tokens that an answer may read.

    Returns () if there is no event or no room for one, if the reasoner failed, declined or returned no probabilities,
    or if the budget ended; then calls.halted says so. The choices are judged one after another, so that each finds the
    events in the server's cache.
    """
    odds: list[float] = []
    support = asked.models.calibration.support
    temperature = support.temperature.value if support is not None else 1.0
    shown = _lines(asked, events)
    if not shown:
        return ()
    try:
        for choice in choices:
            prompt = load("judge_choice", asked.question.profile).substitute(
                events=shown, question=asked.searched, choice=asked.question.choices[choice]
            )
            samples = calls.ask(
                [Message("user", (prompt,))], stage="judge", meter=meter, max_tokens=1, alternatives=ALTERNATIVES
            )
            of_yes = log_odds(samples[0].first)
            if of_yes is None:
                return ()
            odds.append(of_yes / temperature)
    except Halt as halt:
        calls.halt(halt)
        return ()
    except ModelError:
        return ()
    return tuple(odds)


def _lines(asked: Asked, ranking: Sequence[StoredEvent]) -> str:
    """Return the best events that fit, a line each, in order of time; "" if none does. They have no times and facts:
    these would take as many tokens as what happens."""
    count = asked.models.reasoner.count_tokens
    settings, window = asked.settings, asked.models.reasoner.context_tokens
    empty = load("judge_choice", asked.question.profile).substitute(
        events="", question=asked.searched, choice=max(asked.question.choices, key=len)
    )
    left = window - count_prompt(count, [Message("user", (empty,))]) - 1
    texts = [event_text(event) for event in ranking]
    costs = [count(f"99. {text}\n") for text in texts]
    fitting = bisect_right(list(accumulate(costs)), min(settings.support.judge_tokens, left))
    if fitting < min(settings.support.whole_events, len(ranking)):
        room = min(max(settings.support.judge_tokens, settings.prompt.context_tokens), left)
        fitting = min(settings.support.judge_events, len(ranking), max(0, room) // LEAST_TOKENS)
        given = shares(costs[:fitting], room)
        texts = [
            text if cost <= tokens else cut(text, count, tokens - NUMBER_TOKENS)
            for text, cost, tokens in zip(texts, costs, given, strict=False)
        ]
    shown = sorted(
        zip(ranking[:fitting], texts, strict=False), key=lambda one: (one[0].video_id, one[0].span, one[0].id)
    )
    videos = {video_id: n for n, video_id in enumerate(dict.fromkeys(event.video_id for event, _ in shown), start=1)}
    prefixes = {video_id: f"video {n}: " if len(videos) > 1 else "" for video_id, n in videos.items()}
    return "\n".join(f"{n}. {prefixes[event.video_id]}{text}" for n, (event, text) in enumerate(shown, start=1))
