"""The conversation of a loop. It only grows, so that a server's prefix cache reads each step once.

If it no longer fits the window, the oldest observations shrink to a line each until half of the window is free. That
breaks the prefix once and not at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_workers.engine.answering.agent.tool import Tool
from gpu_workers.engine.answering.agent.toolbox import MISSING, Toolbox
from gpu_workers.engine.answering.calls import count_prompt
from gpu_workers.engine.answering.context import cut_lines
from gpu_workers.engine.answering.wording import choice_lines, search_line, without_tags
from gpu_workers.engine.models.roles import ChatModel, Message
from gpu_workers.engine.prompts import load

REPLY_CHARACTERS = 4_000
"""Maximum length of a reply that is repeated in the conversation."""


@dataclass(slots=True)
class _Turn:
    """A reply and what it led to. brief: the observation in a line; "" once it is shortened."""

    reply: str
    observation: str
    brief: str


class Conversation:
    """Messages of one loop. reply_tokens: of the reasoner's window that are kept for a reply."""

    def __init__(self, system: str, opening: str, *, reasoner: ChatModel, reply_tokens: int) -> None:
        self._count, self._window = reasoner.count_tokens, reasoner.context_tokens
        self._reply_tokens = reply_tokens
        self._system = system
        self._turns: list[_Turn] = []
        most = max(1, self._window // 2 - count_prompt(self._count, [Message("system", (system,))]))
        self._opening = cut_lines(opening, self._count, most)

    def add(self, reply: str, observation: str, brief: str) -> None:
        """Add a reply and the observation that it led to, both without tags that end an observation."""
        text = without_tags(reply)[:REPLY_CHARACTERS] or "(no reply)"
        self._turns.append(_Turn(text, _observed(observation), brief))

    def close(self, instruction: str) -> None:
        """Add an instruction to what is sent next."""
        if self._turns:
            self._turns[-1].observation += f"\n{instruction}"
        else:
            self._opening += f"\n{instruction}"

    def messages(self) -> list[Message]:
        """Return the messages, shortened if they do not fit the window."""
        room = self._window - self._reply_tokens
        if self.tokens() > room:
            for turn in self._turns[:-1]:
                if turn.brief:
                    turn.observation, turn.brief = _observed(turn.brief), ""
                if self.tokens() <= self._window // 2:
                    break
        while self.tokens() > room and len(self._turns) > 1:
            # Even the lines are too long: the oldest steps go.
            self._turns.pop(0)
        return self._wire()

    def tokens(self) -> int:
        """Return an upper estimate of the tokens of the messages."""
        return count_prompt(self._count, self._wire())

    def _wire(self) -> list[Message]:
        messages = [Message("system", (self._system,)), Message("user", (self._opening,))]
        for turn in self._turns:
            messages += [Message("assistant", (turn.reply,)), Message("user", (turn.observation,))]
        return messages


def _observed(text: str) -> str:
    return f"<observation>\n{without_tags(text)}\n</observation>"


SMALL_WINDOW = "small_window"
"""Code of Answer.degraded where the reasoner's window is too small for all tools."""

CORRECTION = 'That was no call. Reply with one JSON object: {"thought": "...", "call": {"tool": "...", ...}}'
FINISH_NOW = "Only finish may be called now: give the answer that fits best what you have seen."
NO_EVIDENCE = "No event was named that shows this. Use a tool before you finish, and name the events."
"""What a reasoner reads whose reply is no call, who must end, or who ends before it has looked."""

MOST_VIDEOS = 20
"""Maximum number of videos that are listed."""


def usable_tools(
    toolbox: Toolbox, tools: Sequence[Tool], finishing: Tool, rules: str, steps: int
) -> tuple[list[Tool], str]:
    """Return the tools that can be used here, as many as a quarter of the reasoner's window can describe, and the
    system prompt. What the other tools lack is noted on the toolbox."""
    lacks = {
        tool.name: sorted(MISSING[need] for need in tool.needs - toolbox.artifacts if need in MISSING)
        for tool in tools
        if not tool.needs <= toolbox.artifacts
    }
    toolbox.missing.update(dict.fromkeys(sorted({code for codes in lacks.values() for code in codes})))
    unavailable = "; ".join(f"{name} ({', '.join(codes)})" if codes else name for name, codes in lacks.items())
    usable = [tool for tool in tools if tool.name not in lacks]
    videos, reasoner = max(1, len(toolbox.extents)), toolbox.asked.models.reasoner
    template = load("loop_rules", toolbox.asked.question.profile)
    while True:
        system = template.substitute(
            rules=rules,
            tools="\n".join(tool.in_words(videos=videos) for tool in (*usable, finishing)),
            unavailable=f"Not available for this video: {unavailable}." if unavailable else "",
            steps=steps,
        )
        if len(usable) < 2 or reasoner.count_tokens(system) <= reasoner.context_tokens // 4:
            return usable, system
        usable = usable[:-1]
        toolbox.missing[SMALL_WINDOW] = None


def opening_prompt(toolbox: Toolbox, opening: str) -> str:
    """Return what a reasoner reads before its first step. opening: of the method."""
    question = toolbox.asked.question
    videos = [
        f"Video {number}: {toolbox.place(video, toolbox.extents[video]).split(' ')[-1]}"
        for number, video in list(toolbox.videos.items())[:MOST_VIDEOS]
    ]
    several = f"There are {len(toolbox.videos)} videos in all." if len(toolbox.videos) > len(videos) else ""
    text = load("loop_opening", question.profile).substitute(
        question=question.question,
        choices=choice_lines(question.choices),
        language=search_line(toolbox.asked.question_language),
        videos="\n".join([*videos, several]).strip(),
        opening=opening,
    )
    return f"{toolbox.history}\n{text}" if toolbox.history else text
