from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ShareRequest")


@_attrs_define
class ShareRequest:
    """What a link shows, and until when.

    Attributes:
        expires_at (datetime.datetime): When the link ends, within 90 days.
        question_id (str | Unset): Question whose answer is shown.
        video_id (str | Unset): Video that is shown.
        clip_id (str | Unset): Clip that is shown. Give one of the three.
        start_ms (int | None | Unset): Begin of the span that is shown. The page of a span shows its events with their
            pictures, and not the recording, which would show more.
        end_ms (int | None | Unset): End of the span that is shown.
        play_recordings (bool | Unset): Whether the page of an answer plays the recordings that it cites, and jumps to
            each piece of evidence. Whoever has the link can then watch these recordings from begin to end. You need
            `videos:read`. By default `false`.
        title (str | Unset): Heading of the page.
    """

    expires_at: datetime.datetime
    question_id: str | Unset = UNSET
    video_id: str | Unset = UNSET
    clip_id: str | Unset = UNSET
    start_ms: int | None | Unset = UNSET
    end_ms: int | None | Unset = UNSET
    play_recordings: bool | Unset = UNSET
    title: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        expires_at = self.expires_at.isoformat()

        question_id = self.question_id

        video_id = self.video_id

        clip_id = self.clip_id

        start_ms: int | None | Unset
        if isinstance(self.start_ms, Unset):
            start_ms = UNSET
        else:
            start_ms = self.start_ms

        end_ms: int | None | Unset
        if isinstance(self.end_ms, Unset):
            end_ms = UNSET
        else:
            end_ms = self.end_ms

        play_recordings = self.play_recordings

        title = self.title

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "expires_at": expires_at,
            }
        )
        if question_id is not UNSET:
            field_dict["question_id"] = question_id
        if video_id is not UNSET:
            field_dict["video_id"] = video_id
        if clip_id is not UNSET:
            field_dict["clip_id"] = clip_id
        if start_ms is not UNSET:
            field_dict["start_ms"] = start_ms
        if end_ms is not UNSET:
            field_dict["end_ms"] = end_ms
        if play_recordings is not UNSET:
            field_dict["play_recordings"] = play_recordings
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        question_id = d.pop("question_id", UNSET)

        video_id = d.pop("video_id", UNSET)

        clip_id = d.pop("clip_id", UNSET)

        def _parse_start_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        start_ms = _parse_start_ms(d.pop("start_ms", UNSET))

        def _parse_end_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        end_ms = _parse_end_ms(d.pop("end_ms", UNSET))

        play_recordings = d.pop("play_recordings", UNSET)

        title = d.pop("title", UNSET)

        share_request = cls(
            expires_at=expires_at,
            question_id=question_id,
            video_id=video_id,
            clip_id=clip_id,
            start_ms=start_ms,
            end_ms=end_ms,
            play_recordings=play_recordings,
            title=title,
        )

        share_request.additional_properties = d
        return share_request

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
