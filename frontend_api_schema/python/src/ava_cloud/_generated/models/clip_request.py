from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.clip_captions import ClipCaptions, check_clip_captions
from ..models.clip_mode import ClipMode, check_clip_mode
from ..types import UNSET, Unset

T = TypeVar("T", bound="ClipRequest")


@_attrs_define
class ClipRequest:
    """The part of a recording to make a clip of.

    Attributes:
        video_id (str): Video of the clip.
        start_ms (int): Begin of the span, in ms.
        end_ms (int): End of the span, at most 10 minutes later.
        mode (ClipMode | Unset):
        captions (ClipCaptions | Unset):
        title (str | Unset): Title of the file.
        question_id (None | str | Unset): Question whose evidence the clip shows.
    """

    video_id: str
    start_ms: int
    end_ms: int
    mode: ClipMode | Unset = UNSET
    captions: ClipCaptions | Unset = UNSET
    title: str | Unset = UNSET
    question_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        start_ms = self.start_ms

        end_ms = self.end_ms

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        captions: str | Unset = UNSET
        if not isinstance(self.captions, Unset):
            captions = self.captions

        title = self.title

        question_id: None | str | Unset
        if isinstance(self.question_id, Unset):
            question_id = UNSET
        else:
            question_id = self.question_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "start_ms": start_ms,
                "end_ms": end_ms,
            }
        )
        if mode is not UNSET:
            field_dict["mode"] = mode
        if captions is not UNSET:
            field_dict["captions"] = captions
        if title is not UNSET:
            field_dict["title"] = title
        if question_id is not UNSET:
            field_dict["question_id"] = question_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        start_ms = d.pop("start_ms")

        end_ms = d.pop("end_ms")

        _mode = d.pop("mode", UNSET)
        mode: ClipMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_clip_mode(_mode)

        _captions = d.pop("captions", UNSET)
        captions: ClipCaptions | Unset
        if isinstance(_captions, Unset):
            captions = UNSET
        else:
            captions = check_clip_captions(_captions)

        title = d.pop("title", UNSET)

        def _parse_question_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        question_id = _parse_question_id(d.pop("question_id", UNSET))

        clip_request = cls(
            video_id=video_id,
            start_ms=start_ms,
            end_ms=end_ms,
            mode=mode,
            captions=captions,
            title=title,
            question_id=question_id,
        )

        clip_request.additional_properties = d
        return clip_request

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
