"""Fields of our pages' forms."""

from __future__ import annotations

from typing import Any

from django import forms

from backend.tenancy.shown_text import require_one_line


class LineField(forms.CharField):
    """A name or a remark in one line. Line breaks become spaces, as the text may have been pasted."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.validators.append(require_one_line)

    def to_python(self, value: Any) -> str:
        return " ".join(str(super().to_python(value)).split())
