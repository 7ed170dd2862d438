"""Makes the folder of a release: `make freeze-release` runs this as a test, because it needs the stack of the tests."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path

import pytest

from backend.api.public_ids import encode
from backend.tenancy import keys
from infra.release import migrations
from infra.release.__main__ import SEED, TENANTS
from tests.conftest import make_tenant
from tests.release.world import answered, installation, key_of
from tests.scripted_openai import ScriptedOpenAIServer
from tests.tasks.world import TWELVE_SECONDS, indexed_video


@pytest.mark.usefixtures("vlm")
def test_make_the_seed(llm: ScriptedOpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(os.environ["AVA_SEED_FOLDER"])
    migrations.freeze(folder)
    own = installation("seed")
    own.migrate()
    with own.inside():
        tenants = []
        for slug in ("acme", "globex"):
            monkeypatch.setattr(keys, "generate", lambda *, test=False, slug=slug: key_of(slug))
            cast = make_tenant(slug)
            video_id = indexed_video(cast, TWELVE_SECONDS)
            answered(cast, video_id, llm)
            tenants.append(
                {
                    "tenant_id": str(cast.tenant_id),
                    "slug": cast.slug,
                    "video_id": encode("vid", video_id),
                }
            )
    done = own.backups("make", str(tmp_path / "seed"))
    assert done.returncode == 0, done.stderr
    # The head of a dump is not compressed.
    with tarfile.open(folder / SEED, "w:xz") as archive:
        archive.add(tmp_path / "seed", arcname="seed")
    (folder / TENANTS).write_text(json.dumps(tenants, indent=1) + "\n")
    own.destroy()
