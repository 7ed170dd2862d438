"""Inside a box: messages to the worker, and pictures and sound in the memory that both share."""

from __future__ import annotations

import json
import mmap
import os
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

MESSAGE_BYTES = 16 * 1024


class Channel:
    """Side of the box. memory: `size` bytes that the worker reads; 0 for a job that needs none."""

    def __init__(self, answers: int, memory: int, size: int) -> None:
        self._answers = answers
        self._memory = mmap.mmap(memory, size) if size else None
        os.close(memory)

    def send(self, message: dict[str, Any]) -> None:
        """Send one message. Raises ValueError if it is longer than MESSAGE_BYTES."""
        data = json.dumps(message).encode()
        if len(data) > MESSAGE_BYTES:
            raise ValueError("the message is too long")
        os.write(self._answers, data)

    def wait(self) -> None:
        """Wait until the worker has taken one picture. Raises BrokenPipeError when it wants no more."""
        if not os.read(self._answers, MESSAGE_BYTES):
            raise BrokenPipeError

    def wait_for_the_end(self) -> None:
        """Wait until the worker has closed its side: ending earlier, with its words unread, would lose our own."""
        while os.read(self._answers, MESSAGE_BYTES):
            continue

    def become(self, binary: int, argv: list[str]) -> NoReturn:
        """Become a program whose output is messages. Raises OSError if it cannot be started."""
        os.dup2(self._answers, 1)
        os.dup2(self._answers, 2)
        os.execve(binary, argv, {"LC_ALL": "C"})  # noqa: S606 - a list of arguments, and no shell

    def share(self, values: NDArray[Any], offset: int) -> None:
        """Copy values to the shared memory. offset: in bytes. Raises ValueError if they do not fit."""
        if self._memory is None or offset + values.nbytes > len(self._memory):
            raise ValueError("the values do not fit into the shared memory")
        shared = np.frombuffer(self._memory, dtype=values.dtype, count=values.size, offset=offset)
        shared[:] = values.reshape(-1)
