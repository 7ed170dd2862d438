from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.arm_figures import ArmFigures
    from ..models.kind_rule import KindRule
    from ..models.pair import Pair


T = TypeVar("T", bound="ComparisonReport")


@_attrs_define
class ComparisonReport:
    """Figures of a comparison. An item that one arm could not ask leaves all arms; a repeated item counts once.

    Attributes:
        items (int): Items of the comparison.
        counted (int): Items that every arm replied to.
        left_out (int): Items that some arm could not ask.
        open_ (int): Items that some arm has no outcome of yet.
        labeled (int): Counted items with a grade in every arm.
        ungraded (int): Counted items without a grade in some arm.
        arms (list[ArmFigures]): Figures of each arm, in the order of the arms.
        pairs (list[Pair]): Every arm against the first, and the best against the second best.
        best (int | None): Index of the most accurate arm, of equal ones the cheapest; null without grades.
        frontier (list[int]): Indices of the arms that no other arm beats in accuracy without a higher charge.
        oracle (int): Labeled items that at least one arm got right.
        rule (KindRule | None): The best arm of each kind; null if labeled items have fewer than two kinds.
    """

    items: int
    counted: int
    left_out: int
    open_: int
    labeled: int
    ungraded: int
    arms: list[ArmFigures]
    pairs: list[Pair]
    best: int | None
    frontier: list[int]
    oracle: int
    rule: KindRule | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.kind_rule import KindRule  # noqa: PLC0415

        items = self.items

        counted = self.counted

        left_out = self.left_out

        open_ = self.open_

        labeled = self.labeled

        ungraded = self.ungraded

        arms = []
        for arms_item_data in self.arms:
            arms_item = arms_item_data.to_dict()
            arms.append(arms_item)

        pairs = []
        for pairs_item_data in self.pairs:
            pairs_item = pairs_item_data.to_dict()
            pairs.append(pairs_item)

        best: int | None
        best = self.best

        frontier = self.frontier

        oracle = self.oracle

        rule: dict[str, Any] | None
        if isinstance(self.rule, KindRule):
            rule = self.rule.to_dict()
        else:
            rule = self.rule

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "items": items,
                "counted": counted,
                "left_out": left_out,
                "open": open_,
                "labeled": labeled,
                "ungraded": ungraded,
                "arms": arms,
                "pairs": pairs,
                "best": best,
                "frontier": frontier,
                "oracle": oracle,
                "rule": rule,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.arm_figures import ArmFigures  # noqa: PLC0415
        from ..models.kind_rule import KindRule  # noqa: PLC0415
        from ..models.pair import Pair  # noqa: PLC0415

        d = dict(src_dict)
        items = d.pop("items")

        counted = d.pop("counted")

        left_out = d.pop("left_out")

        open_ = d.pop("open")

        labeled = d.pop("labeled")

        ungraded = d.pop("ungraded")

        arms = []
        _arms = d.pop("arms")
        for arms_item_data in _arms:
            arms_item = ArmFigures.from_dict(arms_item_data)

            arms.append(arms_item)

        pairs = []
        _pairs = d.pop("pairs")
        for pairs_item_data in _pairs:
            pairs_item = Pair.from_dict(pairs_item_data)

            pairs.append(pairs_item)

        def _parse_best(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        best = _parse_best(d.pop("best"))

        frontier = cast(list[int], d.pop("frontier"))

        oracle = d.pop("oracle")

        def _parse_rule(data: object) -> KindRule | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                rule_type_0 = KindRule.from_dict(data)

                return rule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KindRule | None, data)

        rule = _parse_rule(d.pop("rule"))

        comparison_report = cls(
            items=items,
            counted=counted,
            left_out=left_out,
            open_=open_,
            labeled=labeled,
            ungraded=ungraded,
            arms=arms,
            pairs=pairs,
            best=best,
            frontier=frontier,
            oracle=oracle,
            rule=rule,
        )

        comparison_report.additional_properties = d
        return comparison_report

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
