"""From a question's words to what it asks for. Text of a video never takes part."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.reading.language import heed_language
from gpu_workers.engine.answering.reading.naming import narrow_to_time
from gpu_workers.engine.answering.reading.quotes import read_quotes
from gpu_workers.engine.answering.reading.routing import routed
from gpu_workers.engine.answering.reading.titles import narrow_to_videos


def understand(asked: Asked, calls: Calls) -> Asked:
    """Return asked with what was understood from the question, and with its graph narrowed to the videos and the time
    that it names.

    The steps, each in a module of its own: language, videos, exact words, time, route. May raise Halt.
    """
    asked = narrow_to_videos(heed_language(asked, calls))
    asked = narrow_to_time(read_quotes(asked), calls, language=asked.question_language)
    return replace(asked, understood=routed(asked, calls, asked.understood))
