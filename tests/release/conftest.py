"""Installations that are backed up, lost and restored, with the scripted models of the worker tests."""

from tests.tasks.conftest import _bound, _each_picture_is_run_once, _servers, llm, vlm

__all__ = ["_bound", "_each_picture_is_run_once", "_servers", "llm", "vlm"]
