from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.video_timings_stages_ms import VideoTimingsStagesMs


T = TypeVar("T", bound="VideoTimings")


@_attrs_define
class VideoTimings:
    """
    Attributes:
        queue_ms (int | None): From creation until indexing began.
        index_ms (int | None): From the start of indexing until ready.
        realtime_factor (float | None): Duration of the video divided by index_ms.
        stages_ms (VideoTimingsStagesMs): Milliseconds of work by stage, summed over segments.
    """

    queue_ms: int | None
    index_ms: int | None
    realtime_factor: float | None
    stages_ms: VideoTimingsStagesMs
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        queue_ms: int | None
        queue_ms = self.queue_ms

        index_ms: int | None
        index_ms = self.index_ms

        realtime_factor: float | None
        realtime_factor = self.realtime_factor

        stages_ms = self.stages_ms.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "queue_ms": queue_ms,
                "index_ms": index_ms,
                "realtime_factor": realtime_factor,
                "stages_ms": stages_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.video_timings_stages_ms import VideoTimingsStagesMs  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_queue_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        queue_ms = _parse_queue_ms(d.pop("queue_ms"))

        def _parse_index_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        index_ms = _parse_index_ms(d.pop("index_ms"))

        def _parse_realtime_factor(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        realtime_factor = _parse_realtime_factor(d.pop("realtime_factor"))

        stages_ms = VideoTimingsStagesMs.from_dict(d.pop("stages_ms"))

        video_timings = cls(
            queue_ms=queue_ms,
            index_ms=index_ms,
            realtime_factor=realtime_factor,
            stages_ms=stages_ms,
        )

        video_timings.additional_properties = d
        return video_timings

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
