from typing import Literal

ListQuestionsSort = Literal["-created_at", "created_at"]

LIST_QUESTIONS_SORT_VALUES: set[ListQuestionsSort] = {
    "-created_at",
    "created_at",
}


def check_list_questions_sort(value: str) -> ListQuestionsSort:
    if value in LIST_QUESTIONS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_QUESTIONS_SORT_VALUES!r}")
