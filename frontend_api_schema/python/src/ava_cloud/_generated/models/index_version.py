from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.index_version_stages_ms import IndexVersionStagesMs
    from ..models.resource_error import ResourceError


T = TypeVar("T", bound="IndexVersion")


@_attrs_define
class IndexVersion:
    """One index of a video.

    Attributes:
        object_ (str):
        n (int):
        state (str): Known values: `building`, `ready`, `failed`, `superseded`. Others may follow.
        active (bool): Whether questions read this index.
        indexed_until_ms (int):
        stages_ms (IndexVersionStagesMs): Milliseconds of work by stage, summed over segments.
        error (None | ResourceError):
        created_at (datetime.datetime):
        ready_at (datetime.datetime | None):
    """

    object_: str
    n: int
    state: str
    active: bool
    indexed_until_ms: int
    stages_ms: IndexVersionStagesMs
    error: None | ResourceError
    created_at: datetime.datetime
    ready_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.resource_error import ResourceError  # noqa: PLC0415

        object_ = self.object_

        n = self.n

        state = self.state

        active = self.active

        indexed_until_ms = self.indexed_until_ms

        stages_ms = self.stages_ms.to_dict()

        error: dict[str, Any] | None
        if isinstance(self.error, ResourceError):
            error = self.error.to_dict()
        else:
            error = self.error

        created_at = self.created_at.isoformat()

        ready_at: None | str
        if isinstance(self.ready_at, datetime.datetime):
            ready_at = self.ready_at.isoformat()
        else:
            ready_at = self.ready_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "n": n,
                "state": state,
                "active": active,
                "indexed_until_ms": indexed_until_ms,
                "stages_ms": stages_ms,
                "error": error,
                "created_at": created_at,
                "ready_at": ready_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.index_version_stages_ms import IndexVersionStagesMs  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        n = d.pop("n")

        state = d.pop("state")

        active = d.pop("active")

        indexed_until_ms = d.pop("indexed_until_ms")

        stages_ms = IndexVersionStagesMs.from_dict(d.pop("stages_ms"))

        def _parse_error(data: object) -> None | ResourceError:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = ResourceError.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ResourceError, data)

        error = _parse_error(d.pop("error"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_ready_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ready_at_type_0 = datetime.datetime.fromisoformat(data)

                return ready_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ready_at = _parse_ready_at(d.pop("ready_at"))

        index_version = cls(
            object_=object_,
            n=n,
            state=state,
            active=active,
            indexed_until_ms=indexed_until_ms,
            stages_ms=stages_ms,
            error=error,
            created_at=created_at,
            ready_at=ready_at,
        )

        index_version.additional_properties = d
        return index_version

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
