from typing import Literal

ListQuestionsStatus = Literal["canceled", "failed", "queued", "running", "succeeded"]

LIST_QUESTIONS_STATUS_VALUES: set[ListQuestionsStatus] = {
    "canceled",
    "failed",
    "queued",
    "running",
    "succeeded",
}


def check_list_questions_status(value: str) -> ListQuestionsStatus:
    if value in LIST_QUESTIONS_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_QUESTIONS_STATUS_VALUES!r}")
