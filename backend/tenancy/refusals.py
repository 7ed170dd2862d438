"""The base of errors that services raise for a reason the customer can act on."""

from __future__ import annotations


class Refused(Exception):
    """A request that cannot be done as things stand.

    code: stable. status: HTTP status of the answer, by default 409; services know it because it is part of the error's
    meaning (gone, too large, try later). pointer: JSON Pointer of the value at fault, if there is one.
    """

    def __init__(self, code: str, detail: str, *, status: int = 409, pointer: str | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status = status
        self.pointer = pointer


class TenantMoving(Refused):
    """The tenant moves to another installation and is closed here (backend.archives.exporting)."""

    def __init__(self) -> None:
        super().__init__("tenant_moving", "Your data is being moved; try again in a few seconds.", status=503)


def invalid(*, pointer: str, code: str, detail: str) -> Refused:
    """Return the refusal (400) of one value. pointer: JSON Pointer of the value. detail: what the customer can do."""
    return Refused(code, detail, status=400, pointer=pointer)
