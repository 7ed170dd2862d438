from typing import Literal

GetQuestionInclude = Literal["trace"]

GET_QUESTION_INCLUDE_VALUES: set[GetQuestionInclude] = {
    "trace",
}


def check_get_question_include(value: str) -> GetQuestionInclude:
    if value in GET_QUESTION_INCLUDE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_QUESTION_INCLUDE_VALUES!r}")
