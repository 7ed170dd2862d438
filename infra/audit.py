"""`make audit`: compares what the images install with the known vulnerabilities that the package index publishes.

infra/audit_allowed.toml lists the vulnerabilities that we live with for a while, each with a reason and an end. Where
the index publishes no vulnerabilities, such as a mirror without a network, nothing can be compared: that is printed,
and it fails only if REQUIRED=1 is set, as before a release.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from infra.image_locks import LOCKS, lock_of
from infra.local.bootstrap import PROJECT

ALLOWED = PROJECT / "infra" / "audit_allowed.toml"
LONGEST_DAYS = 90
"""Maximum number of days that an entry may lie ahead: as long as the least severe faults may stay."""


class AuditFailed(Exception):
    """The audit cannot be made, or its list of exemptions is not valid; the message says why."""


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """A known fault of an installed package. ids: the index's id and its other names, such as CVE numbers."""

    package: str
    version: str
    ids: tuple[str, ...]
    fixed_in: tuple[str, ...]

    def __str__(self) -> str:
        fixed = ", ".join(self.fixed_in) or "no release"
        return f"{self.package} {self.version}: {', '.join(self.ids)} (mended in {fixed})"


@dataclass(frozen=True, slots=True)
class Exemption:
    """A vulnerability that does not fail the audit until a day."""

    id: str
    package: str
    reason: str
    expires: date


@dataclass(frozen=True, slots=True)
class Report:
    """What the index knows of one lock. unknown: packages that it says nothing about."""

    vulnerabilities: tuple[Vulnerability, ...]
    unknown: tuple[str, ...]
    audited: int


def allowed(text: str, today: date) -> list[Exemption]:
    """Return the exemptions of a TOML file. Raises AuditFailed for one that is incomplete, expired or too long."""
    found = []
    for entry in tomllib.loads(text).get("allowed", []):
        missing = {"id", "package", "reason", "expires"} - {name for name, value in entry.items() if value}
        name = f"{entry.get('id', '?')} of {entry.get('package', '?')}"
        if missing or not isinstance(entry["expires"], date):
            raise AuditFailed(f"the exemption {name} needs id, package, reason and expires (a date)")
        one = Exemption(entry["id"], entry["package"].lower(), entry["reason"], entry["expires"])
        if one.expires < today:
            raise AuditFailed(f"the exemption {name} expired on {one.expires}: mend the package, or decide again")
        if (one.expires - today).days > LONGEST_DAYS:
            raise AuditFailed(f"the exemption {name} lasts longer than {LONGEST_DAYS} days")
        found.append(one)
    return found


def report_of(output: str) -> Report:
    """Read the JSON of pip-audit. Raises ValueError if it is none."""
    rows: Sequence[Mapping[str, Any]] = json.loads(output)["dependencies"]
    skipped = [row for row in rows if "skip_reason" in row]
    faults = [
        Vulnerability(row["name"].lower(), row["version"], (one["id"], *one["aliases"]), tuple(one["fix_versions"]))
        for row in rows
        for one in row.get("vulns", ())
    ]
    return Report(tuple(faults), tuple(row["name"] for row in skipped), len(rows) - len(skipped))


def not_allowed(found: Iterable[Vulnerability], exemptions: Iterable[Exemption]) -> list[Vulnerability]:
    """Return the vulnerabilities that no exemption names."""
    names = {(one.package, one.id) for one in exemptions}
    return [one for one in found if not any((one.package, id) in names for id in one.ids)]


def _asked(requirements: Path) -> Report | None:
    """Ask the index about a file of requirements; None if it does not answer."""
    options = ["--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json"]
    argv = [sys.executable, "-m", "pip_audit", *options, "--requirement", str(requirements)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    try:
        return report_of(done.stdout)
    except (ValueError, KeyError):
        return None


def _publishes(lock: Path) -> bool:
    """Whether the index publishes vulnerabilities, asked about the first package of a lock alone."""
    lines = lock.read_text().splitlines()
    first = next(n for n, line in enumerate(lines) if "==" in line)
    after = next((n for n in range(first + 1, len(lines)) if "==" in lines[n]), len(lines))
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.txt"
        probe.write_text("\n".join(lines[first:after]))
        report = _asked(probe)
    return report is not None and report.audited == 1


def audit(*, required: bool, today: date) -> bool:
    """Print what is known of each image; return whether the run may go on.

    required: whether an index that publishes nothing fails the audit. Raises AuditFailed as allowed() does.
    """
    exemptions = allowed(ALLOWED.read_text(), today)
    if not _publishes(lock_of(next(iter(LOCKS)))):
        print("NOT AUDITED: the package index does not answer, or publishes no vulnerabilities.", file=sys.stderr)
        print("Run `make audit REQUIRED=1` where https://pypi.org answers, before each release.", file=sys.stderr)
        return not required
    clean, used = True, set()
    for image in LOCKS:
        report = _asked(lock_of(image))
        if report is None:
            raise AuditFailed(f"the package index stopped to answer while {image} was audited")
        open_ones = not_allowed(report.vulnerabilities, exemptions)
        used |= {one for one in exemptions if not_allowed(report.vulnerabilities, [one]) != [*report.vulnerabilities]}
        # A package that the index knows nothing of may be a misspelt one.
        clean &= not open_ones and not report.unknown
        print(f"{image}: {report.audited} packages, {len(report.vulnerabilities)} known vulnerabilities")
        for one in open_ones:
            print(f"  {one}")
        for name in report.unknown:
            print(f"  {name}: the package index says nothing about it")
    for stale in set(exemptions) - used:
        print(f"the exemption {stale.id} of {stale.package} is not needed any more")
    return clean


def main() -> int:
    """Audit the images. Exit status 1 for an open vulnerability, or for an exemption that is not valid."""
    try:
        return 0 if audit(required=os.environ.get("REQUIRED") == "1", today=datetime.now(UTC).date()) else 1
    except AuditFailed as failed:
        print(f"audit: {failed}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
