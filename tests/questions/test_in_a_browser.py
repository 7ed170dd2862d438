"""A report in Chromium, offline: its picture shows, axe finds nothing, a phone holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from tests.browser.chromium import in_a_thread, in_chromium, launched, listened, overhang, pictured, serious_faults
from tests.conftest import Cast
from tests.questions.test_reports import TITLES, question, report

__all__ = ["question"]

pytestmark = in_chromium


def test_a_report_opens_from_a_file_without_network(acme: Cast, question: UUID, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(in_a_thread(lambda: report(acme, question)).content)
    with launched() as chromium:
        context: Any = chromium.new_context(reduced_motion="reduce", offline=True)
        page = context.new_page()
        said = listened(page)

        page.goto(file.as_uri())

        for title in TITLES.values():
            assert page.get_by_role("heading", name=title).first.is_visible(), title
        assert page.evaluate("() => document.querySelector('img').naturalWidth") == 64
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            pictured(page, f"report-{width}")
            assert serious_faults(page) == []
            assert overhang(page) <= 0
        assert said == []
