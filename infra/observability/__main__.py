"""``python -m infra.observability`` checks alert rules and the configuration of Prometheus with promtool."""

from __future__ import annotations

import subprocess
import sys

from infra.observability.promtool import PROJECT, NoPromtool, ensure_promtool

CHECKS = (
    ("check", "config", "infra/observability/prometheus.yml"),
    ("check", "rules", "infra/observability/alerts.yml"),
    ("test", "rules", "tests/observability/alerts_test.yml"),
)


def main() -> int:
    """Run every check. Exit status 1 if one fails or promtool cannot be had."""
    try:
        promtool = ensure_promtool()
    except NoPromtool as error:
        print(f"lint-alerts: ERROR {error}", file=sys.stderr)
        return 1
    failed = [check for check in CHECKS if subprocess.run([promtool, *check], cwd=PROJECT, check=False).returncode]
    for check in failed:
        print(f"lint-alerts: ERROR promtool {' '.join(check)} failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
