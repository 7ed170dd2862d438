"""What the rehearsal reads out of a Dockerfile."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.rehearsal import dockerfile
from infra.rehearsal.dockerfile import Copy

TEXT = """
# A comment.
FROM uv:1.2.3 AS uv
FROM python:3.11 AS build
COPY --from=uv /uv /usr/local/bin/uv
WORKDIR /build
COPY app.lock ./
RUN uv venv /opt/venv \\
 && uv pip install -r app.lock
FROM python:3.11
RUN apt-get update \\
 && apt-get install --yes --no-install-recommends ffmpeg curl \\
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY --chmod=0755 one two ./
ENV PATH=/opt/venv/bin:$PATH \\
    NAME="two words"
USER 10001:10002
VOLUME /var/cache/ava
HEALTHCHECK --interval=1m30s --timeout=5s --start-period=2h --retries=3 \\
    CMD ["probe", "--fast"]
ENTRYPOINT ["serve"]
CMD ["--port", "8000"]
"""


@pytest.fixture
def image(tmp_path: Path) -> dockerfile.Image:
    (tmp_path / "app.Dockerfile").write_text(TEXT)
    return dockerfile.read(tmp_path / "app.Dockerfile")


def test_a_container_gets_what_the_last_stage_says(image: dockerfile.Image):
    assert image.name == "app"
    assert (image.workdir, image.user, image.volumes) == ("/app", "10001:10002", ("/var/cache/ava",))
    assert (image.entrypoint, image.command) == (("serve",), ("--port", "8000"))
    environment = image.final.environment()
    assert environment["PATH"] == "/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert environment["NAME"] == "two words"
    assert image.final.packages() == {"ffmpeg", "curl"}
    assert image.final.copies() == (
        Copy(("/opt/venv",), "/opt/venv", "build"),
        Copy(("one", "two"), "./", None),
    )


def test_a_health_check_has_its_times(image: dockerfile.Image):
    check = image.health_check
    assert check is not None
    assert check.test == ("probe", "--fast")
    assert (check.interval_s, check.timeout_s, check.start_s) == (90.0, 5.0, 7200.0)


def test_a_stage_that_is_copied_from_keeps_its_own_instructions(image: dockerfile.Image):
    build = image.stages["build"]
    assert build.base == "python:3.11"
    assert build.runs() == ("uv venv /opt/venv   && uv pip install -r app.lock",)
    assert build.last("WORKDIR") == "/build"


def test_a_stage_inherits_the_stage_that_it_is_built_on(tmp_path: Path):
    path = tmp_path / "app.Dockerfile"
    path.write_text("FROM base AS below\nENV A=1\nUSER 1:1\nFROM below\nENV B=$A-2\nCMD run it\n")
    image = dockerfile.read(path)
    assert image.final.base == "base"
    assert {"A": "1", "B": "1-2"}.items() <= image.final.environment().items()
    assert image.user == "1:1"
    assert image.command == ("/bin/sh", "-c", "run it")


def test_an_instruction_before_from_is_refused(tmp_path: Path):
    path = tmp_path / "app.Dockerfile"
    path.write_text("RUN true\n")
    with pytest.raises(dockerfile.DockerfileError):
        dockerfile.read(path)
