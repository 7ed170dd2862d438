from typing import Literal

Fusion = Literal["borda", "contrast", "rrf", "sum"]

FUSION_VALUES: set[Fusion] = {
    "borda",
    "contrast",
    "rrf",
    "sum",
}


def check_fusion(value: str) -> Fusion:
    if value in FUSION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FUSION_VALUES!r}")
