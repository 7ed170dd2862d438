from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.erasure_certificate import ErasureCertificate


T = TypeVar("T", bound="TenantErasure")


@_attrs_define
class TenantErasure:
    """
    Attributes:
        object_ (str): Always `tenant_erasure`.
        tenant_id (str): Id of the tenant.
        status (str): `erased` once the certificate is written. Known values: `erasing`, `erased`. Others may follow.
        certificate (ErasureCertificate | None): Null while the erasure goes on.
    """

    object_: str
    tenant_id: str
    status: str
    certificate: ErasureCertificate | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.erasure_certificate import ErasureCertificate  # noqa: PLC0415

        object_ = self.object_

        tenant_id = self.tenant_id

        status = self.status

        certificate: dict[str, Any] | None
        if isinstance(self.certificate, ErasureCertificate):
            certificate = self.certificate.to_dict()
        else:
            certificate = self.certificate

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "object": object_,
                "tenant_id": tenant_id,
                "status": status,
                "certificate": certificate,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.erasure_certificate import ErasureCertificate  # noqa: PLC0415

        d = dict(src_dict)
        object_ = d.pop("object")

        tenant_id = d.pop("tenant_id")

        status = d.pop("status")

        def _parse_certificate(data: object) -> ErasureCertificate | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                certificate_type_0 = ErasureCertificate.from_dict(data)

                return certificate_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ErasureCertificate | None, data)

        certificate = _parse_certificate(d.pop("certificate"))

        tenant_erasure = cls(
            object_=object_,
            tenant_id=tenant_id,
            status=status,
            certificate=certificate,
        )

        tenant_erasure.additional_properties = d
        return tenant_erasure

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
