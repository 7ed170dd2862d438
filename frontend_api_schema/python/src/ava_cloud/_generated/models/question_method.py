from typing import Literal

QuestionMethod = Literal[
    "ava", "avataar", "avp_lite", "caption_rag", "dvd_lite", "ravu", "uniform", "vector", "videoagent", "videoagent_mem"
]

QUESTION_METHOD_VALUES: set[QuestionMethod] = {
    "ava",
    "avataar",
    "avp_lite",
    "caption_rag",
    "dvd_lite",
    "ravu",
    "uniform",
    "vector",
    "videoagent",
    "videoagent_mem",
}


def check_question_method(value: str) -> QuestionMethod:
    if value in QUESTION_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTION_METHOD_VALUES!r}")
