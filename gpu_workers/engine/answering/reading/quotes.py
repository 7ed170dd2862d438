"""The words that a question puts in quotation marks: they must be found exactly."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.retrieval.quotation import quoted
from gpu_workers.engine.retrieval.word_terms import MAX_EXACT


def read_quotes(asked: Asked) -> Asked:
    """Return asked with the phrases that the customer put in quotation marks, at most MAX_EXACT."""
    _, phrases = quoted(asked.own_words)
    if not phrases:
        return asked
    return replace(asked, understood=replace(asked.understood, quoted=phrases[:MAX_EXACT]))
