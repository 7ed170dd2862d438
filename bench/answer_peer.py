"""The calls of AVA's published code, replayed, against the default preset on the same server.

The replay has the sizes that were measured at commit 4a58382 of I-ESC/Project-Ava (docs/lab/benchmarks.md): 123 calls
in a chain of 11, about 680,000 prompt and 16,700 written tokens. Every sample takes a slot of the server, on both
sides.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import count
from typing import Any

from bench.answer_calls import OURS, RATES, SLOTS, ask, words
from bench.figures import Figures, at_least, ratio, side_by_side
from bench.long_day import filler, long_day
from bench.model_server import ModelServer
from gpu_workers.engine.models.roles import Message, Meter
from gpu_workers.engine.models.served.chat import OpenAIChatModel

BATCH = 64
"""Number of prompts that the published code sends at once."""
NODES, SAMPLES = 13, 8
REQUERIES, REWRITES = 4, 3
ANSWER_PROMPT, REQUERY_PROMPT, REWRITE_PROMPT = 6_300, 5_200, 260
"""Tokens of a prompt of each kind: 104 answers, 4 re-queries and 15 rewrites have 680,000 together."""
ANSWER_WORDS, REQUERY_WORDS, REWRITE_WORDS = 150, 50, 60
"""Tokens written for each, 16,700 together."""
TURNS = 2

_WRITE = "Tokens to write: "
_NUMBER = count()


def against_the_published_code() -> Figures:
    long_day()
    for tokens in (ANSWER_PROMPT, REQUERY_PROMPT, REWRITE_PROMPT):
        _text(4 * tokens)
    with ModelServer(RATES, slots=SLOTS, words=either_words, slot_per_sample=True) as server:
        published, sure, doubt = side_by_side(
            TURNS, lambda: replay(server.url), lambda: ask(server, OURS), lambda: ask(server, OURS, doubt=True)
        )
    prompts = NODES * SAMPLES * ANSWER_PROMPT + REQUERIES * REQUERY_PROMPT
    prompts += (1 + REQUERIES) * REWRITES * REWRITE_PROMPT
    told = (
        f"the published code's calls as it batches them (104 answers in batches of 64, 4 re-queries, 15 rewrites, "
        f"{prompts:,} prompt tokens): {published.median:.1f} s; every sample takes one of {SLOTS} slots"
    )
    yield at_least(
        "answer_vs_ava", ratio(published, sure), 7, f"{told}. Effort medium, whose samples agree: {sure.median:.1f} s"
    )
    yield at_least(
        "answer_vs_ava_in_doubt",
        ratio(published, doubt),
        3,
        f"{told}. Effort medium, whose samples never agree: {doubt.median:.1f} s",
    )


def replay(url: str) -> int:
    """Make the published tree's calls in its order, each batch after the one before; return their number.

    Its search is depth first: each of five retrievals rewrites the query three times, and four of them follow a
    re-query. All answers come last.
    """
    turn = next(_NUMBER)
    number = count()
    model = OpenAIChatModel(base_url=url, model="scripted", concurrency=BATCH)
    calls = 0

    def prompt(tokens: int, written: int) -> str:
        return f"Question {turn}, call {next(number)}. {_WRITE}{written}. {_text(4 * tokens)}"[: 4 * tokens]

    with ThreadPoolExecutor(max_workers=BATCH) as pool:

        def send(prompts: Sequence[str], written: int) -> None:
            nonlocal calls
            for first in range(0, len(prompts), BATCH):
                batch = prompts[first : first + BATCH]
                for sent in [pool.submit(_ask, model, text, written) for text in batch]:
                    sent.result()
                calls += len(batch)

        def retrieve() -> None:
            send([prompt(REWRITE_PROMPT, REWRITE_WORDS) for _ in range(REWRITES)], REWRITE_WORDS)

        retrieve()
        for _ in range(REQUERIES):
            send([prompt(REQUERY_PROMPT, REQUERY_WORDS)], REQUERY_WORDS)
            retrieve()
        contexts = [prompt(ANSWER_PROMPT, ANSWER_WORDS) for _ in range(NODES)]
        send([context for context in contexts for _ in range(SAMPLES)], ANSWER_WORDS)
    return calls


@cache
def _text(characters: int) -> str:
    return filler(random.Random(characters), characters)


def _ask(model: OpenAIChatModel, prompt: str, written: int) -> None:
    model.sample([Message("user", (prompt,))], stage="published", meter=Meter(), max_tokens=2 * written)


def either_words(request: Mapping[str, Any]) -> str | Sequence[str]:
    """Write as many words as a replayed prompt says, and what the engine's prompts ask for."""
    prompt = str(request["messages"][0]["content"])
    if _WRITE not in prompt:
        return words(request)
    written = int(prompt.split(_WRITE)[1].split(".")[0])
    return json.dumps({"answer": filler(random.Random(written), 4 * written - 16)})
