from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WebhookAttempt")


@_attrs_define
class WebhookAttempt:
    """
    Attributes:
        n (int): Number of the attempt, from 1.
        status_code (int | None): HTTP status of your reply; null without one.
        error_code (str): Why the attempt failed; empty if it succeeded.
        response_excerpt (str): The beginning of your reply.
        latency_ms (int):
        attempted_at (datetime.datetime):
    """

    n: int
    status_code: int | None
    error_code: str
    response_excerpt: str
    latency_ms: int
    attempted_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        n = self.n

        status_code: int | None
        status_code = self.status_code

        error_code = self.error_code

        response_excerpt = self.response_excerpt

        latency_ms = self.latency_ms

        attempted_at = self.attempted_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "n": n,
                "status_code": status_code,
                "error_code": error_code,
                "response_excerpt": response_excerpt,
                "latency_ms": latency_ms,
                "attempted_at": attempted_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        n = d.pop("n")

        def _parse_status_code(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        status_code = _parse_status_code(d.pop("status_code"))

        error_code = d.pop("error_code")

        response_excerpt = d.pop("response_excerpt")

        latency_ms = d.pop("latency_ms")

        attempted_at = datetime.datetime.fromisoformat(d.pop("attempted_at"))

        webhook_attempt = cls(
            n=n,
            status_code=status_code,
            error_code=error_code,
            response_excerpt=response_excerpt,
            latency_ms=latency_ms,
            attempted_at=attempted_at,
        )

        webhook_attempt.additional_properties = d
        return webhook_attempt

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
