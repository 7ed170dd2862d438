from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SharedLink")


@_attrs_define
class SharedLink:
    """A link to one answer, one recording or one clip, without its token.

    Attributes:
        id (str): Id of the share. It does not open the page.
        object_ (str): Always `share`.
        question_id (None | str): Question that is shown.
        video_id (None | str): Video that is shown.
        clip_id (None | str): Clip that is shown.
        start_ms (int | None): Begin of the span that is shown.
        end_ms (int | None): End of the span that is shown.
        play_recordings (bool): Whether the page of an answer plays the cited recordings.
        title (str): Heading of the page.
        created_at (datetime.datetime): When the share was made.
        created_by (None | str): The key (`key_…`) or the person (`per_…`).
        expires_at (datetime.datetime): When the link ends.
        revoked_at (datetime.datetime | None): When the link was revoked.
        views (int): How often the page was shown.
        last_viewed_at (datetime.datetime | None): When the page was shown last.
    """

    id: str
    object_: str
    question_id: None | str
    video_id: None | str
    clip_id: None | str
    start_ms: int | None
    end_ms: int | None
    play_recordings: bool
    title: str
    created_at: datetime.datetime
    created_by: None | str
    expires_at: datetime.datetime
    revoked_at: datetime.datetime | None
    views: int
    last_viewed_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        question_id: None | str
        question_id = self.question_id

        video_id: None | str
        video_id = self.video_id

        clip_id: None | str
        clip_id = self.clip_id

        start_ms: int | None
        start_ms = self.start_ms

        end_ms: int | None
        end_ms = self.end_ms

        play_recordings = self.play_recordings

        title = self.title

        created_at = self.created_at.isoformat()

        created_by: None | str
        created_by = self.created_by

        expires_at = self.expires_at.isoformat()

        revoked_at: None | str
        if isinstance(self.revoked_at, datetime.datetime):
            revoked_at = self.revoked_at.isoformat()
        else:
            revoked_at = self.revoked_at

        views = self.views

        last_viewed_at: None | str
        if isinstance(self.last_viewed_at, datetime.datetime):
            last_viewed_at = self.last_viewed_at.isoformat()
        else:
            last_viewed_at = self.last_viewed_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "question_id": question_id,
                "video_id": video_id,
                "clip_id": clip_id,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "play_recordings": play_recordings,
                "title": title,
                "created_at": created_at,
                "created_by": created_by,
                "expires_at": expires_at,
                "revoked_at": revoked_at,
                "views": views,
                "last_viewed_at": last_viewed_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        def _parse_question_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        question_id = _parse_question_id(d.pop("question_id"))

        def _parse_video_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        video_id = _parse_video_id(d.pop("video_id"))

        def _parse_clip_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        clip_id = _parse_clip_id(d.pop("clip_id"))

        def _parse_start_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        start_ms = _parse_start_ms(d.pop("start_ms"))

        def _parse_end_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        end_ms = _parse_end_ms(d.pop("end_ms"))

        play_recordings = d.pop("play_recordings")

        title = d.pop("title")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_created_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        created_by = _parse_created_by(d.pop("created_by"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        def _parse_revoked_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                revoked_at_type_0 = datetime.datetime.fromisoformat(data)

                return revoked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        revoked_at = _parse_revoked_at(d.pop("revoked_at"))

        views = d.pop("views")

        def _parse_last_viewed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_viewed_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_viewed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_viewed_at = _parse_last_viewed_at(d.pop("last_viewed_at"))

        shared_link = cls(
            id=id,
            object_=object_,
            question_id=question_id,
            video_id=video_id,
            clip_id=clip_id,
            start_ms=start_ms,
            end_ms=end_ms,
            play_recordings=play_recordings,
            title=title,
            created_at=created_at,
            created_by=created_by,
            expires_at=expires_at,
            revoked_at=revoked_at,
            views=views,
            last_viewed_at=last_viewed_at,
        )

        shared_link.additional_properties = d
        return shared_link

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
