"""Verdicts of scans: kept at once and for good, of one tenant and one index version, and gone with the version."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import transaction

from backend.ekg.kept_verdicts import KeptVerdicts
from backend.ekg.models import EventVerdicts
from backend.ekg.retirement import drop_version
from backend.ekg.scope import Scope, ScopedVideo
from backend.tenancy.context import tenant_scope
from tests.conftest import Cast
from tests.factories import make_video

KEY, OTHER = "a" * 64, "b" * 64
WAVES, STANDS, RUNS = UUID(int=1), UUID(int=2), UUID(int=3)


def video_of(cast: Cast) -> UUID:
    with cast.scope():
        return make_video(indexed_until_ms=30_000).id


def store(cast: Cast, *videos: UUID, version: int = 1) -> KeptVerdicts:
    scoped = tuple(ScopedVideo(video, version, 30_000) for video in videos)
    return KeptVerdicts(Scope(cast.tenant_id, scoped))


def test_verdicts_of_several_batches_are_read_back_by_key(acme: Cast) -> None:
    video = video_of(acme)
    kept = store(acme, video)
    kept.keep(KEY, video, {WAVES: True, STANDS: False})
    kept.keep(KEY, video, {RUNS: False})
    kept.keep(OTHER, video, {WAVES: False})

    assert kept.verdicts(KEY) == {WAVES: True, STANDS: False, RUNS: False}
    assert store(acme, video).verdicts(OTHER) == {WAVES: False}
    assert kept.verdicts("c" * 64) == {}


def test_a_batch_is_kept_even_if_its_worker_dies(acme: Cast) -> None:
    """Each batch commits by itself, whatever the process does next."""
    video = video_of(acme)
    store(acme, video).keep(KEY, video, {WAVES: True})

    def dies() -> None:
        with tenant_scope(acme.tenant_id), transaction.atomic():
            make_video()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dies()
    assert store(acme, video).verdicts(KEY) == {WAVES: True}


def test_another_tenant_another_video_and_another_version_have_none(acme: Cast, globex: Cast) -> None:
    video, second, foreign = video_of(acme), video_of(acme), video_of(globex)
    store(acme, video).keep(KEY, video, {WAVES: True})

    assert store(globex, video).verdicts(KEY) == {}
    assert store(globex, foreign).verdicts(KEY) == {}
    assert store(acme, second).verdicts(KEY) == {}
    assert store(acme, video, version=2).verdicts(KEY) == {}
    with globex.scope():
        assert EventVerdicts.objects.count() == 0


def test_a_video_out_of_scope_is_not_kept(acme: Cast) -> None:
    video = video_of(acme)
    store(acme, video).keep(KEY, uuid4(), {WAVES: True})
    with acme.scope():
        assert EventVerdicts.objects.count() == 0


def test_verdicts_go_with_their_index_version(acme: Cast) -> None:
    video = video_of(acme)
    store(acme, video).keep(KEY, video, {WAVES: True})
    store(acme, video, version=2).keep(KEY, video, {WAVES: False})
    with acme.scope():
        drop_version(video, 1)

    assert store(acme, video).verdicts(KEY) == {}
    assert store(acme, video, version=2).verdicts(KEY) == {WAVES: False}


def test_a_question_of_a_comparison_reads_its_own_verdicts_alone(acme: Cast) -> None:
    """Its next attempt reads them, too: the verdicts of a worker that died are not paid for twice."""
    video = video_of(acme)
    scope = Scope(acme.tenant_id, (ScopedVideo(video, 1, 30_000),))
    first_arm, second_arm = uuid4(), uuid4()
    store(acme, video).keep(KEY, video, {WAVES: True})
    KeptVerdicts(scope, alone_for=first_arm).keep(KEY, video, {RUNS: False})

    assert KeptVerdicts(scope, alone_for=first_arm).verdicts(KEY) == {RUNS: False}
    assert KeptVerdicts(scope, alone_for=second_arm).verdicts(KEY) == {}
    assert store(acme, video).verdicts(KEY) == {WAVES: True}
