from typing import Literal

ListQuestionsFeedback = Literal["right", "wrong"]

LIST_QUESTIONS_FEEDBACK_VALUES: set[ListQuestionsFeedback] = {
    "right",
    "wrong",
}


def check_list_questions_feedback(value: str) -> ListQuestionsFeedback:
    if value in LIST_QUESTIONS_FEEDBACK_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_QUESTIONS_FEEDBACK_VALUES!r}")
