"""Moves a tenant to another cell, or goes on with a move that was stopped (docs/runbooks/cells.md)."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.cells.cells_file import BadCellsFile, Cell, read_cells
from backend.cells.move import MoveFailed, MoveRefused, Patience, TenantMove, begin
from backend.tenancy.directory import Directory, NotPlaced


class Command(BaseCommand):
    help = "Move a tenant to a cell; started again, it goes on. Needs DATABASE_MOVER_URL and AVA_CELLS_FILE."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="slug or id of the tenant")
        parser.add_argument("cell", help="name of the cell that it moves to")
        parser.add_argument("--drain", type=float, default=Patience().drain, help="seconds to wait for running jobs")
        parser.add_argument(
            "--forget",
            type=float,
            default=Patience().forget,
            help="seconds from the switch until the old cell is erased",
        )
        parser.add_argument("--expire-uploads", action="store_true", help="move although uploads are unfinished")
        parser.add_argument("--abort", action="store_true", help="leave the tenant where it is; until it is copied")

    def handle(self, *args: Any, **options: Any) -> None:
        url = os.environ.get("DATABASE_MOVER_URL")
        if not url:
            raise CommandError("DATABASE_MOVER_URL is not set")
        try:
            cells = read_cells(settings.CELLS_FILE)
            with Directory(url) as directory:
                self._move(directory, cells, options)
        except (BadCellsFile, MoveRefused, MoveFailed, NotPlaced) as error:
            raise CommandError(f"{error}.") from error

    def _move(self, directory: Directory, cells: dict[str, Cell], options: dict[str, Any]) -> None:
        place = directory.place_of(options["tenant"])
        if not directory.claim_move(place.tenant_id):
            raise MoveRefused("another process moves this tenant now")
        move = directory.move_of(place.tenant_id)
        if move is not None and not move.ended:
            if move.target != options["cell"]:
                raise MoveRefused(f"the tenant is on its way to {move.target}")
        elif options["abort"]:
            raise MoveRefused("no move of this tenant is under way")
        else:
            move = begin(
                directory,
                place.tenant_id,
                _cell(cells, place.cell),
                _cell(cells, options["cell"]),
                expire_uploads=options["expire_uploads"],
            )
        one = TenantMove(
            directory,
            move,
            _cell(cells, move.source),
            _cell(cells, move.target),
            patience=Patience(drain=options["drain"], forget=options["forget"]),
            report=lambda phase: self.stdout.write(f"{place.slug}: {phase}"),
        )
        if options["abort"]:
            one.abort()
        else:
            one.run()


def _cell(cells: dict[str, Cell], name: str) -> Cell:
    if name not in cells:
        raise MoveRefused(f"AVA_CELLS_FILE has no cell {name}")
    return cells[name]
