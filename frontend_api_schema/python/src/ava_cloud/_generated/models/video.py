from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.charge import Charge
    from ..models.gaps import Gaps
    from ..models.index_size import IndexSize
    from ..models.indexing import Indexing
    from ..models.probe import Probe
    from ..models.resource_error import ResourceError
    from ..models.video_clock import VideoClock
    from ..models.video_metadata import VideoMetadata
    from ..models.video_source import VideoSource
    from ..models.video_timings import VideoTimings
    from ..models.wall_clock import WallClock


T = TypeVar("T", bound="Video")


@_attrs_define
class Video:
    """
    Attributes:
        id (str):
        object_ (str):
        status (str): Known values: `queued`, `probing`, `indexing`, `ready`, `failed`, `deleting`. Others may follow.
        title (str):
        size_bytes (int):
        duration_ms (int | None):
        indexed_until_ms (int): You can ask questions about everything before this time.
        index_version (int): The index that questions read. The number rises with each re-index.
        indexing (Indexing | None): Progress of a re-index; null if there is none.
        source (VideoSource):
        profile (str): Known values: `general`, `wildlife`, `traffic`, `egocentric`, `city`. Others may follow.
        language (str): Language that is spoken, by its ISO 639-1 code: as you gave it, else as it was first heard;
            empty while it is unknown.
        audio (str): Audio tracks to listen to: `all` (the default), or numbers and languages separated by commas, such
            as `2` or `de,en`. If no track matches, the service listens to all. `probe.audio_tracks` shows the result.
        degraded (list[str]): Codes of what the file lacks: `truncated` if it ends before its header says, `damaged` if
            more than 1 % of its packets are damaged, `video_not_seen` if it has more than one video track,
            `audio_not_heard` and `audio_not_found` if not all chosen audio tracks are heard. More codes may come.
        collection_id (None | str):
        upload_id (None | str):
        external_id (str):
        metadata (VideoMetadata):
        probe (None | Probe):
        error (None | ResourceError):
        timings (VideoTimings):
        charge (Charge): What is charged, by the price list. Allowances, tiers, credits and tax are lines of the
            invoice.
        ekg (IndexSize | None): Size of the index of a ready video; null in lists.
        gaps (Gaps | None): What could not be described; null in lists.
        thumbnail_url (None | str): Picture from the beginning of what is indexed, valid for at least 15 minutes; null
            without one.
        recorded_at (datetime.datetime | None): When the recording began, as you said; null if unknown.
        time_zone (str): IANA name of the time zone in which you speak about the recording, such as `Europe/Berlin`.
        clock (None | VideoClock): The clock in the picture, if there is one; null in lists.
        wall_clock (None | WallClock): When each part of the video was filmed, as far as it is known; null in lists.
        created_at (datetime.datetime):
        ready_at (datetime.datetime | None):
    """

    id: str
    object_: str
    status: str
    title: str
    size_bytes: int
    duration_ms: int | None
    indexed_until_ms: int
    index_version: int
    indexing: Indexing | None
    source: VideoSource
    profile: str
    language: str
    audio: str
    degraded: list[str]
    collection_id: None | str
    upload_id: None | str
    external_id: str
    metadata: VideoMetadata
    probe: None | Probe
    error: None | ResourceError
    timings: VideoTimings
    charge: Charge
    ekg: IndexSize | None
    gaps: Gaps | None
    thumbnail_url: None | str
    recorded_at: datetime.datetime | None
    time_zone: str
    clock: None | VideoClock
    wall_clock: None | WallClock
    created_at: datetime.datetime
    ready_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.gaps import Gaps  # noqa: PLC0415
        from ..models.index_size import IndexSize  # noqa: PLC0415
        from ..models.indexing import Indexing  # noqa: PLC0415
        from ..models.probe import Probe  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415
        from ..models.video_clock import VideoClock  # noqa: PLC0415
        from ..models.wall_clock import WallClock  # noqa: PLC0415

        id = self.id

        object_ = self.object_

        status = self.status

        title = self.title

        size_bytes = self.size_bytes

        duration_ms: int | None
        duration_ms = self.duration_ms

        indexed_until_ms = self.indexed_until_ms

        index_version = self.index_version

        indexing: dict[str, Any] | None
        if isinstance(self.indexing, Indexing):
            indexing = self.indexing.to_dict()
        else:
            indexing = self.indexing

        source = self.source.to_dict()

        profile = self.profile

        language = self.language

        audio = self.audio

        degraded = self.degraded

        collection_id: None | str
        collection_id = self.collection_id

        upload_id: None | str
        upload_id = self.upload_id

        external_id = self.external_id

        metadata = self.metadata.to_dict()

        probe: dict[str, Any] | None
        if isinstance(self.probe, Probe):
            probe = self.probe.to_dict()
        else:
            probe = self.probe

        error: dict[str, Any] | None
        if isinstance(self.error, ResourceError):
            error = self.error.to_dict()
        else:
            error = self.error

        timings = self.timings.to_dict()

        charge = self.charge.to_dict()

        ekg: dict[str, Any] | None
        if isinstance(self.ekg, IndexSize):
            ekg = self.ekg.to_dict()
        else:
            ekg = self.ekg

        gaps: dict[str, Any] | None
        if isinstance(self.gaps, Gaps):
            gaps = self.gaps.to_dict()
        else:
            gaps = self.gaps

        thumbnail_url: None | str
        thumbnail_url = self.thumbnail_url

        recorded_at: None | str
        if isinstance(self.recorded_at, datetime.datetime):
            recorded_at = self.recorded_at.isoformat()
        else:
            recorded_at = self.recorded_at

        time_zone = self.time_zone

        clock: dict[str, Any] | None
        if isinstance(self.clock, VideoClock):
            clock = self.clock.to_dict()
        else:
            clock = self.clock

        wall_clock: dict[str, Any] | None
        if isinstance(self.wall_clock, WallClock):
            wall_clock = self.wall_clock.to_dict()
        else:
            wall_clock = self.wall_clock

        created_at = self.created_at.isoformat()

        ready_at: None | str
        if isinstance(self.ready_at, datetime.datetime):
            ready_at = self.ready_at.isoformat()
        else:
            ready_at = self.ready_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "status": status,
                "title": title,
                "size_bytes": size_bytes,
                "duration_ms": duration_ms,
                "indexed_until_ms": indexed_until_ms,
                "index_version": index_version,
                "indexing": indexing,
                "source": source,
                "profile": profile,
                "language": language,
                "audio": audio,
                "degraded": degraded,
                "collection_id": collection_id,
                "upload_id": upload_id,
                "external_id": external_id,
                "metadata": metadata,
                "probe": probe,
                "error": error,
                "timings": timings,
                "charge": charge,
                "ekg": ekg,
                "gaps": gaps,
                "thumbnail_url": thumbnail_url,
                "recorded_at": recorded_at,
                "time_zone": time_zone,
                "clock": clock,
                "wall_clock": wall_clock,
                "created_at": created_at,
                "ready_at": ready_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.charge import Charge  # noqa: PLC0415
        from ..models.gaps import Gaps  # noqa: PLC0415
        from ..models.index_size import IndexSize  # noqa: PLC0415
        from ..models.indexing import Indexing  # noqa: PLC0415
        from ..models.probe import Probe  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415
        from ..models.video_clock import VideoClock  # noqa: PLC0415
        from ..models.video_metadata import VideoMetadata  # noqa: PLC0415
        from ..models.video_source import VideoSource  # noqa: PLC0415
        from ..models.video_timings import VideoTimings  # noqa: PLC0415
        from ..models.wall_clock import WallClock  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        status = d.pop("status")

        title = d.pop("title")

        size_bytes = d.pop("size_bytes")

        def _parse_duration_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        duration_ms = _parse_duration_ms(d.pop("duration_ms"))

        indexed_until_ms = d.pop("indexed_until_ms")

        index_version = d.pop("index_version")

        def _parse_indexing(data: object) -> Indexing | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                indexing_type_0 = Indexing.from_dict(data)

                return indexing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Indexing | None, data)

        indexing = _parse_indexing(d.pop("indexing"))

        source = VideoSource.from_dict(d.pop("source"))

        profile = d.pop("profile")

        language = d.pop("language")

        audio = d.pop("audio")

        degraded = cast(list[str], d.pop("degraded"))

        def _parse_collection_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        collection_id = _parse_collection_id(d.pop("collection_id"))

        def _parse_upload_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        upload_id = _parse_upload_id(d.pop("upload_id"))

        external_id = d.pop("external_id")

        metadata = VideoMetadata.from_dict(d.pop("metadata"))

        def _parse_probe(data: object) -> None | Probe:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                probe_type_0 = Probe.from_dict(data)

                return probe_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Probe, data)

        probe = _parse_probe(d.pop("probe"))

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

        timings = VideoTimings.from_dict(d.pop("timings"))

        charge = Charge.from_dict(d.pop("charge"))

        def _parse_ekg(data: object) -> IndexSize | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ekg_type_0 = IndexSize.from_dict(data)

                return ekg_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IndexSize | None, data)

        ekg = _parse_ekg(d.pop("ekg"))

        def _parse_gaps(data: object) -> Gaps | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                gaps_type_0 = Gaps.from_dict(data)

                return gaps_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Gaps | None, data)

        gaps = _parse_gaps(d.pop("gaps"))

        def _parse_thumbnail_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        thumbnail_url = _parse_thumbnail_url(d.pop("thumbnail_url"))

        def _parse_recorded_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                recorded_at_type_0 = datetime.datetime.fromisoformat(data)

                return recorded_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        recorded_at = _parse_recorded_at(d.pop("recorded_at"))

        time_zone = d.pop("time_zone")

        def _parse_clock(data: object) -> None | VideoClock:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                clock_type_0 = VideoClock.from_dict(data)

                return clock_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | VideoClock, data)

        clock = _parse_clock(d.pop("clock"))

        def _parse_wall_clock(data: object) -> None | WallClock:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                wall_clock_type_0 = WallClock.from_dict(data)

                return wall_clock_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | WallClock, data)

        wall_clock = _parse_wall_clock(d.pop("wall_clock"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

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

        video = cls(
            id=id,
            object_=object_,
            status=status,
            title=title,
            size_bytes=size_bytes,
            duration_ms=duration_ms,
            indexed_until_ms=indexed_until_ms,
            index_version=index_version,
            indexing=indexing,
            source=source,
            profile=profile,
            language=language,
            audio=audio,
            degraded=degraded,
            collection_id=collection_id,
            upload_id=upload_id,
            external_id=external_id,
            metadata=metadata,
            probe=probe,
            error=error,
            timings=timings,
            charge=charge,
            ekg=ekg,
            gaps=gaps,
            thumbnail_url=thumbnail_url,
            recorded_at=recorded_at,
            time_zone=time_zone,
            clock=clock,
            wall_clock=wall_clock,
            created_at=created_at,
            ready_at=ready_at,
        )

        video.additional_properties = d
        return video

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
