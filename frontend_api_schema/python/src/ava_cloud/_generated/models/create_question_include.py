from typing import Literal

CreateQuestionInclude = Literal["trace"]

CREATE_QUESTION_INCLUDE_VALUES: set[CreateQuestionInclude] = {
    "trace",
}


def check_create_question_include(value: str) -> CreateQuestionInclude:
    if value in CREATE_QUESTION_INCLUDE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_QUESTION_INCLUDE_VALUES!r}")
