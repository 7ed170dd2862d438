"""The parts of the web app that need no browser, run by Node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from infra.web_lint.__main__ import directions, sentences

NODE = shutil.which("node")


pytestmark = pytest.mark.skipif(NODE is None, reason="no Node.js on this machine")


def test_the_parts_without_a_browser_hold_in_node() -> None:
    tests = Path(__file__).with_name("core.test.mjs")
    bare = Path(__file__).with_name("bare_imports.mjs")
    command = [str(NODE), "--test", "--experimental-default-type=module", f"--import={bare}", str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4_000:]


def test_every_sentence_is_translated_with_its_values() -> None:
    sentences()


def test_no_style_says_left_or_right() -> None:
    directions()
