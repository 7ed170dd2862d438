from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.frame_image import FrameImage


T = TypeVar("T", bound="FoundObject")


@_attrs_define
class FoundObject:
    """A tracked object that was found.

    Attributes:
        object_id (str): Id of the object in the index that the search read.
        video_id (str): Video of the object.
        video_title (str): Title of the video; empty if it has none.
        n (int): Index of the object in the order of first appearance, from 0.
        category (str): What the object is, such as `person`.
        colour (str): Its colour; empty if it is not known.
        start_ms (int): Since when the object is visible around the moment at which it fits best, in milliseconds.
        end_ms (int): Until when it is visible there.
        start_at (datetime.datetime | None): When it was filmed, in the video's time zone; null if unknown.
        end_at (datetime.datetime | None): When it ended, in the video's time zone; null if unknown.
        score (float): How well the object fits, from 0 to 1. It is a similarity, compares only within one search, and
            is small with some embedders even if the object fits well.
        frame (FrameImage | None): The frame next to the moment at which the object fits best.
    """

    object_id: str
    video_id: str
    video_title: str
    n: int
    category: str
    colour: str
    start_ms: int
    end_ms: int
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    score: float
    frame: FrameImage | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.frame_image import FrameImage  # noqa: PLC0415

        object_id = self.object_id

        video_id = self.video_id

        video_title = self.video_title

        n = self.n

        category = self.category

        colour = self.colour

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

        score = self.score

        frame: dict[str, Any] | None
        if isinstance(self.frame, FrameImage):
            frame = self.frame.to_dict()
        else:
            frame = self.frame

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object_id": object_id,
                "video_id": video_id,
                "video_title": video_title,
                "n": n,
                "category": category,
                "colour": colour,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "start_at": start_at,
                "end_at": end_at,
                "score": score,
                "frame": frame,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.frame_image import FrameImage  # noqa: PLC0415

        d = dict(src_dict)
        object_id = d.pop("object_id")

        video_id = d.pop("video_id")

        video_title = d.pop("video_title")

        n = d.pop("n")

        category = d.pop("category")

        colour = d.pop("colour")

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

        score = d.pop("score")

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

        found_object = cls(
            object_id=object_id,
            video_id=video_id,
            video_title=video_title,
            n=n,
            category=category,
            colour=colour,
            start_ms=start_ms,
            end_ms=end_ms,
            start_at=start_at,
            end_at=end_at,
            score=score,
            frame=frame,
        )

        found_object.additional_properties = d
        return found_object

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
