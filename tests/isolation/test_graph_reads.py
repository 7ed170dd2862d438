"""Row-level security under the reads of a question: SQL with another tenant's parameters finds nothing of its rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_workers.engine.ports import ViewQuery
from tests.conftest import Cast
from tests.ekg.test_same_reads import Ids, everything
from tests.ekg.worlds import END_MS, VIEWS, exact_vector, make_world, postgres


def test_a_read_with_the_parameters_of_another_tenant_finds_none_of_its_rows(acme: Cast, globex: Cast) -> None:
    """The filters of every statement admit globex, but the session is acme's."""
    random = np.random.default_rng(60)
    world = make_world(random, acme, globex)
    ids = Ids(world)
    whole = {view: ViewQuery(exact_vector(random), 500) for view in VIEWS}
    with postgres(globex, (world.foreign.video_id, 1, END_MS)) as graph:
        assert all(everything(graph, ids).values())
        assert all(graph.search_views(whole, floor=-2.0).values())

        graph._scope = replace(graph._scope, tenant_id=acme.tenant_id)

        assert graph._scope_parameters["tenant"] == globex.tenant_id
        assert not any(everything(graph, ids).values())
        assert not any(graph.search_views(whole, floor=-2.0).values())
