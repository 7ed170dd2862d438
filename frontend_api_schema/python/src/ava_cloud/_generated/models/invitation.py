from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Invitation")


@_attrs_define
class Invitation:
    """
    Attributes:
        id (str):
        object_ (str):
        email (str):
        role (str): One of owner, admin, developer, analyst, viewer and billing. Known values: `owner`, `admin`,
            `developer`, `analyst`, `viewer`, `billing`. Others may follow.
        collection_ids (list[str] | None): Collections whose videos the member sees; null for all. Only analysts and
            viewers can be limited.
        created_at (datetime.datetime):
        expires_at (datetime.datetime):
        invited_by (None | str):
        accepted_at (datetime.datetime | None):
        revoked_at (datetime.datetime | None):
        mailed (bool): Whether the link was mailed to the address.
    """

    id: str
    object_: str
    email: str
    role: str
    collection_ids: list[str] | None
    created_at: datetime.datetime
    expires_at: datetime.datetime
    invited_by: None | str
    accepted_at: datetime.datetime | None
    revoked_at: datetime.datetime | None
    mailed: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        email = self.email

        role = self.role

        collection_ids: list[str] | None
        if isinstance(self.collection_ids, list):
            collection_ids = self.collection_ids

        else:
            collection_ids = self.collection_ids

        created_at = self.created_at.isoformat()

        expires_at = self.expires_at.isoformat()

        invited_by: None | str
        invited_by = self.invited_by

        accepted_at: None | str
        if isinstance(self.accepted_at, datetime.datetime):
            accepted_at = self.accepted_at.isoformat()
        else:
            accepted_at = self.accepted_at

        revoked_at: None | str
        if isinstance(self.revoked_at, datetime.datetime):
            revoked_at = self.revoked_at.isoformat()
        else:
            revoked_at = self.revoked_at

        mailed = self.mailed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "email": email,
                "role": role,
                "collection_ids": collection_ids,
                "created_at": created_at,
                "expires_at": expires_at,
                "invited_by": invited_by,
                "accepted_at": accepted_at,
                "revoked_at": revoked_at,
                "mailed": mailed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        email = d.pop("email")

        role = d.pop("role")

        def _parse_collection_ids(data: object) -> list[str] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                collection_ids_type_0 = cast(list[str], data)

                return collection_ids_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None, data)

        collection_ids = _parse_collection_ids(d.pop("collection_ids"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        def _parse_invited_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        invited_by = _parse_invited_by(d.pop("invited_by"))

        def _parse_accepted_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                accepted_at_type_0 = datetime.datetime.fromisoformat(data)

                return accepted_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        accepted_at = _parse_accepted_at(d.pop("accepted_at"))

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

        mailed = d.pop("mailed")

        invitation = cls(
            id=id,
            object_=object_,
            email=email,
            role=role,
            collection_ids=collection_ids,
            created_at=created_at,
            expires_at=expires_at,
            invited_by=invited_by,
            accepted_at=accepted_at,
            revoked_at=revoked_at,
            mailed=mailed,
        )

        invitation.additional_properties = d
        return invitation

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
