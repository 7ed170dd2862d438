"""The command `ava`. It needs the packages of the extra `cli`."""

import sys


def main() -> None:
    """Run the command. Exits with 0, 1 (the work failed), 2 (usage), 3 (not found), 4 (refused, or a limit), 5 (the
    service cannot be reached) or 130 (Ctrl-C)."""
    try:
        from ava_cloud.cli.commands import run
    except ModuleNotFoundError as error:
        sys.exit(f"ava: {error.name} is missing: pip install 'ava-cloud[cli]'")
    run()
