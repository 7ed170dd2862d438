"""Links between entities and tracked objects, from rows as from memory, and written again as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from backend.ekg.index_reads import participations_of
from backend.ekg.models import EntityObject
from backend.ekg.object_memory import objects_of
from backend.ekg.writer import VersionWriter
from gpu_workers.engine.indexing.object_links import object_links
from tests.conftest import Cast
from tests.ekg.worlds import make_world


@pytest.mark.parametrize("seed", [80, 81])
def test_rows_give_the_links_of_memory(acme: Cast, globex: Cast, seed: int) -> None:
    video = make_world(np.random.default_rng(seed), acme, globex).videos[0]
    with acme.scope():
        rows, objects = participations_of(video.video_id, 1), objects_of(video.video_id, 1)

        assert [state.id for state in objects] == [state.id for state in video.objects]
        by_span = {record.event.span: record for record in video.events}
        for span, mentions in rows:
            known = {linked.entity_id: linked.mention for linked in by_span[span].mentions}
            assert dict(mentions) == known
        assert len(rows) == sum(bool(record.mentions) for record in video.events)
        in_memory = [
            (record.event.span, [(linked.entity_id, linked.mention) for linked in record.mentions])
            for record in video.events
        ]
        assert object_links(rows, objects) == object_links(in_memory, video.objects)


def test_links_are_replaced_as_a_whole(acme: Cast, globex: Cast) -> None:
    world = make_world(np.random.default_rng(82), acme, globex)
    video, foreign = world.videos[0], world.foreign
    assert len(video.links) > 2
    with acme.scope():
        writer = VersionWriter(video.video_id, 1, text_model="t", frame_model="f")
        others = EntityObject.objects.exclude(video_id=video.video_id, index_version=1).count()
        writer.store_links(video.links[:2])
        rows = EntityObject.objects.filter(video_id=video.video_id, index_version=1)
        assert {(row.entity_id, row.object_id, row.confidence) for row in rows} == {
            (link.entity_id, link.object_id, link.confidence) for link in video.links[:2]
        }
        writer.store_links(())
        assert not rows.all().exists()
        assert EntityObject.objects.count() == others > 0
    with globex.scope():
        assert EntityObject.objects.count() == len(foreign.links)
