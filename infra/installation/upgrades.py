"""A new version on one host, and the way back: migrations go first, then the code; back goes the code alone."""

from __future__ import annotations

import os
import shutil

from gpu_workers.engine.models.model_table import table
from infra.installation import settings
from infra.installation.backups import back_up
from infra.installation.composing import Installation, InstallFailed, fetches
from infra.installation.host import Run, compose_check, compose_version, run
from infra.release.version import VERSION, numbers

FREE_GIB = 20
"""Room for the new images next to the old ones."""
START = ("up", "--detach", "--wait", "--wait-timeout", "7200", "--remove-orphans")


def start(own: Installation) -> None:
    """Start whatever does not run, in the version of the installation."""
    if own.version == VERSION:
        own.get_images(VERSION)
    own.run(*START)
    if own.version == VERSION:
        own.keep_files()


def refusal(running: str, new: str) -> str:
    """Return why one version cannot follow another, "" if it can."""
    (major, minor, _), (new_major, new_minor, _) = numbers(running), numbers(new)
    if numbers(new) < numbers(running):
        return f"{new} is older than {running}, which runs: infra/ava-admin rollback goes back to the version before"
    if new_major == major and new_minor - minor > 1:
        return f"from {running} go to {major}.{minor + 1} first: migrations fit the version before and no older one"
    if new_major - major > 1 or (new_major > major and new_minor > 0):
        return f"from {running} go to {major + 1}.0 first, from the last version before it"
    return ""


def lacking(own: Installation, *, run: Run = run) -> list[str]:
    """Return what must be mended before an upgrade."""
    found = []
    if reason := refusal(own.version, VERSION):
        found.append(reason)
    if not (engine := compose_check(compose_version(run))).holds:
        found.append(engine.detail)
    free = shutil.disk_usage(own.env_file.parent).free / 1024**3
    if free < FREE_GIB:
        found.append(f"{free:.0f} GiB are free, the new images need {FREE_GIB}: remove images of older versions")
    return found


def upgrade(own: Installation, *, target: str, keep: int, anyway: bool) -> None:
    """Bring the installation to the version of this folder. target: where the backup goes, "" for none.

    Raises InstallFailed, with the way back.
    """
    before = own.version
    if found := lacking(own):
        if not anyway:
            raise InstallFailed("; ".join(found) + " (--anyway goes on)")
        print("\n".join(f"ignored: {each}" for each in found))
    print(f"upgrade from {before} to {VERSION}")
    preset = table().presets[own.preset]
    new = settings.missing(own.env_file, settings.wanted(preset, own.values.get("AVA_DOMAIN", "")))
    settings.add(own.env_file, new)
    if new:
        print(f"{own.env_file}: new values: {', '.join(new)}")
    if target:
        back_up(own, target, keep=keep)
    try:
        own.get_images(VERSION)
        for words in [] if own.offline else fetches(preset):
            own.run(*words, version=VERSION)
        # The code of before goes on meanwhile; the new schema only adds to what it knows.
        own.run("run", "--rm", "--no-deps", "provision", version=VERSION)
        own.run("run", "--rm", "--no-deps", "migrate", version=VERSION)
    except InstallFailed as error:
        raise InstallFailed(f"{error}. {before} goes on running; mend it and run the upgrade again") from error
    settings.change(own.env_file, {"AVA_VERSION": VERSION, "AVA_FORMER_VERSION": before})
    try:
        own.run(*START)
        own.run("exec", "-T", "api", "python", "manage.py", "check", "--deploy", "--database", "default")
    except InstallFailed as error:
        raise InstallFailed(f"{error}. infra/ava-admin rollback goes back to {before}") from error
    own.keep_files()
    print(f"{VERSION} runs and is healthy. infra/ava-admin rollback goes back to {before}; rows that were written stay")


def roll_back(own: Installation) -> None:
    """Start the version before again, on the schema as it is. Raises InstallFailed."""
    former, running = own.former, own.version
    if not former:
        raise InstallFailed(f"no version ran before {running}")
    own.compose(version=former)  # its files are there
    values = {**own.kept_digests(former), "AVA_VERSION": former, "AVA_FORMER_VERSION": ""}
    settings.change(own.env_file, values)
    if own.values.get("AVA_REGISTRY"):
        own.run("pull", version=former)
    # Without a registry its images are on this host still, and compose must not build the folder's code in their place.
    own.run(*START, "--no-build", version=former)
    print(f"{former} runs on the schema of {running}. To go forward again: infra/ava-admin upgrade")
    if os.environ.get("AVA_VERSION"):
        print("note: AVA_VERSION is set in your shell and wins over .env; unset it")
