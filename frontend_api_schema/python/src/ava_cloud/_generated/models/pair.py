from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.pair_groups import PairGroups


T = TypeVar("T", bound="Pair")


@_attrs_define
class Pair:
    """One arm compared with another, item by item, over the items with a grade in every arm.

    Attributes:
        arm (int): Index of the arm.
        against (int): Index of the other arm.
        n (int): Items compared.
        both (int): Items that both arms got right.
        gained (int): Items that this arm alone got right.
        lost (int): Items that the other arm alone got right.
        neither (int): Items that both arms got wrong.
        difference (float): Accuracy of this arm less the other's, -1 to 1.
        low (float): Lower end of the difference's 95 % interval (Newcombe 1998, method 10).
        high (float): Upper end of the interval.
        p_value (float): McNemar's exact test, two-sided.
        p_corrected (float): `p_value` corrected by Holm's method for the number of pairs.
        charge_ratio (float | None): Charge of this arm by the other's; null if the other is charged nothing.
        groups (PairGroups): Items that some arm got right, as `both_cheaper`, `both_dearer`, `gained_cheaper`,
            `gained_dearer`, `lost_cheaper`, `lost_dearer`: `both` is right in both arms, `gained` is right in this arm
            alone, `lost` is right in the other arm alone; `cheaper` is at most the other's charge.
        smallest_difference (float | None): Smallest difference that so many questions show in four of five comparisons;
            null if no item separates the arms.
        can_show (str): The same as a sentence.
    """

    arm: int
    against: int
    n: int
    both: int
    gained: int
    lost: int
    neither: int
    difference: float
    low: float
    high: float
    p_value: float
    p_corrected: float
    charge_ratio: float | None
    groups: PairGroups
    smallest_difference: float | None
    can_show: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        arm = self.arm

        against = self.against

        n = self.n

        both = self.both

        gained = self.gained

        lost = self.lost

        neither = self.neither

        difference = self.difference

        low = self.low

        high = self.high

        p_value = self.p_value

        p_corrected = self.p_corrected

        charge_ratio: float | None
        charge_ratio = self.charge_ratio

        groups = self.groups.to_dict()

        smallest_difference: float | None
        smallest_difference = self.smallest_difference

        can_show = self.can_show

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "arm": arm,
                "against": against,
                "n": n,
                "both": both,
                "gained": gained,
                "lost": lost,
                "neither": neither,
                "difference": difference,
                "low": low,
                "high": high,
                "p_value": p_value,
                "p_corrected": p_corrected,
                "charge_ratio": charge_ratio,
                "groups": groups,
                "smallest_difference": smallest_difference,
                "can_show": can_show,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pair_groups import PairGroups  # noqa: PLC0415

        d = dict(src_dict)
        arm = d.pop("arm")

        against = d.pop("against")

        n = d.pop("n")

        both = d.pop("both")

        gained = d.pop("gained")

        lost = d.pop("lost")

        neither = d.pop("neither")

        difference = d.pop("difference")

        low = d.pop("low")

        high = d.pop("high")

        p_value = d.pop("p_value")

        p_corrected = d.pop("p_corrected")

        def _parse_charge_ratio(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        charge_ratio = _parse_charge_ratio(d.pop("charge_ratio"))

        groups = PairGroups.from_dict(d.pop("groups"))

        def _parse_smallest_difference(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        smallest_difference = _parse_smallest_difference(d.pop("smallest_difference"))

        can_show = d.pop("can_show")

        pair = cls(
            arm=arm,
            against=against,
            n=n,
            both=both,
            gained=gained,
            lost=lost,
            neither=neither,
            difference=difference,
            low=low,
            high=high,
            p_value=p_value,
            p_corrected=p_corrected,
            charge_ratio=charge_ratio,
            groups=groups,
            smallest_difference=smallest_difference,
            can_show=can_show,
        )

        pair.additional_properties = d
        return pair

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
