from typing import Literal

ListQuestionBatchesStatus = Literal["canceled", "completed", "running"]

LIST_QUESTION_BATCHES_STATUS_VALUES: set[ListQuestionBatchesStatus] = {
    "canceled",
    "completed",
    "running",
}


def check_list_question_batches_status(value: str) -> ListQuestionBatchesStatus:
    if value in LIST_QUESTION_BATCHES_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_QUESTION_BATCHES_STATUS_VALUES!r}")
