"""Landlock: the kernel's own list of the files, ports and processes that a process may reach."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Mapping
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_FILES_BY_VERSION = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of the rights on files that a version of the interface knows."""
_BIND_CONNECT, _ABSTRACT_SIGNAL = 3, 3

EXECUTE, WRITE, READ, READ_FOLDER, REMOVE_FILE, MAKE_FILE = 1, 2, 4, 8, 1 << 5, 1 << 8
TRUNCATE, DEVICE_CONTROL = 1 << 14, 1 << 15


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def restrict(libc: ctypes.CDLL, allowed: Mapping[Path | int, int]) -> bool:
    """Leave this process only the paths of allowed, each with its rights, and no TCP port. A number is a descriptor.

    Files that are open stay open. Returns False if the kernel has no Landlock. no_new_privs must be set.
    """
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    if version < 1:
        return False
    files = (1 << max(bits for known, bits in _FILES_BY_VERSION.items() if known <= version)) - 1
    rules = _Ruleset(files, _BIND_CONNECT if version >= 4 else 0, _ABSTRACT_SIGNAL if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        for path, rights in allowed.items():
            _allow(libc, ruleset, path, rights & files)
        return bool(libc.syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path | int, rights: int) -> None:
    try:
        folder = os.dup(path) if isinstance(path, int) else os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= ~READ_FOLDER
        beneath = _Beneath(rights, folder)
        libc.syscall(_ADD, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(beneath), 0)
    finally:
        os.close(folder)
