"""An invoice as PDF: A4, fonts embedded, in the language and the formats of the buyer's country."""

from __future__ import annotations

import io
from functools import cache, partial
from typing import Any
from xml.sax.saxutils import escape

from pymupdf_fonts import NotoSans_Bold, NotoSans_Regular
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

from backend.billing.documents.words import Words
from backend.billing.models import Invoice, InvoiceKind, InvoiceLine, InvoiceState

_REGULAR, _BOLD = "NotoSans", "NotoSans-Bold"
_GREY, _RULE = HexColor("#555555"), HexColor("#bbbbbb")
_WIDTH = A4[0] - 40 * mm
_TEXT = ParagraphStyle("text", fontName=_REGULAR, fontSize=9, leading=12.5)
_SMALL = ParagraphStyle("small", _TEXT, fontSize=8, leading=11, textColor=_GREY)
_RIGHT = ParagraphStyle("right", _TEXT, alignment=TA_RIGHT)
_HEAD = ParagraphStyle("head", _TEXT, fontName=_BOLD)
_HEAD_RIGHT = ParagraphStyle("head right", _HEAD, alignment=TA_RIGHT)
_TITLE = ParagraphStyle("title", fontName=_BOLD, fontSize=20, leading=26)


@cache
def _fonts() -> None:
    pdfmetrics.registerFont(TTFont(_REGULAR, io.BytesIO(NotoSans_Regular.fontbuffer)))
    pdfmetrics.registerFont(TTFont(_BOLD, io.BytesIO(NotoSans_Bold.fontbuffer)))


def as_pdf(invoice: Invoice, lines: list[InvoiceLine], corrects: Invoice | None) -> bytes:
    """Return a document as PDF. The same document gives the same bytes. corrects: the invoice of a credit note."""
    _fonts()
    words, out = Words(invoice), io.BytesIO()
    title = words[invoice.kind]
    page = SimpleDocTemplate(
        out,
        pagesize=A4,
        leftMargin=20 * mm,
        rightMargin=20 * mm,
        topMargin=18 * mm,
        bottomMargin=22 * mm,
        title=f"{title} {invoice.number}".strip(),
        author=invoice.seller.get("legal_name", ""),
        lang=invoice.locale.replace("_", "-"),
        invariant=1,
    )
    foot = partial(_foot, invoice=invoice, words=words)
    story = [
        _heading(invoice, words),
        Spacer(1, 8 * mm),
        _parties(invoice, words),
        Spacer(1, 8 * mm),
        _lines(lines, words),
        Spacer(1, 4 * mm),
        _sums(invoice, words),
        *_notes(invoice, corrects, words),
    ]
    page.build(story, onFirstPage=foot, onLaterPages=foot)
    return out.getvalue()


def _heading(invoice: Invoice, words: Words) -> Table:
    title = words[invoice.kind]
    if invoice.state in (InvoiceState.DRAFT, InvoiceState.VOID):
        title += f" ({words[invoice.state]})"
    last = invoice.period_end - invoice.period_end.resolution
    facts = [(words["number"], invoice.number or "–")]
    if invoice.issued_at is not None:
        facts.append((words["issued"], words.day(invoice.issued_at)))
    facts.append((words["period"], f"{words.day(invoice.period_start)} – {words.day(last)}"))
    if invoice.due_at is not None and invoice.due > 0:
        facts.append((words["due"], words.day(invoice.due_at)))
    if invoice.paid_at is not None and invoice.paid > 0:
        facts.append((words["paid_on"], words.day(invoice.paid_at)))
    rows = [[_paragraph(name, _SMALL), _paragraph(value, _RIGHT)] for name, value in facts]
    table = Table(rows, colWidths=[36 * mm, 54 * mm], style=_PLAIN)
    return Table([[_paragraph(title, _TITLE), table]], colWidths=[_WIDTH - 90 * mm, 90 * mm], style=_PLAIN)


def _parties(invoice: Invoice, words: Words) -> Table:
    cells = [
        [_paragraph(words[side], _SMALL), _paragraph(party.get("legal_name", ""), _HEAD), *_address(party, words)]
        for side, party in (("seller", invoice.seller), ("buyer", invoice.buyer))
    ]
    return Table([cells], colWidths=[_WIDTH / 2] * 2, style=_PLAIN)


