from typing import Literal

RouteWish = Literal["auto", "objects", "scan", "search", "time", "whole"]

ROUTE_WISH_VALUES: set[RouteWish] = {
    "auto",
    "objects",
    "scan",
    "search",
    "time",
    "whole",
}


def check_route_wish(value: str) -> RouteWish:
    if value in ROUTE_WISH_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ROUTE_WISH_VALUES!r}")
