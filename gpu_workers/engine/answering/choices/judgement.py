"""Whether each choice is right, in the reasoner's own odds of yes against no.

A small reasoner that is asked for the letter of the best of five choices is right hardly more often than by chance.
About one choice at a time it knows more, and the odds of its first word show how much (docs/evaluation.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import BranchMeter, Halt
from gpu_workers.engine.answering.calls import Calls, count_prompt
from gpu_workers.engine.answering.context import event_text
from gpu_workers.engine.models.roles import Message, ModelError
from gpu_workers.engine.ports import StoredEvent
from gpu_workers.engine.prompts import load

ALTERNATIVES = 20
"""Number of likely first tokens that are requested; OpenAI's protocol returns no more."""

LEAST_MASS = 0.1
"""Minimum probability mass on yes and no. Below it the model answered something else, so its odds are meaningless."""


def judge_choices(
    asked: Asked, calls: Calls, choices: Sequence[int], events: Sequence[StoredEvent], *, meter: BranchMeter
) -> tuple[float, ...]:
    """Return the log-odds that each choice is right, given the events, best first.

    Events beyond judge_tokens are left out.

    Returns () if the reasoner failed, declined or returned no probabilities, or if the budget ended; then calls.halted
    says so. The choices are judged one after another, so that each finds the events in the server's cache.
    """
    odds = []
    try:
        shown = _lines(asked, events)
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
            odds.append(of_yes)
    except Halt as halt:
        calls.halt(halt)
        return ()
    except ModelError:
        return ()
    return tuple(odds)


def log_odds(first: Mapping[str, float]) -> float | None:
    """Return the log-odds of yes against no from the log-probabilities of first tokens; None if neither is likely."""
    mass = {"yes": 1e-6, "no": 1e-6}
    for token, value in first.items():
        word = token.strip().lower()
        if word in mass:
            mass[word] += math.exp(value)
    return math.log(mass["yes"] / mass["no"]) if sum(mass.values()) >= LEAST_MASS else None


def _lines(asked: Asked, ranking: Sequence[StoredEvent]) -> str:
    """Return the best events that fit, a line each, in order of time. They have no times and facts: these would take as
    many tokens as what happens."""
    reasoner = asked.models.reasoner
    empty = load("judge_choice", asked.question.profile).substitute(
        events="", question=asked.searched, choice=max(asked.question.choices, key=len)
    )
    frame = count_prompt(reasoner.count_tokens, [Message("user", (empty,))])
    room = min(asked.settings.support.judge_tokens, reasoner.context_tokens - frame - 1)
    fitting: list[StoredEvent] = []
    for event in ranking:
        room -= reasoner.count_tokens(f"99. {event_text(event)}\n")
        if room < 0:
            break
        fitting.append(event)
    fitting.sort(key=lambda event: (event.video_id, event.span, event.id))
    videos = {video_id: n for n, video_id in enumerate(dict.fromkeys(event.video_id for event in fitting), start=1)}
    prefixes = {video_id: f"video {n}: " if len(videos) > 1 else "" for video_id, n in videos.items()}
    return "\n".join(f"{n}. {prefixes[event.video_id]}{event_text(event)}" for n, event in enumerate(fitting, start=1))
