from typing import Literal

DerivedText = Literal["redact", "remove"]

DERIVED_TEXT_VALUES: set[DerivedText] = {
    "redact",
    "remove",
}


def check_derived_text(value: str) -> DerivedText:
    if value in DERIVED_TEXT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DERIVED_TEXT_VALUES!r}")
