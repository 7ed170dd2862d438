from typing import Literal

Verdict = Literal["right", "wrong"]

VERDICT_VALUES: set[Verdict] = {
    "right",
    "wrong",
}


def check_verdict(value: str) -> Verdict:
    if value in VERDICT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {VERDICT_VALUES!r}")
