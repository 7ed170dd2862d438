"""The page of a report: HTML that needs nothing else, and the same page as PDF."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from django.template.loader import render_to_string

from backend.library.storage import ObjectMissing, ObjectStorage
from backend.questions.report.contents import ReportContents
from backend.tenancy.refusals import Refused

PICTURE_BYTES = 200_000
"""Maximum length of a picture. Thumbnails have at most 60 kB; a longer object is left out."""
_READERS = 8
PDF_VARIANT = "pdf/ua-1"
"""Accessible PDF: tagged, with language, title and alternative texts."""


def as_html(contents: ReportContents, *, made_at: datetime | None = None) -> str:
    """Return the report as one HTML page with its pictures inside. Raises StorageAway."""
    made = (made_at or datetime.now(UTC)).isoformat(sep=" ", timespec="seconds")
    pictures = _inline(row.frame_key for row in contents.evidence)
    evidence = [(row, pictures.get(row.frame_key, "")) for row in contents.evidence]
    return render_to_string("questions/report.html", {"report": contents, "evidence": evidence, "made": made})


def as_pdf(html: str) -> bytes:
    """Return the page of as_html() as tagged PDF. Raises Refused `report_pdf_unavailable`."""
    try:
        import weasyprint
    except (ImportError, OSError) as error:
        # It loads Pango of the system.
        detail = f"This installation makes no PDF, because its library cannot be loaded ({error}). Use format=html."
        raise Refused("report_pdf_unavailable", detail, status=501) from error

    class Inline(weasyprint.URLFetcher):
        """Opens pictures that stand in the page, and nothing else: no network, no file."""

        def __init__(self) -> None:
            super().__init__(allowed_protocols=["data"], allow_redirects=False)

    written: bytes = weasyprint.HTML(string=html, url_fetcher=Inline()).write_pdf(
        pdf_variant=PDF_VARIANT, pdf_tags=True
    )
    return written


def _inline(keys: Iterable[str]) -> dict[str, str]:
    """Return the pictures of these keys as data URLs; one that is gone or too long is left out."""
    storage = ObjectStorage()

    def read(key: str) -> str:
        try:
            picture = storage.get(key)
        except ObjectMissing:
            return ""
        return f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}" if len(picture) <= PICTURE_BYTES else ""

    wanted = sorted({key for key in keys if key})
    with ThreadPoolExecutor(_READERS) as readers:
        return dict(zip(wanted, readers.map(read, wanted), strict=True))
