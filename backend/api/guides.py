"""The guides of /docs as pages, made of their Markdown in docs/. Links lead to the guides that are served."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

FOLDER = Path(__file__).parents[2] / "docs"
GUIDES = {
    "quickstart": "From an empty machine to the first answer.",
    "api": "Every call with an example: upload, ask, search, stream, webhooks, budgets, keys.",
    "answers": "How to read an answer, its evidence and its confidence.",
    "methods": "The answering methods, and when to use which.",
    "engine": "How a video is indexed and how a question is answered.",
    "errors": "Every error code, its meaning and what to do.",
    "billing": "What is charged, when, and how invoices are made.",
}
"""Pages of FOLDER that customers read, with what each is about."""
_OTHER_GUIDE = re.compile(r"([a-z]+)\.md(#.*)?")


@dataclass(frozen=True, slots=True)
class Guide:
    """A page. sections: the headings of its second level with their anchors. body: the HTML under the title."""

    title: str
    sections: Sequence[tuple[str, str]]
    body: SafeString


@cache
def markdown_of(name: str) -> str:
    """Return a guide as it is written."""
    return (FOLDER / f"{name}.md").read_text()


@cache
def guide_of(name: str) -> Guide:
    """Return a guide as a page."""
    tokens = _MARKDOWN.parse(markdown_of(name))
    title, sections = name, []
    for at, token in enumerate(tokens):
        _lead(token.children or ())
        if token.type == "heading_open":
            words = _words(tokens[at + 1])
            # GitHub gives them the same anchors, so a link works in both places.
            token.attrSet("id", slugify(words, allow_unicode=True))
            if token.tag == "h1":
                title = words
            elif token.tag == "h2":
                sections.append((str(token.attrGet("id")), words))
    if tokens and tokens[0].tag == "h1":
        del tokens[:3]
    # Only our own repository writes them, HTML in them is shown as text, and the library drops links to scripts.
    return Guide(title, sections, mark_safe(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})))  # noqa: S308


def _words(heading: Token) -> str:
    return "".join(part.content for part in heading.children or ())


def _lead(parts: Sequence[Token]) -> None:
    """Let links to guides lead to their pages, and make plain words of links to pages that are not served."""
    is_plain = False
    for part in parts:
        if part.type == "link_open":
            target = str(part.attrGet("href"))
            other = _OTHER_GUIDE.fullmatch(target)
            is_guide = other is not None and other[1] in GUIDES
            if other and is_guide:
                part.attrSet("href", f"/docs/{other[1]}{other[2] or ''}")
            is_plain = not is_guide and not target.startswith(("#", "/", "https://"))
            if is_plain:
                part.tag, part.attrs = "span", {}
        elif part.type == "link_close" and is_plain:
            part.tag, is_plain = "span", False


def _code(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Render code, which is reached by the keyboard because it scrolls."""
    return RendererHTML.fence(self, tokens, at, options, env).replace("<pre>", '<pre tabindex="0">', 1)


def _made() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.add_render_rule("fence", _code)
    made.add_render_rule("table_open", lambda *_: '<div class="scrolls" tabindex="0"><table>')
    made.add_render_rule("table_close", lambda *_: "</table></div>")
    return made


_MARKDOWN = _made()
