from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.frame_image import FrameImage


T = TypeVar("T", bound="Evidence")


@_attrs_define
class Evidence:
    """An event that the answer cites.

    Attributes:
        video_id (str): Video of the event.
        video_title (str): Title of the video; empty if it has none. An answer over several videos names them by it.
        event_id (str): Id of the event in the index that the answer read.
        start_ms (int): Begin of the event in milliseconds.
        end_ms (int): End of the event in milliseconds.
        start_at (datetime.datetime | None): When it was filmed, in the video's time zone; null if unknown.
        end_at (datetime.datetime | None): When it ended, in the video's time zone; null if unknown.
        frame (FrameImage | None): The frame that shows the event best.
        playback (None | str): Signed HLS playlist of the whole video that begins at the event, valid for some hours.
            Null if the recording is not kept.
        clip (None | str): Signed HLS playlist of the event alone, valid for some hours. Null if the recording is not
            kept.
        quote (str): Words of the event that carry the answer.
        status (str): Whether the event supports the claims that cite it. Known values: `supported`, `contradicted`,
            `unverified`. Others may follow.
        similarity (float | None): Similarity of the event's words to the claims that cite it, 0 to 1. It is no
            probability.
        confidence (float | None): Deprecated: the same as `similarity`.
    """

    video_id: str
    video_title: str
    event_id: str
    start_ms: int
    end_ms: int
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    frame: FrameImage | None
    playback: None | str
    clip: None | str
    quote: str
    status: str
    similarity: float | None
    confidence: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.frame_image import FrameImage  # noqa: PLC0415

        video_id = self.video_id

        video_title = self.video_title

        event_id = self.event_id

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

        frame: dict[str, Any] | None
        if isinstance(self.frame, FrameImage):
            frame = self.frame.to_dict()
        else:
            frame = self.frame

        playback: None | str
        playback = self.playback

        clip: None | str
        clip = self.clip

        quote = self.quote

        status = self.status

        similarity: float | None
        similarity = self.similarity

        confidence: float | None
        confidence = self.confidence

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "video_title": video_title,
                "event_id": event_id,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "start_at": start_at,
                "end_at": end_at,
                "frame": frame,
                "playback": playback,
                "clip": clip,
                "quote": quote,
                "status": status,
                "similarity": similarity,
                "confidence": confidence,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.frame_image import FrameImage  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        video_title = d.pop("video_title")

        event_id = d.pop("event_id")

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

        def _parse_playback(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        playback = _parse_playback(d.pop("playback"))

        def _parse_clip(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        clip = _parse_clip(d.pop("clip"))

        quote = d.pop("quote")

        status = d.pop("status")

        def _parse_similarity(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        similarity = _parse_similarity(d.pop("similarity"))

        def _parse_confidence(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        confidence = _parse_confidence(d.pop("confidence"))

        evidence = cls(
            video_id=video_id,
            video_title=video_title,
            event_id=event_id,
            start_ms=start_ms,
            end_ms=end_ms,
            start_at=start_at,
            end_at=end_at,
            frame=frame,
            playback=playback,
            clip=clip,
            quote=quote,
            status=status,
            similarity=similarity,
            confidence=confidence,
        )

        evidence.additional_properties = d
        return evidence

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
