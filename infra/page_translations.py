"""`make translations` compiles backend/locale/de/LC_MESSAGES/django.po, the German of the pages around the app.

tests/people/test_page_language.py checks that each sentence of a template stands there, and that the compiled file is
the one of the text.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from collections.abc import Iterator

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

from infra.local.bootstrap import PROJECT

FOLDERS = ("people", "shares", "playback")
TEXT = PROJECT / "backend" / "locale" / "de" / "LC_MESSAGES" / "django.po"
COMPILED = TEXT.with_suffix(".mo")
_CALL = re.compile(r"""gettext\(\s*(u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))""")


def sentences() -> Iterator[str]:
    """Yield each sentence of the templates that is to be translated, with %(name)s for a value."""
    for folder in FOLDERS:
        for template in sorted((PROJECT / "backend" / folder / "templates").rglob("*.html")):
            for found in _CALL.finditer(re.sub(r"(?<![\w])_\(", "gettext(", templatize(template.read_text()))):
                yield ast.literal_eval(found[1])


def compiled() -> bytes:
    """Return the text in the form that Django reads."""
    written = io.BytesIO()
    with TEXT.open("rb") as text:
        write_mo(written, read_po(text, locale="de"))
    return written.getvalue()


def main() -> int:
    """Write the compiled file. Returns the exit status."""
    COMPILED.write_bytes(compiled())
    print(f"translations: {COMPILED.relative_to(PROJECT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
