from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.audio_track import AudioTrack


T = TypeVar("T", bound="Probe")


@_attrs_define
class Probe:
    """Technical properties of the file.

    Attributes:
        container (str):
        codec (str):
        width (int | None):
        height (int | None):
        fps (float | None):
        rotation (int):
        has_audio (bool):
        audio_tracks (list[AudioTrack]):
        bitrate (int | None):
        source_start_ms (int): Start time in the file itself. All other times count from it.
        degraded (list[str]): Codes of what the file lacks: `truncated` if it ends before its header says, `damaged` if
            more than 1 % of its packets are damaged, `video_not_seen` if it has more than one video track,
            `audio_not_heard` and `audio_not_found` if not all chosen audio tracks are heard. More codes may come.
    """

    container: str
    codec: str
    width: int | None
    height: int | None
    fps: float | None
    rotation: int
    has_audio: bool
    audio_tracks: list[AudioTrack]
    bitrate: int | None
    source_start_ms: int
    degraded: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        container = self.container

        codec = self.codec

        width: int | None
        width = self.width

        height: int | None
        height = self.height

        fps: float | None
        fps = self.fps

        rotation = self.rotation

        has_audio = self.has_audio

        audio_tracks = []
        for audio_tracks_item_data in self.audio_tracks:
            audio_tracks_item = audio_tracks_item_data.to_dict()
            audio_tracks.append(audio_tracks_item)

        bitrate: int | None
        bitrate = self.bitrate

        source_start_ms = self.source_start_ms

        degraded = self.degraded

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "container": container,
                "codec": codec,
                "width": width,
                "height": height,
                "fps": fps,
                "rotation": rotation,
                "has_audio": has_audio,
                "audio_tracks": audio_tracks,
                "bitrate": bitrate,
                "source_start_ms": source_start_ms,
                "degraded": degraded,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audio_track import AudioTrack  # noqa: PLC0415

        d = dict(src_dict)
        container = d.pop("container")

        codec = d.pop("codec")

        def _parse_width(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        width = _parse_width(d.pop("width"))

        def _parse_height(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        height = _parse_height(d.pop("height"))

        def _parse_fps(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        fps = _parse_fps(d.pop("fps"))

        rotation = d.pop("rotation")

        has_audio = d.pop("has_audio")

        audio_tracks = []
        _audio_tracks = d.pop("audio_tracks")
        for audio_tracks_item_data in _audio_tracks:
            audio_tracks_item = AudioTrack.from_dict(audio_tracks_item_data)

            audio_tracks.append(audio_tracks_item)

        def _parse_bitrate(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        bitrate = _parse_bitrate(d.pop("bitrate"))

        source_start_ms = d.pop("source_start_ms")

        degraded = cast(list[str], d.pop("degraded"))

        probe = cls(
            container=container,
            codec=codec,
            width=width,
            height=height,
            fps=fps,
            rotation=rotation,
            has_audio=has_audio,
            audio_tracks=audio_tracks,
            bitrate=bitrate,
            source_start_ms=source_start_ms,
            degraded=degraded,
        )

        probe.additional_properties = d
        return probe

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
