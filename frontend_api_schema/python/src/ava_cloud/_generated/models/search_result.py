from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.frame_image import FrameImage
    from ..models.highlight import Highlight
    from ..models.inner_moment import InnerMoment
    from ..models.search_reason import SearchReason


T = TypeVar("T", bound="SearchResult")


@_attrs_define
class SearchResult:
    """An event that was found.

    Attributes:
        event_id (str): Id of the event in the index that the search read.
        video_id (str): Video of the event.
        video_title (str): Title of the video; empty if it has none.
        start_ms (int): Begin of the event in milliseconds.
        end_ms (int): End of the event in milliseconds.
        start_at (datetime.datetime | None): When it was filmed, in the video's time zone; null if unknown.
        end_at (datetime.datetime | None): When it ended, in the video's time zone; null if unknown.
        summary (str): What happens in the event.
        score (float): How well the event fits, from 0 to 1: the measured chance that it shows or says what the query
            describes, if half of all searches have something to find. Comparable between all searches of your installation,
            unless `calibrated` is false.
        reasons (list[SearchReason]): Why the event was found, most similar first.
        highlights (list[Highlight]): Texts of the event that show what was searched for: names first, then writing,
            speech and summary.
        frame (FrameImage | None): The frame that shows the event best.
        moments (list[InnerMoment]): Frames, spoken lines and writing inside the event that fit by themselves, best
            first, without overlap. Empty if only the event as a whole fits.
    """

    event_id: str
    video_id: str
    video_title: str
    start_ms: int
    end_ms: int
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    summary: str
    score: float
    reasons: list[SearchReason]
    highlights: list[Highlight]
    frame: FrameImage | None
    moments: list[InnerMoment]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.frame_image import FrameImage  # noqa: PLC0415

        event_id = self.event_id

        video_id = self.video_id

        video_title = self.video_title

        start_ms = self.start_ms

        end_ms = self.end_ms

        start_at: None | str
        if isinstance(self.start_at, datetime.datetime):
            start_at = self.start_at.isoformat()
        else:
            start_at = self.start_at

        end_at: None | str
        if isinstance(self.end_at, datetime.datetime):
            end_at = self.end_at.isoformat()
        else:
            end_at = self.end_at

        summary = self.summary

        score = self.score

        reasons = []
        for reasons_item_data in self.reasons:
            reasons_item = reasons_item_data.to_dict()
            reasons.append(reasons_item)

        highlights = []
        for highlights_item_data in self.highlights:
            highlights_item = highlights_item_data.to_dict()
            highlights.append(highlights_item)

        frame: dict[str, Any] | None
        if isinstance(self.frame, FrameImage):
            frame = self.frame.to_dict()
        else:
            frame = self.frame

        moments = []
        for moments_item_data in self.moments:
            moments_item = moments_item_data.to_dict()
            moments.append(moments_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event_id": event_id,
                "video_id": video_id,
                "video_title": video_title,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "start_at": start_at,
                "end_at": end_at,
                "summary": summary,
                "score": score,
                "reasons": reasons,
                "highlights": highlights,
                "frame": frame,
                "moments": moments,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.frame_image import FrameImage  # noqa: PLC0415
        from ..models.highlight import Highlight  # noqa: PLC0415
        from ..models.inner_moment import InnerMoment  # noqa: PLC0415
        from ..models.search_reason import SearchReason  # noqa: PLC0415

        d = dict(src_dict)
        event_id = d.pop("event_id")

        video_id = d.pop("video_id")

        video_title = d.pop("video_title")

        start_ms = d.pop("start_ms")

        end_ms = d.pop("end_ms")

        def _parse_start_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                start_at_type_0 = datetime.datetime.fromisoformat(data)

                return start_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        start_at = _parse_start_at(d.pop("start_at"))

        def _parse_end_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                end_at_type_0 = datetime.datetime.fromisoformat(data)

                return end_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        end_at = _parse_end_at(d.pop("end_at"))

        summary = d.pop("summary")

        score = d.pop("score")

        reasons = []
        _reasons = d.pop("reasons")
        for reasons_item_data in _reasons:
            reasons_item = SearchReason.from_dict(reasons_item_data)

            reasons.append(reasons_item)

        highlights = []
        _highlights = d.pop("highlights")
        for highlights_item_data in _highlights:
            highlights_item = Highlight.from_dict(highlights_item_data)

            highlights.append(highlights_item)

        def _parse_frame(data: object) -> FrameImage | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                frame_type_0 = FrameImage.from_dict(data)

                return frame_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FrameImage | None, data)

        frame = _parse_frame(d.pop("frame"))

        moments = []
        _moments = d.pop("moments")
        for moments_item_data in _moments:
            moments_item = InnerMoment.from_dict(moments_item_data)

            moments.append(moments_item)

        search_result = cls(
            event_id=event_id,
            video_id=video_id,
            video_title=video_title,
            start_ms=start_ms,
            end_ms=end_ms,
            start_at=start_at,
            end_at=end_at,
            summary=summary,
            score=score,
            reasons=reasons,
            highlights=highlights,
            frame=frame,
            moments=moments,
        )

        search_result.additional_properties = d
        return search_result

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
