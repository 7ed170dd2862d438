from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Rendition")


@_attrs_define
class Rendition:
    """What plays a video in a browser.

    Attributes:
        video_id (str):
        state (str): `pending`: nothing can be played yet. `growing`: the beginning can be played, and the rest is being
            made. `failed`: no part of the recording can be played. Known values: `pending`, `growing`, `complete`,
            `failed`. Others may follow.
        playable_ms (int): End of what can be played without a break, in milliseconds.
        playlist_url (str): HLS playlist, signed: it needs no key until `expires_at`.
        storyboard_url (str): Pictures for the timeline as WebVTT, signed.
        expires_at (datetime.datetime):
    """

    video_id: str
    state: str
    playable_ms: int
    playlist_url: str
    storyboard_url: str
    expires_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        state = self.state

        playable_ms = self.playable_ms

        playlist_url = self.playlist_url

        storyboard_url = self.storyboard_url

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "state": state,
                "playable_ms": playable_ms,
                "playlist_url": playlist_url,
                "storyboard_url": storyboard_url,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        state = d.pop("state")

        playable_ms = d.pop("playable_ms")

        playlist_url = d.pop("playlist_url")

        storyboard_url = d.pop("storyboard_url")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        rendition = cls(
            video_id=video_id,
            state=state,
            playable_ms=playable_ms,
            playlist_url=playlist_url,
            storyboard_url=storyboard_url,
            expires_at=expires_at,
        )

        rendition.additional_properties = d
        return rendition

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
