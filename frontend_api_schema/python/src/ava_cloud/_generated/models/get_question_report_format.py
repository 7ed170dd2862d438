from typing import Literal

GetQuestionReportFormat = Literal["html", "pdf"]

GET_QUESTION_REPORT_FORMAT_VALUES: set[GetQuestionReportFormat] = {
    "html",
    "pdf",
}


def check_get_question_report_format(value: str) -> GetQuestionReportFormat:
    if value in GET_QUESTION_REPORT_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_QUESTION_REPORT_FORMAT_VALUES!r}")
