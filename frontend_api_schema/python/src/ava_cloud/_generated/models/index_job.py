from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.index_job_error import IndexJobError
    from ..models.index_job_progress import IndexJobProgress


T = TypeVar("T", bound="IndexJob")


@_attrs_define
class IndexJob:
    """
    Attributes:
        id (str):
        object_ (str):
        video_id (str):
        index_version (int): The version that is being built, or the latest version.
        status (str): Known values: `queued`, `running`, `paused`, `succeeded`, `failed`, `canceled`. Others may follow.
        stage (str): Empty unless queued or running. `input`: all appended segments are indexed, and more may come.
            Known values: `probe`, `input`, `observe`, `assemble`, `summarise`. Others may follow.
        progress (IndexJobProgress):
        observed_ms (int): Video time observed so far. Events follow as segments are assembled.
        attempt (int): Highest number of attempts of any step.
        seconds_left (int | None): Estimated time until the video is ready, at the pace of the last hour; null while it
            is unknown.
        priority (str): Order among your own jobs of the same kind: `high` before `normal` before `low`. Jobs of other
            customers neither gain nor lose by it. Known values: `low`, `normal`, `high`. Others may follow.
        deadline_at (datetime.datetime | None): When the job ends with what it has; null for our own limit.
        paused_at (datetime.datetime | None): When the job was paused; null if it is not.
        error (IndexJobError | None):
        external_id (str):
        created_at (datetime.datetime):
        started_at (datetime.datetime | None):
        completed_at (datetime.datetime | None):
    """

    id: str
    object_: str
    video_id: str
    index_version: int
    status: str
    stage: str
    progress: IndexJobProgress
    observed_ms: int
    attempt: int
    seconds_left: int | None
    priority: str
    deadline_at: datetime.datetime | None
    paused_at: datetime.datetime | None
    error: IndexJobError | None
    external_id: str
    created_at: datetime.datetime
    started_at: datetime.datetime | None
    completed_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.index_job_error import IndexJobError  # noqa: PLC0415

        id = self.id

        object_ = self.object_

        video_id = self.video_id

        index_version = self.index_version

        status = self.status

        stage = self.stage

        progress = self.progress.to_dict()

        observed_ms = self.observed_ms

        attempt = self.attempt

        seconds_left: int | None
        seconds_left = self.seconds_left

        priority = self.priority

        deadline_at: None | str
        if isinstance(self.deadline_at, datetime.datetime):
            deadline_at = self.deadline_at.isoformat()
        else:
            deadline_at = self.deadline_at

        paused_at: None | str
        if isinstance(self.paused_at, datetime.datetime):
            paused_at = self.paused_at.isoformat()
        else:
            paused_at = self.paused_at

        error: dict[str, Any] | None
        if isinstance(self.error, IndexJobError):
            error = self.error.to_dict()
        else:
            error = self.error

        external_id = self.external_id

        created_at = self.created_at.isoformat()

        started_at: None | str
        if isinstance(self.started_at, datetime.datetime):
            started_at = self.started_at.isoformat()
        else:
            started_at = self.started_at

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "video_id": video_id,
                "index_version": index_version,
                "status": status,
                "stage": stage,
                "progress": progress,
                "observed_ms": observed_ms,
                "attempt": attempt,
                "seconds_left": seconds_left,
                "priority": priority,
                "deadline_at": deadline_at,
                "paused_at": paused_at,
                "error": error,
                "external_id": external_id,
                "created_at": created_at,
                "started_at": started_at,
                "completed_at": completed_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.index_job_error import IndexJobError  # noqa: PLC0415
        from ..models.index_job_progress import IndexJobProgress  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        video_id = d.pop("video_id")

        index_version = d.pop("index_version")

        status = d.pop("status")

        stage = d.pop("stage")

        progress = IndexJobProgress.from_dict(d.pop("progress"))

        observed_ms = d.pop("observed_ms")

        attempt = d.pop("attempt")

        def _parse_seconds_left(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        seconds_left = _parse_seconds_left(d.pop("seconds_left"))

        priority = d.pop("priority")

        def _parse_deadline_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deadline_at_type_0 = datetime.datetime.fromisoformat(data)

                return deadline_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        deadline_at = _parse_deadline_at(d.pop("deadline_at"))

        def _parse_paused_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                paused_at_type_0 = datetime.datetime.fromisoformat(data)

                return paused_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        paused_at = _parse_paused_at(d.pop("paused_at"))

        def _parse_error(data: object) -> IndexJobError | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = IndexJobError.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IndexJobError | None, data)

        error = _parse_error(d.pop("error"))

        external_id = d.pop("external_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_started_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                started_at_type_0 = datetime.datetime.fromisoformat(data)

                return started_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        started_at = _parse_started_at(d.pop("started_at"))

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        index_job = cls(
            id=id,
            object_=object_,
            video_id=video_id,
            index_version=index_version,
            status=status,
            stage=stage,
            progress=progress,
            observed_ms=observed_ms,
            attempt=attempt,
            seconds_left=seconds_left,
            priority=priority,
            deadline_at=deadline_at,
            paused_at=paused_at,
            error=error,
            external_id=external_id,
            created_at=created_at,
            started_at=started_at,
            completed_at=completed_at,
        )

        index_job.additional_properties = d
        return index_job

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
