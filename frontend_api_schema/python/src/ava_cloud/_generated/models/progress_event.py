from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.progress import Progress


T = TypeVar("T", bound="ProgressEvent")


@_attrs_define
class ProgressEvent:
    """Data of the stream's event `progress`.

    Attributes:
        id (str):
        status (str): Known values: `queued`, `running`, `succeeded`, `failed`, `canceled`. Others may follow.
        stage (str):
        progress (None | Progress):
    """

    id: str
    status: str
    stage: str
    progress: None | Progress
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.progress import Progress  # noqa: PLC0415

        id = self.id

        status = self.status

        stage = self.stage

        progress: dict[str, Any] | None
        if isinstance(self.progress, Progress):
            progress = self.progress.to_dict()
        else:
            progress = self.progress

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "status": status,
                "stage": stage,
                "progress": progress,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.progress import Progress  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        status = d.pop("status")

        stage = d.pop("stage")

        def _parse_progress(data: object) -> None | Progress:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                progress_type_0 = Progress.from_dict(data)

                return progress_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Progress, data)

        progress = _parse_progress(d.pop("progress"))

        progress_event = cls(
            id=id,
            status=status,
            stage=stage,
            progress=progress,
        )

        progress_event.additional_properties = d
        return progress_event

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
