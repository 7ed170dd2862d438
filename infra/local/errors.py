"""Errors of the local stack's start; every message names the server and its log."""

from __future__ import annotations


class StackError(Exception):
    """The local stack cannot run. ``code`` is stable; the message is for the person at the terminal."""

    code = "stack_error"


class ServiceFailed(StackError):
    """A server ended while it was starting, or did not become ready in time."""

    code = "service_failed"


class AlreadyRunning(StackError):
    """Another process runs a stack in the same root folder."""

    code = "already_running"


class NotInstalled(StackError):
    """A binary that a server needs is neither on the system nor in the environment."""

    code = "not_installed"


class Misconfigured(StackError):
    """The environment names an external server but lacks something that is needed to use it."""

    code = "misconfigured"
