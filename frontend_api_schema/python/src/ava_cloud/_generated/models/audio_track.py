from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AudioTrack")


@_attrs_define
class AudioTrack:
    """One audio track of the file.

    Attributes:
        number (int): Index among the audio tracks, from 1.
        language (str): As the file says, in ISO 639-1; empty if it does not.
        title (str): As the file says.
        codec (str):
        channels (int):
        is_default (bool): Whether the file marks the track as its default.
        heard (bool): Whether the service listens to the track.
        not_heard (None | str): Why the service does not listen to it: `audio` does not choose it, more than 4 tracks
            are chosen, or there is no decoder. Known values: `not_chosen`, `too_many`, `undecodable`. Others may follow.
    """

    number: int
    language: str
    title: str
    codec: str
    channels: int
    is_default: bool
    heard: bool
    not_heard: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        number = self.number

        language = self.language

        title = self.title

        codec = self.codec

        channels = self.channels

        is_default = self.is_default

        heard = self.heard

        not_heard: None | str
        not_heard = self.not_heard

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "number": number,
                "language": language,
                "title": title,
                "codec": codec,
                "channels": channels,
                "is_default": is_default,
                "heard": heard,
                "not_heard": not_heard,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        number = d.pop("number")

        language = d.pop("language")

        title = d.pop("title")

        codec = d.pop("codec")

        channels = d.pop("channels")

        is_default = d.pop("is_default")

        heard = d.pop("heard")

        def _parse_not_heard(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        not_heard = _parse_not_heard(d.pop("not_heard"))

        audio_track = cls(
            number=number,
            language=language,
            title=title,
            codec=codec,
            channels=channels,
            is_default=is_default,
            heard=heard,
            not_heard=not_heard,
        )

        audio_track.additional_properties = d
        return audio_track

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
