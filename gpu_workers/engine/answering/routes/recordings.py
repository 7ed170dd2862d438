"""Questions that the recordings themselves answer, without an event: how long they are, and when they were filmed."""

from __future__ import annotations

import re
from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.ending.final_answer import without_text
from gpu_workers.engine.answering.reading.routing import ROUTED_METHOD
from gpu_workers.engine.answering.routes.outside import filmed
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock

MOST_VIDEOS = 12
"""Maximum number of videos that an answer names; more are counted."""

OWN_DATA = "this is what the recordings' own data say; no event was read"

_RECORDING = (
    r"(?:(?:whole|entire|full|complete) )?(?:videos?|recordings?|clips?|films?|movies?|footage|tapes?|streams?)"
)
_THE = r"(?:the|this|that|these|those|my|our|all|each|every|it)(?: of (?:the|these|those))?"
_LENGTH = (
    rf"how long (?:is|are|was|were|does|do|did) {_THE} {_RECORDING}(?: last| run| take| go on)?",
    rf"(?:what is|what's|what are) the (?:length|duration|running time|runtime)s? of {_THE} {_RECORDING}",
    r"wie lang(?:e)? (?:ist|sind|dauert|dauern|läuft|geht) (?:das|dieses|der|dieser|die|diese|alle) (?:ganze )?"
    r"(?:videos?|filme?|aufnahmen?|clips?)",
    r"cu[aá]nto dura(?:n)? (?:el|este|la|esta|los|estos|las|estas) "
    r"(?:v[ií]deos?|grabaci(?:ón|ones)|pel[ií]culas?|clips?)",
    r"(?:这个|这段|該|此)?(?:视频|視頻|影片|录像|錄像)(?:有)?多(?:长|長)(?:时间|時間)?",
)
_FILMED = (
    rf"(?:when|at what time|on what (?:date|day)|on which (?:date|day)) (?:is|was|were) {_THE} {_RECORDING} "
    r"(?:filmed|recorded|shot|made|taken|captured)",
    rf"from (?:when|what (?:date|day|time)) is {_THE} {_RECORDING}",
    r"wann (?:wurden?|ist|sind) (?:das|dieses|der|dieser|die|diese|alle) (?:videos?|filme?|aufnahmen?|clips?) "
    r"(?:aufgenommen|gefilmt|gedreht)(?: worden)?",
    r"cu[aá]ndo se (?:grab[oó]|film[oó]|grabaron|filmaron) (?:el|este|la|esta|los|estos|las|estas) "
    r"(?:v[ií]deos?|grabaci(?:ón|ones)|pel[ií]culas?|clips?)",
)
_ASKS_LENGTH, _ASKS_FILMED = (re.compile("|".join(forms), re.IGNORECASE) for forms in (_LENGTH, _FILMED))


def length_answer(asked: Asked, calls: Calls) -> Answer | None:
    """Return how long the videos are that the question asks about, or when they were filmed; None if it asks something
    else, or if nobody knows when. Only method `ava` answers so, where nothing else was asked for."""
    question = asked.question
    if question.method != ROUTED_METHOD or question.route != "auto" or question.choices:
        return None
    words = " ".join(asked.own_words.split()).strip(" ?!.¿¡？。")
    asks_when = _ASKS_FILMED.fullmatch(words) is not None
    if asks_when is (_ASKS_LENGTH.fullmatch(words) is not None):
        return None
    readable = [recording for recording in asked.recordings.values() if recording.until_ms > 0]
    known = [recording for recording in readable if filmed(recording.clock)] if asks_when else readable
    if not known:
        return None
    texts = [f"{clock(one.until_ms, hours=True)}{filmed(one.clock)}" for one in known]
    if len(asked.recordings) > 1:
        names = [f'"{as_data(one.title)}"' if one.title else f"video {n}" for n, one in enumerate(known, start=1)]
        texts = [f"{name}: {text}" for name, text in zip(names, texts, strict=True)]
    more = [f"and {len(texts) - MOST_VIDEOS} more"] if len(texts) > MOST_VIDEOS else []
    answer = without_text(calls, [], "answered", "")
    return replace(
        answer, text="; ".join([*texts[:MOST_VIDEOS], *more]), signals={"head": "recordings"}, notes=(OWN_DATA,)
    )