def _address(party: dict[str, str], words: Words) -> list[Paragraph]:
    text = [*party.get("address", "").splitlines(), party.get("country", ""), party.get("email", "")]
    if party.get("tax_id"):
        text.append(f"{words['tax_id']} {party['tax_id']}")
    return [_paragraph(line, _TEXT) for line in text if line]


def _lines(lines: list[InvoiceLine], words: Words) -> Table:
    heads = [_paragraph(words["description"], _HEAD)]
    heads += [_paragraph(words[name], _HEAD_RIGHT) for name in ("quantity", "unit", "amount")]
    rows = [heads]
    rows += [
        [
            _paragraph(words.line(line), _TEXT),
            _paragraph(words.number(line.quantity), _RIGHT),
            _paragraph(words.unit(line.unit_amount), _RIGHT),
            _paragraph(words.money(line.amount), _RIGHT),
        ]
        for line in lines
    ]
    widths = [_WIDTH - 92 * mm, 28 * mm, 28 * mm, 36 * mm]
    return Table(rows, colWidths=widths, repeatRows=1, style=[*_RULED, ("LINEBELOW", (0, 0), (-1, 0), 0.8, _GREY)])


def _sums(invoice: Invoice, words: Words) -> Table:
    rows = [("subtotal", invoice.subtotal)]
    if invoice.discount:
        rows.append(("discount", invoice.discount))
    rows += [("tax", invoice.tax), ("total", invoice.total)]
    if invoice.kind == InvoiceKind.INVOICE:
        rows += [("credited", -invoice.credited)] if invoice.credited else []
        rows += [("corrected", -invoice.corrected)] if invoice.corrected else []
        rows += [("paid", -invoice.paid)] if invoice.paid > 0 else []
        rows.append(("payable", invoice.due))
    cells = []
    for name, amount in rows:
        label = f"{words[name]} {words.percent(invoice.tax_rate)}" if name == "tax" else words[name]
        bold = name in ("total", "payable")
        styles = (_HEAD, _HEAD_RIGHT) if bold else (_TEXT, _RIGHT)
        cells.append(["", _paragraph(label, styles[0]), _paragraph(words.money(amount), styles[1])])
    return Table(cells, colWidths=[_WIDTH - 90 * mm, 48 * mm, 42 * mm], style=_PLAIN)


def _notes(invoice: Invoice, corrects: Invoice | None, words: Words) -> list[Any]:
    texts = [words.tax_note(invoice.tax_note)]
    texts += [words.corrects(corrects)] if corrects is not None else []
    texts += [f"{words['reason']}: {invoice.reason}"] if invoice.reason else []
    notes: list[Any] = []
    for text in filter(None, texts):
        notes += [Spacer(1, 4 * mm), _block([_paragraph(text, _TEXT)])]
    payment = invoice.seller.get("payment_details", "")
    if payment and invoice.due > 0:
        lines = [_paragraph(words["payment"], _SMALL), *(_paragraph(line, _TEXT) for line in payment.splitlines())]
        notes += [Spacer(1, 8 * mm), _block(lines)]
    return notes


def _block(paragraphs: list[Paragraph]) -> Table:
    return Table([[paragraphs]], colWidths=[_WIDTH], style=_PLAIN)


def _foot(canvas: Any, page: Any, *, invoice: Invoice, words: Words) -> None:
    canvas.saveState()
    canvas.setFont(_REGULAR, 8)
    canvas.setFillColor(_GREY)
    canvas.drawString(20 * mm, 12 * mm, f"{invoice.seller.get('legal_name', '')}  {invoice.number}".strip())
    canvas.drawRightString(A4[0] - 20 * mm, 12 * mm, f"{words['page']} {canvas.getPageNumber()}")
    canvas.restoreState()


def _paragraph(text: str, style: ParagraphStyle) -> Paragraph:
    return Paragraph(escape(text), style)


_PLAIN: list[Any] = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("LEFTPADDING", (0, 0), (-1, -1), 0),
    ("RIGHTPADDING", (0, 0), (-1, -1), 0),
    ("TOPPADDING", (0, 0), (-1, -1), 1.5),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
]
_RULED: list[Any] = [
    *_PLAIN,
    ("LINEBELOW", (0, 1), (-1, -1), 0.4, _RULE),
    ("TOPPADDING", (0, 0), (-1, -1), 4),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
]
