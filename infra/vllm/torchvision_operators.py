"""Lets torchvision's CUDA wheel be imported next to the CPU build of torch; a .pth file runs this at every start.

The wheel's compiled half cannot be loaded there. Then its Python half fails, because it describes two operators that
the compiled half would have defined. Their signatures are enough, because torch itself resizes pictures.
"""

from __future__ import annotations

import importlib.abc
import sys
from typing import Any

_NMS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


class _BeforeTorchvision(importlib.abc.MetaPathFinder):
    """Defines the operators when torchvision is first imported, so that no other program has to load torch."""

    library: Any = None
    """Held here, because an operator is gone once its library is collected."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "torchvision" and self.library is None:
            import torch

            library: Any = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
            library.define(f"nms{_NMS}")
            library.define(f"qnms{_NMS}")
            _BeforeTorchvision.library = library


sys.meta_path.insert(0, _BeforeTorchvision())
