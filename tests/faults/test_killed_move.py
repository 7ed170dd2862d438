"""The process that moves a tenant is killed at every step, and the next one goes on."""

from __future__ import annotations

from tests.cells.conftest import _cells, cells
from tests.cells.test_move import STOPS, assert_in_b, furnished, killed_at, move
from tests.cells.world import Cells
from tests.conftest import Cast

__all__ = ["_cells", "cells"]


def test_a_move_that_is_killed_at_every_step_goes_on_and_the_tenant_comes_back(cells: Cells, acme: Cast) -> None:
    furnished(cells, acme)
    before, objects = cells.rows(cells.a, acme.tenant_id), cells.objects(cells.a, acme.tenant_id)

    for stop in STOPS:
        killed_at(stop, cells, acme)
    move(acme)

    assert_in_b(cells, acme, before, objects)
    with cells.inside_b():
        assert acme.client.get("/v1/videos").status_code == 200
    move(acme, "a")
    assert (cells.rows(cells.b, acme.tenant_id), cells.rows(cells.a, acme.tenant_id)) == ({}, before)
