from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.charge_span import ChargeSpan
    from ..models.duration_span import DurationSpan
    from ..models.scan_estimate import ScanEstimate


T = TypeVar("T", bound="QuestionEstimate")


@_attrs_define
class QuestionEstimate:
    """An estimate of a question before it is asked. `low` and `high` enclose about 8 of 10 cases of your own
    history.

        Attributes:
            object_ (str): Always `estimate`.
            charge (ChargeSpan): What the work will be charged, by the list price in force.
            duration_ms (DurationSpan): How long the work will take from its acceptance to its end, in milliseconds.
            sample (int): Earlier work of yours behind the duration; 0 if it is assumed.
            error (float | None): Median error of such estimates of the duration against your own history, as a fraction;
                null if the history is too short.
            covered (float | None): Share of your own history that lay from `low` to `high`; null if it is too short.
            route (None | str): The route that the question will be answered by: the one that you name. Null if the question
                is yet to be read, without a scope, and for a method without routes. Known values: `search`, `time`, `whole`,
                `scan`, `objects`. Others may follow.
            certain (bool | None): Whether the route is known. False if reading the question will choose it. Null without a
                scope.
            scan (None | ScanEstimate): What a scan will take at most, if the question is answered by one; null if it cannot
                be. A question is only scanned if it clearly asks for that, or if you name the route.
    """

    object_: str
    charge: ChargeSpan
    duration_ms: DurationSpan
    sample: int
    error: float | None
    covered: float | None
    route: None | str
    certain: bool | None
    scan: None | ScanEstimate
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.scan_estimate import ScanEstimate  # noqa: PLC0415

        object_ = self.object_

        charge = self.charge.to_dict()

        duration_ms = self.duration_ms.to_dict()

        sample = self.sample

        error: float | None
        error = self.error

        covered: float | None
        covered = self.covered

        route: None | str
        route = self.route

        certain: bool | None
        certain = self.certain

        scan: dict[str, Any] | None
        if isinstance(self.scan, ScanEstimate):
            scan = self.scan.to_dict()
        else:
            scan = self.scan

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "charge": charge,
                "duration_ms": duration_ms,
                "sample": sample,
                "error": error,
                "covered": covered,
                "route": route,
                "certain": certain,
                "scan": scan,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.charge_span import ChargeSpan  # noqa: PLC0415
        from ..models.duration_span import DurationSpan  # noqa: PLC0415
        from ..models.scan_estimate import ScanEstimate  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        charge = ChargeSpan.from_dict(d.pop("charge"))

        duration_ms = DurationSpan.from_dict(d.pop("duration_ms"))

        sample = d.pop("sample")

        def _parse_error(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        error = _parse_error(d.pop("error"))

        def _parse_covered(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        covered = _parse_covered(d.pop("covered"))

        def _parse_route(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        route = _parse_route(d.pop("route"))

        def _parse_certain(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        certain = _parse_certain(d.pop("certain"))

        def _parse_scan(data: object) -> None | ScanEstimate:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                scan_type_0 = ScanEstimate.from_dict(data)

                return scan_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ScanEstimate, data)

        scan = _parse_scan(d.pop("scan"))

        question_estimate = cls(
            object_=object_,
            charge=charge,
            duration_ms=duration_ms,
            sample=sample,
            error=error,
            covered=covered,
            route=route,
            certain=certain,
            scan=scan,
        )

        question_estimate.additional_properties = d
        return question_estimate

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
