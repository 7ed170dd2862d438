"""What a reasoner reads before its first step: the rules, the tools, the question and its videos."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_workers.engine.answering.agent.tools.contract import Tool
from gpu_workers.engine.answering.agent.tools.desk import MISSING, Desk
from gpu_workers.engine.answering.wording import choice_lines, conversation, search_line
from gpu_workers.engine.prompts import load

LOOP_PROMPTS = frozenset({"loop_rules", "loop_opening"})

SMALL_WINDOW = "small_window"
"""Code of Answer.degraded where the reasoner's window is too small for all tools."""

CORRECTION = 'That was no call. Reply with one JSON object: {"thought": "...", "call": {"tool": "...", ...}}'
FINISH_NOW = "Only finish may be called now: give the answer that fits best what you have seen."
NO_EVIDENCE = "No event was named that shows this. Use a tool before you finish, and name the events."
"""What a reasoner reads whose reply is no call, who must end, or who ends before it has looked."""

MOST_VIDEOS = 20
"""Maximum number of videos that are listed."""


def fitting_tools(desk: Desk, tools: Sequence[Tool], finishing: Tool, rules: str, steps: int) -> tuple[list[Tool], str]:
    """Return the tools that can be used here, as many as a quarter of the reasoner's window can describe, and the
    system prompt. What the other tools lack is noted on the desk."""
    usable = [tool for tool in tools if tool.needs <= desk.artifacts]
    lacks = {MISSING[need] for tool in tools for need in tool.needs - desk.artifacts if need in MISSING}
    desk.lacking.update(dict.fromkeys(sorted(lacks)))
    reasoner = desk.asked.models.reasoner
    while True:
        system = _rules(desk, tools, usable, finishing, rules, steps)
        if len(usable) < 2 or reasoner.count_tokens(system) <= reasoner.context_tokens // 4:
            return usable, system
        usable = usable[:-1]
        desk.lacking[SMALL_WINDOW] = None


def _rules(desk: Desk, tools: Sequence[Tool], usable: Sequence[Tool], finishing: Tool, rules: str, steps: int) -> str:
    videos = max(1, len(desk.extents))
    lines = []
    for tool in (*usable, finishing):
        arguments = ", ".join(f"{name}: {kind.wording(videos=videos)}" for name, kind in tool.arguments.items())
        lines.append(f"{tool.name}({arguments}): {tool.description}")
    unusable = {
        tool.name: ", ".join(sorted(MISSING[need] for need in tool.needs - desk.artifacts if need in MISSING))
        for tool in tools
        if not tool.needs <= desk.artifacts
    }
    unavailable = "; ".join(f"{name} ({why})" if why else name for name, why in unusable.items())
    return load("loop_rules", desk.asked.question.profile).substitute(
        rules=rules,
        tools="\n".join(lines),
        unavailable=f"Not available for this video: {unavailable}." if unavailable else "",
        steps=steps,
    )


def opening_of(desk: Desk, opening: str) -> str:
    question = desk.asked.question
    videos = [
        f"Video {number}: {desk.place(video, desk.extents[video]).split(' ')[-1]}"
        for number, video in list(desk.videos.items())[:MOST_VIDEOS]
    ]
    several = f"There are {len(desk.videos)} videos in all." if len(desk.videos) > len(videos) else ""
    before = f"<text>\n{conversation(question.history)}\n</text>\n" if question.history else ""
    text = load("loop_opening", question.profile).substitute(
        question=question.question,
        choices=choice_lines(question.choices),
        language=search_line(desk.asked.question_language),
        videos="\n".join([*videos, several]).strip(),
        opening=opening,
    )
    return before + text
