from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.line_track import LineTrack


T = TypeVar("T", bound="TranscriptLine")


@_attrs_define
class TranscriptLine:
    """
    Attributes:
        id (str):
        start_ms (int):
        end_ms (int):
        start_at (datetime.datetime | None): When it was filmed, in the video's time zone; null if unknown.
        end_at (datetime.datetime | None): When it ended, in the video's time zone; null if unknown.
        text (str):
        language (str): Language that is spoken, by its ISO 639-1 code; empty where it is not certain.
        track (LineTrack): The audio track on which a line is spoken.
        words (list[list[int | str]]): Lists of `start_ms`, `end_ms` and the word.
    """

    id: str
    start_ms: int
    end_ms: int
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    text: str
    language: str
    track: LineTrack
    words: list[list[int | str]]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

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

        text = self.text

        language = self.language

        track = self.track.to_dict()

        words = []
        for words_item_data in self.words:
            words_item = []
            for words_item_item_data in words_item_data:
                words_item_item: int | str
                words_item_item = words_item_item_data
                words_item.append(words_item_item)

            words.append(words_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "start_at": start_at,
                "end_at": end_at,
                "text": text,
                "language": language,
                "track": track,
                "words": words,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.line_track import LineTrack  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

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

        text = d.pop("text")

        language = d.pop("language")

        track = LineTrack.from_dict(d.pop("track"))

        words = []
        _words = d.pop("words")
        for words_item_data in _words:
            words_item = []
            _words_item = words_item_data
            for words_item_item_data in _words_item:

                def _parse_words_item_item(data: object) -> int | str:
                    return cast(int | str, data)

                words_item_item = _parse_words_item_item(words_item_item_data)

                words_item.append(words_item_item)

            words.append(words_item)

        transcript_line = cls(
            id=id,
            start_ms=start_ms,
            end_ms=end_ms,
            start_at=start_at,
            end_at=end_at,
            text=text,
            language=language,
            track=track,
            words=words,
        )

        transcript_line.additional_properties = d
        return transcript_line

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
