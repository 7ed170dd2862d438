"""Numbers of tokens of a text without its tokenizer. The API estimates by them, and imports no client of models."""

from __future__ import annotations

_BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 for each token of a window. Texts have more bytes per token, so one that is cut to this fits."""


def tokens_of(text: str) -> int:
    """Return more tokens than BPE vocabularies need for prose and JSON: the bytes of UTF-8 over 3, rounded up."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


def cut(text: str, tokens: int) -> str:
    """Return the beginning of text that fits into that many tokens, by its bytes."""
    longest = tokens * _BYTES_PER_TOKEN
    return text if len(text) * 4 <= longest else text.encode()[:longest].decode(errors="ignore")
