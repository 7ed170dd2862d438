"""The commands of the runbooks exist and take the options that the runbooks give them. The rest is `make lint`'s."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, CommandError

RUNBOOKS = Path(__file__).parents[1] / "docs" / "runbooks"
COMMAND = re.compile(r"manage\.py ([a-z_]+[^`;|\n]*)")


def test_commands_of_the_runbooks_are_accepted_as_they_are_written() -> None:
    homes, refused = get_commands(), []
    written = [
        words
        for runbook in sorted(RUNBOOKS.glob("*.md"))
        for words in COMMAND.findall(runbook.read_text().replace("\\\n", " "))
    ]
    assert written
    for words in written:
        name, *arguments = shlex.split(words.translate({ord("["): None, ord("]"): None}), comments=True)
        home = homes.get(name)
        if home is None:
            refused.append(words)
        elif arguments:
            command = home if isinstance(home, BaseCommand) else load_command_class(home, name)
            try:
                command.create_parser("manage.py", name).parse_args(arguments)
            except (CommandError, SystemExit):
                refused.append(words)
    assert refused == []
