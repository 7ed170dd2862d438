"""The audit of what the images install: what fails it, what passes for a while, and what it says offline."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from infra import audit

TODAY = date(2026, 11, 1)
ENTRY = '[[allowed]]\nid = "CVE-1"\npackage = "Pillow"\nreason = "No picture of a stranger reaches it."\n'
FOUND = json.dumps(
    {
        "dependencies": [
            {"name": "django", "version": "5.2", "vulns": []},
            {
                "name": "Pillow",
                "version": "11.0",
                "vulns": [
                    {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["11.1"], "description": ""},
                    {"id": "PYSEC-2", "aliases": [], "fix_versions": [], "description": ""},
                ],
            },
            {"name": "amqp", "skip_reason": "Dependency not found on PyPI"},
        ],
        "fixes": [],
    }
)


def test_a_report_names_faults_and_what_the_index_does_not_know() -> None:
    report = audit.report_of(FOUND)
    assert [str(one) for one in report.vulnerabilities] == [
        "pillow 11.0: PYSEC-1, CVE-1 (mended in 11.1)",
        "pillow 11.0: PYSEC-2 (mended in no release)",
    ]
    assert (report.unknown, report.audited) == (("amqp",), 2)


def test_an_exemption_lets_one_fault_of_one_package_pass() -> None:
    exemptions = audit.allowed(f"{ENTRY}expires = 2026-11-01\n", TODAY)
    found = audit.report_of(FOUND).vulnerabilities
    assert [one.ids for one in audit.not_allowed(found, exemptions)] == [("PYSEC-2",)]
    (mine,) = exemptions
    other = audit.Exemption(mine.id, "django", mine.reason, mine.expires)
    assert len(audit.not_allowed(found, [other])) == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("expires = 2026-10-31", "expired on 2026-10-31"),
        ("expires = 2027-01-31", "lasts longer than 90 days"),
        ('expires = "2026-11-30"', "expires (a date)"),
        ("", "needs id, package, reason and expires"),
    ],
)
def test_an_exemption_without_a_day_or_past_it_fails(line: str, says: str) -> None:
    with pytest.raises(audit.AuditFailed) as failed:
        audit.allowed(f"{ENTRY}{line}\n", TODAY)
    assert says in str(failed.value)


def test_our_own_list_is_valid_today() -> None:
    audit.allowed(audit.ALLOWED.read_text(), datetime.now(UTC).date())


def without_index(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing listens at this address.
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


def test_an_index_that_does_not_answer_is_said_and_fails_a_release_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_index(monkeypatch)
    assert audit.audit(required=False, today=datetime.now(UTC).date())
    assert "NOT AUDITED" in capsys.readouterr().err
    assert not audit.audit(required=True, today=datetime.now(UTC).date())


def test_an_expired_exemption_fails_also_without_an_index(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without_index(monkeypatch)
    entries = tmp_path / "allowed.toml"
    entries.write_text(f"{ENTRY}expires = 2020-01-01\n")
    monkeypatch.setattr(audit, "ALLOWED", entries)
    assert audit.main() == 1
    assert "expired on 2020-01-01" in capsys.readouterr().err
