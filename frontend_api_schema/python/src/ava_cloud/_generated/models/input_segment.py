from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.input_segment_source import InputSegmentSource
    from ..models.probe import Probe
    from ..models.resource_error import ResourceError


T = TypeVar("T", bound="InputSegment")


@_attrs_define
class InputSegment:
    """One appended piece of a recording.

    Attributes:
        id (str):
        object_ (str):
        video_id (str):
        n (int): Position in the order of appending, from 0.
        status (str): Known values: `queued`, `ready`, `failed`. Others may follow.
        source (InputSegmentSource):
        start_ms (int | None): Start in the video; null until every earlier segment is ready or failed.
        duration_ms (int | None):
        size_bytes (int):
        probe (None | Probe):
        error (None | ResourceError): Why the segment failed. A failed segment takes up no time.
        recorded_at (datetime.datetime | None): When the segment began, as you said; null if unknown.
        created_at (datetime.datetime):
        ready_at (datetime.datetime | None):
    """

    id: str
    object_: str
    video_id: str
    n: int
    status: str
    source: InputSegmentSource
    start_ms: int | None
    duration_ms: int | None
    size_bytes: int
    probe: None | Probe
    error: None | ResourceError
    recorded_at: datetime.datetime | None
    created_at: datetime.datetime
    ready_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.probe import Probe  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415

        id = self.id

        object_ = self.object_

        video_id = self.video_id

        n = self.n

        status = self.status

        source = self.source.to_dict()

        start_ms: int | None
        start_ms = self.start_ms

        duration_ms: int | None
        duration_ms = self.duration_ms

        size_bytes = self.size_bytes

        probe: dict[str, Any] | None
        if isinstance(self.probe, Probe):
            probe = self.probe.to_dict()
        else:
            probe = self.probe

        error: dict[str, Any] | None
        if isinstance(self.error, ResourceError):
            error = self.error.to_dict()
        else:
            error = self.error

        recorded_at: None | str
        if isinstance(self.recorded_at, datetime.datetime):
            recorded_at = self.recorded_at.isoformat()
        else:
            recorded_at = self.recorded_at

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
                "id": id,
                "object": object_,
                "video_id": video_id,
                "n": n,
                "status": status,
                "source": source,
                "start_ms": start_ms,
                "duration_ms": duration_ms,
                "size_bytes": size_bytes,
                "probe": probe,
                "error": error,
                "recorded_at": recorded_at,
                "created_at": created_at,
                "ready_at": ready_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.input_segment_source import InputSegmentSource  # noqa: PLC0415
        from ..models.probe import Probe  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        video_id = d.pop("video_id")

        n = d.pop("n")

        status = d.pop("status")

        source = InputSegmentSource.from_dict(d.pop("source"))

        def _parse_start_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        start_ms = _parse_start_ms(d.pop("start_ms"))

        def _parse_duration_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        duration_ms = _parse_duration_ms(d.pop("duration_ms"))

        size_bytes = d.pop("size_bytes")

        def _parse_probe(data: object) -> None | Probe:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                probe_type_0 = Probe.from_dict(data)

                return probe_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Probe, data)

        probe = _parse_probe(d.pop("probe"))

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

        def _parse_recorded_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                recorded_at_type_0 = datetime.datetime.fromisoformat(data)

                return recorded_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        recorded_at = _parse_recorded_at(d.pop("recorded_at"))

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

        input_segment = cls(
            id=id,
            object_=object_,
            video_id=video_id,
            n=n,
            status=status,
            source=source,
            start_ms=start_ms,
            duration_ms=duration_ms,
            size_bytes=size_bytes,
            probe=probe,
            error=error,
            recorded_at=recorded_at,
            created_at=created_at,
            ready_at=ready_at,
        )

        input_segment.additional_properties = d
        return input_segment

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
