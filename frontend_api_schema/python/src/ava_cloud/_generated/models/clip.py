from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.clip_gap import ClipGap
    from ..models.resource_error import ResourceError


T = TypeVar("T", bound="Clip")


@_attrs_define
class Clip:
    """A part of a recording as a file.

    Attributes:
        id (str): Id of the clip.
        object_ (str): Always `clip`. Default: 'clip'.
        status (str): `queued` until the file is made. Known values: `queued`, `ready`, `failed`. Others may follow.
        video_id (str): Video of the clip.
        question_id (None | str): Question whose evidence the clip shows.
        title (str): Title of the file.
        mode (str): `fast` copies the recording from the keyframe before `start_ms`, and says in `shown_start_ms` where
            that is. `exact` encodes it again, and begins and ends with the frames of the span. Known values: `fast`,
            `exact`. Others may follow.
        captions (str): `file` adds captions as WebVTT next to the clip, `burnt` draws them into its pictures (mode
            `exact`). Known values: `none`, `file`, `burnt`. Others may follow.
        start_ms (int): Begin of the span that was wanted, in ms.
        end_ms (int): End of the span that was wanted, in ms.
        shown_start_ms (int | None): Time in the video at which the file begins; null until it is made.
        shown_end_ms (int | None): Time in the video at which the file ends; null until it is made.
        start_at (datetime.datetime | None): When the span begins, in the video's time zone; null if unknown.
        end_at (datetime.datetime | None): When the span ends, in the video's time zone; null if unknown.
        gaps (list[ClipGap]): Gaps in the recording over which the clip is joined.
        width (int | None): Width of the pictures in pixels.
        height (int | None): Height of the pictures in pixels.
        size_bytes (int): Size of the file. Until it is made, an estimate; both count against your storage.
        url (None | str): Link to the MP4, valid for 30 minutes. Read the clip again for another one. Null until it is
            made.
        poster_url (None | str): Link to its first picture, as JPEG.
        captions_url (None | str): Link to its captions as WebVTT; null without a file.
        created_at (datetime.datetime): When the clip was asked for.
        created_by (None | str): The key (`key_…`) or the person (`per_…`).
        ready_at (datetime.datetime | None): When the file was made.
        expires_at (datetime.datetime): When the clip is deleted.
        error (None | ResourceError): Why the clip failed; null if it did not.
    """

    id: str
    status: str
    video_id: str
    question_id: None | str
    title: str
    mode: str
    captions: str
    start_ms: int
    end_ms: int
    shown_start_ms: int | None
    shown_end_ms: int | None
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    gaps: list[ClipGap]
    width: int | None
    height: int | None
    size_bytes: int
    url: None | str
    poster_url: None | str
    captions_url: None | str
    created_at: datetime.datetime
    created_by: None | str
    ready_at: datetime.datetime | None
    expires_at: datetime.datetime
    error: None | ResourceError
    object_: str = "clip"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.resource_error import ResourceError  # noqa: PLC0415

        id = self.id

        object_ = self.object_

        status = self.status

        video_id = self.video_id

        question_id: None | str
        question_id = self.question_id

        title = self.title

        mode = self.mode

        captions = self.captions

        start_ms = self.start_ms

        end_ms = self.end_ms

        shown_start_ms: int | None
        shown_start_ms = self.shown_start_ms

        shown_end_ms: int | None
        shown_end_ms = self.shown_end_ms

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

        gaps = []
        for gaps_item_data in self.gaps:
            gaps_item = gaps_item_data.to_dict()
            gaps.append(gaps_item)

        width: int | None
        width = self.width

        height: int | None
        height = self.height

        size_bytes = self.size_bytes

        url: None | str
        url = self.url

        poster_url: None | str
        poster_url = self.poster_url

        captions_url: None | str
        captions_url = self.captions_url

        created_at = self.created_at.isoformat()

        created_by: None | str
        created_by = self.created_by

        ready_at: None | str
        if isinstance(self.ready_at, datetime.datetime):
            ready_at = self.ready_at.isoformat()
        else:
            ready_at = self.ready_at

        expires_at = self.expires_at.isoformat()

        error: dict[str, Any] | None
        if isinstance(self.error, ResourceError):
            error = self.error.to_dict()
        else:
            error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "status": status,
                "video_id": video_id,
                "question_id": question_id,
                "title": title,
                "mode": mode,
                "captions": captions,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "shown_start_ms": shown_start_ms,
                "shown_end_ms": shown_end_ms,
                "start_at": start_at,
                "end_at": end_at,
                "gaps": gaps,
                "width": width,
                "height": height,
                "size_bytes": size_bytes,
                "url": url,
                "poster_url": poster_url,
                "captions_url": captions_url,
                "created_at": created_at,
                "created_by": created_by,
                "ready_at": ready_at,
                "expires_at": expires_at,
                "error": error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.clip_gap import ClipGap  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        status = d.pop("status")

        video_id = d.pop("video_id")

        def _parse_question_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        question_id = _parse_question_id(d.pop("question_id"))

        title = d.pop("title")

        mode = d.pop("mode")

        captions = d.pop("captions")

        start_ms = d.pop("start_ms")

        end_ms = d.pop("end_ms")

        def _parse_shown_start_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        shown_start_ms = _parse_shown_start_ms(d.pop("shown_start_ms"))

        def _parse_shown_end_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        shown_end_ms = _parse_shown_end_ms(d.pop("shown_end_ms"))

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

        gaps = []
        _gaps = d.pop("gaps")
        for gaps_item_data in _gaps:
            gaps_item = ClipGap.from_dict(gaps_item_data)

            gaps.append(gaps_item)

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

        size_bytes = d.pop("size_bytes")

        def _parse_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        url = _parse_url(d.pop("url"))

        def _parse_poster_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        poster_url = _parse_poster_url(d.pop("poster_url"))

        def _parse_captions_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        captions_url = _parse_captions_url(d.pop("captions_url"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_created_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        created_by = _parse_created_by(d.pop("created_by"))

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

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

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

        clip = cls(
            id=id,
            object_=object_,
            status=status,
            video_id=video_id,
            question_id=question_id,
            title=title,
            mode=mode,
            captions=captions,
            start_ms=start_ms,
            end_ms=end_ms,
            shown_start_ms=shown_start_ms,
            shown_end_ms=shown_end_ms,
            start_at=start_at,
            end_at=end_at,
            gaps=gaps,
            width=width,
            height=height,
            size_bytes=size_bytes,
            url=url,
            poster_url=poster_url,
            captions_url=captions_url,
            created_at=created_at,
            created_by=created_by,
            ready_at=ready_at,
            expires_at=expires_at,
            error=error,
        )

        clip.additional_properties = d
        return clip

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
