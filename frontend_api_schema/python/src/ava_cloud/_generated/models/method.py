from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.method_obstacle import MethodObstacle
    from ..models.typical_calls import TypicalCalls


T = TypeVar("T", bound="Method")


@_attrs_define
class Method:
    """An answering method.

    Attributes:
        name (str): Name, as a question's `method` takes it.
        object_ (str): Always `method`. Default: 'method'.
        version (str): Version. It changes whenever the method may answer differently.
        description (str): What the method does, in one line.
        needs (list[str]): What the method works with: `events`, `frames`, `transcript`, `topics`, `objects`, `checker`.
            Without one of them it still answers, and the answer's `degraded` says so.
        efforts (list[str]): Efforts that it has.
        typical_calls (list[TypicalCalls]): Number of model calls of a typical question.
        usable (bool | None): Whether the models of this deployment can run it; null while no worker has reported its
            models.
        obstacles (list[MethodObstacle]): Why it cannot be used; empty if it can.
    """

    name: str
    version: str
    description: str
    needs: list[str]
    efforts: list[str]
    typical_calls: list[TypicalCalls]
    usable: bool | None
    obstacles: list[MethodObstacle]
    object_: str = "method"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        object_ = self.object_

        version = self.version

        description = self.description

        needs = self.needs

        efforts = self.efforts

        typical_calls = []
        for typical_calls_item_data in self.typical_calls:
            typical_calls_item = typical_calls_item_data.to_dict()
            typical_calls.append(typical_calls_item)

        usable: bool | None
        usable = self.usable

        obstacles = []
        for obstacles_item_data in self.obstacles:
            obstacles_item = obstacles_item_data.to_dict()
            obstacles.append(obstacles_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "object": object_,
                "version": version,
                "description": description,
                "needs": needs,
                "efforts": efforts,
                "typical_calls": typical_calls,
                "usable": usable,
                "obstacles": obstacles,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.method_obstacle import MethodObstacle  # noqa: PLC0415
        from ..models.typical_calls import TypicalCalls  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        object_ = d.pop("object")

        version = d.pop("version")

        description = d.pop("description")

        needs = cast(list[str], d.pop("needs"))

        efforts = cast(list[str], d.pop("efforts"))

        typical_calls = []
        _typical_calls = d.pop("typical_calls")
        for typical_calls_item_data in _typical_calls:
            typical_calls_item = TypicalCalls.from_dict(typical_calls_item_data)

            typical_calls.append(typical_calls_item)

        def _parse_usable(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        usable = _parse_usable(d.pop("usable"))

        obstacles = []
        _obstacles = d.pop("obstacles")
        for obstacles_item_data in _obstacles:
            obstacles_item = MethodObstacle.from_dict(obstacles_item_data)

            obstacles.append(obstacles_item)

        method = cls(
            name=name,
            object_=object_,
            version=version,
            description=description,
            needs=needs,
            efforts=efforts,
            typical_calls=typical_calls,
            usable=usable,
            obstacles=obstacles,
        )

        method.additional_properties = d
        return method

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
