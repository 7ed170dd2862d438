"""The conversation of a loop: it only grows, so that a server's prefix cache reads each step once.

If it no longer fits the window, the oldest observations shrink to a line each until half of the window is free. That
breaks the prefix once and not at every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.wording import without_tags
from gpu_workers.engine.models.roles import Message

REPLY_CHARACTERS = 4_000
"""Maximum length of a reply that is repeated in the conversation."""


@dataclass(slots=True)
class _Turn:
    """A reply and what it led to. brief: the observation in a line; "" once it is shortened."""

    reply: str
    observation: str
    brief: str


class Conversation:
    """Messages of one loop. window: tokens of the reasoner's window; room: of them for a reply."""

    def __init__(
        self, system: str, opening: str, *, count_tokens: Callable[[str], int], window: int, reply_tokens: int
    ) -> None:
        self._count = count_tokens
        self._window, self._reply_tokens = window, reply_tokens
        self._system = system
        self._opening = opening
        self._turns: list[_Turn] = []
        most = max(1, window // 2 - count_prompt(count_tokens, [Message("system", (system,))]))
        self._opening = cut_lines(opening, count_tokens, most)

    def add(self, reply: str, observation: str, brief: str) -> None:
        """Add a reply and the observation that it led to, both without tags that end an observation."""
        text = without_tags(reply)[:REPLY_CHARACTERS] or "(no reply)"
        self._turns.append(_Turn(text, f"<observation>\n{without_tags(observation)}\n</observation>", brief))

    def close(self, instruction: str) -> None:
        """Add an instruction to what is sent next."""
        if self._turns:
            self._turns[-1].observation += f"\n{instruction}"
        else:
            self._opening += f"\n{instruction}"

    def messages(self) -> list[Message]:
        """Return the messages, shortened if they do not fit the window."""
        if self._over(self._window - self._reply_tokens):
            for turn in self._turns[:-1]:
                if turn.brief:
                    turn.observation, turn.brief = f"<observation>\n{without_tags(turn.brief)}\n</observation>", ""
                if not self._over(self._window // 2):
                    break
        while self._over(self._window - self._reply_tokens) and len(self._turns) > 1:
            # Even the lines are too long: the oldest steps go.
            self._turns.pop(0)
        return self._wire()

    def tokens(self) -> int:
        """Return an upper estimate of the tokens of the messages."""
        return count_prompt(self._count, self._wire())

    def _over(self, tokens: int) -> bool:
        return self.tokens() > tokens

    def _wire(self) -> list[Message]:
        messages = [Message("system", (self._system,)), Message("user", (self._opening,))]
        for turn in self._turns:
            messages += [Message("assistant", (turn.reply,)), Message("user", (turn.observation,))]
        return messages


def cut_lines(text: str, count_tokens: Callable[[str], int], most: int) -> str:
    """Return the first lines of text that fit into most tokens, at least a part of the first one; "…" says that there
    were more."""
    if not text or count_tokens(text) <= most:
        return text
    kept: list[str] = []
    for line in text.splitlines():
        if count_tokens("\n".join([*kept, line, "…"])) > most:
            break
        kept.append(line)
    if not kept:
        first = text.splitlines()[0]
        while len(first) > 1 and count_tokens(f"{first}\n…") > most:
            first = first[: len(first) * 3 // 4]
        kept = [first]
    return "\n".join([*kept, "…"])
