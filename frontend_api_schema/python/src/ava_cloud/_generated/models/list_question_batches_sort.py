from typing import Literal

ListQuestionBatchesSort = Literal["-created_at", "created_at"]

LIST_QUESTION_BATCHES_SORT_VALUES: set[ListQuestionBatchesSort] = {
    "-created_at",
    "created_at",
}


def check_list_question_batches_sort(value: str) -> ListQuestionBatchesSort:
    if value in LIST_QUESTION_BATCHES_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_QUESTION_BATCHES_SORT_VALUES!r}")
