"""The words and formats of documents, in English, German and French."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from babel.dates import format_date
from babel.numbers import format_currency, format_decimal, format_percent

from backend.billing.models import Invoice, InvoiceLine, TaxNote

# In German a credit note is no "Gutschrift": paragraph 14 UStG keeps this word for an invoice that the buyer writes.
_ENGLISH: Mapping[str, str] = {
    "invoice": "Invoice", "credit_note": "Credit note", "draft": "Draft", "void": "Void", "number": "Number",
    "issued": "Date of issue", "due": "Payable by", "period": "Period of service", "seller": "From",
    "buyer": "Billed to", "tax_id": "Tax id", "description": "Description", "quantity": "Quantity",
    "unit": "Unit price", "amount": "Amount", "subtotal": "Subtotal", "discount": "Discounts", "tax": "Tax",
    "total": "Total", "credited": "Paid by credit", "corrected": "Credit notes", "payable": "Amount due",
    "late": "late, of the period from", "page": "Page", "reason": "Reason", "payment": "Payment",
    "paid_on": "Paid on", "paid": "Paid", "corrects": "Corrects invoice {number} of {day}",
    "reverse_charge": "Reverse charge: the customer accounts for the tax", "exempt": "Supply exempt from tax",
    "price": "price version",
    "allowance": "Included in the plan", "tier": "Tier prices", "minimum": "Monthly minimum", "trial": "Trial",
    "coupon": "Coupon", "correction": "Correction",
    "media_seconds": "Media indexed, seconds", "live_seconds": "Live media indexed, seconds",
    "questions": "Questions answered", "searches": "Searches", "comparisons": "Comparisons",
    "storage_gb_hours": "Storage, GB-hours", "egress_gb": "Data transfer, GB", "input_tokens": "Input tokens",
    "cached_tokens": "Cached tokens", "output_tokens": "Output tokens", "device_seconds": "Device seconds",
}  # fmt: skip
_GERMAN: Mapping[str, str] = {
    "invoice": "Rechnung", "credit_note": "Rechnungskorrektur", "draft": "Entwurf", "void": "Storniert",
    "number": "Nummer", "issued": "Rechnungsdatum", "due": "Zahlbar bis", "period": "Leistungszeitraum",
    "seller": "Von", "buyer": "Rechnung an", "tax_id": "USt-IdNr.", "description": "Beschreibung", "quantity": "Menge",
    "unit": "Einzelpreis", "amount": "Betrag", "subtotal": "Zwischensumme", "discount": "Rabatte", "tax": "USt.",
    "total": "Gesamtbetrag", "credited": "Aus Guthaben bezahlt", "corrected": "Rechnungskorrekturen",
    "payable": "Zu zahlen", "late": "nachträglich, aus dem Zeitraum ab", "page": "Seite", "reason": "Grund",
    "payment": "Zahlung", "price": "Preisversion", "paid_on": "Bezahlt am", "paid": "Bezahlt",
    "corrects": "Korrigierte Rechnung {number} vom {day}",
    "reverse_charge": "Steuerschuldnerschaft des Leistungsempfängers (Reverse-Charge)",
    "exempt": "Steuerfreie Leistung",
    "allowance": "Im Tarif enthalten", "tier": "Staffelpreise", "minimum": "Mindestbetrag", "trial": "Testphase",
    "coupon": "Gutschein", "correction": "Korrektur",
    "media_seconds": "Indexierte Medien, Sekunden", "live_seconds": "Indexierte Live-Medien, Sekunden",
    "questions": "Beantwortete Fragen", "searches": "Suchen", "comparisons": "Vergleiche",
    "storage_gb_hours": "Speicher, GB-Stunden", "egress_gb": "Datenübertragung, GB",
    "input_tokens": "Eingabe-Tokens", "cached_tokens": "Tokens aus dem Cache", "output_tokens": "Ausgabe-Tokens",
    "device_seconds": "Gerätesekunden",
}  # fmt: skip
_FRENCH: Mapping[str, str] = {
    "invoice": "Facture", "credit_note": "Avoir", "draft": "Brouillon", "void": "Annulée", "number": "Numéro",
    "issued": "Date d’émission", "due": "Payable avant le", "period": "Période de service", "seller": "De",
    "buyer": "Facturé à", "tax_id": "N° de TVA", "description": "Désignation", "quantity": "Quantité",
    "unit": "Prix unitaire", "amount": "Montant", "subtotal": "Sous-total", "discount": "Remises", "tax": "TVA",
    "total": "Total", "credited": "Payé par crédit", "corrected": "Avoirs", "payable": "Montant à payer",
    "late": "tardif, de la période du", "page": "Page", "reason": "Motif", "payment": "Paiement",
    "paid_on": "Payée le", "paid": "Payé", "corrects": "Corrige la facture {number} du {day}",
    "reverse_charge": "Autoliquidation : la taxe est due par le preneur", "exempt": "Opération exonérée de TVA",
    "price": "version du prix",
    "allowance": "Inclus dans la formule", "tier": "Prix par paliers", "minimum": "Minimum mensuel",
    "trial": "Essai", "coupon": "Bon de réduction", "correction": "Correction",
    "media_seconds": "Médias indexés, secondes", "live_seconds": "Médias en direct indexés, secondes",
    "questions": "Questions traitées", "searches": "Recherches", "comparisons": "Comparaisons",
    "storage_gb_hours": "Stockage, Go-heures", "egress_gb": "Transfert de données, Go",
    "input_tokens": "Tokens d’entrée", "cached_tokens": "Tokens en cache", "output_tokens": "Tokens de sortie",
    "device_seconds": "Secondes d’appareil",
}  # fmt: skip
_WORDS = {"en": _ENGLISH, "de": _GERMAN, "fr": _FRENCH}


class Words:
    """The words and formats of one document's locale, such as de_DE. Amounts name their currency by its code."""

    def __init__(self, invoice: Invoice) -> None:
        self.locale = invoice.locale
        self._zone = ZoneInfo(invoice.time_zone)
        self._currency = invoice.currency
        self._words = _WORDS.get(invoice.locale.partition("_")[0], _ENGLISH)

    def __getitem__(self, name: str) -> str:
        return self._words.get(name, name)

    def tax_note(self, note: str) -> str:
        """Return what a document prints of the note on its tax: a sentence of its language, or the text itself."""
        return self[note] if note in TaxNote.values else note

    def corrects(self, invoice: Invoice) -> str:
        """Return the line by which a credit note names the numbered invoice that it corrects."""
        return self["corrects"].format(number=invoice.number, day=self.day(invoice.issued_at or invoice.created_at))

    def money(self, amount: Decimal) -> str:
        """Return an amount with its currency's code."""
        return format_currency(amount, self._currency, format="#,##0.00\xa0¤¤", locale=self.locale)

    def unit(self, amount: Decimal | None) -> str:
        """Return the price of a unit with all its digits; "" for none."""
        if amount is None:
            return ""
        return format_decimal(amount.normalize(), format="#,##0.00##########", locale=self.locale)

    def number(self, amount: Decimal) -> str:
        """Return a quantity with at most six decimal places."""
        return format_decimal(amount.normalize(), format="#,##0.######", locale=self.locale)

    def percent(self, rate: Decimal) -> str:
        """Return a fraction as a percentage."""
        return format_percent(rate.normalize(), format="#,##0.###\xa0%", locale=self.locale)

    def day(self, moment: datetime) -> str:
        """Return the day of a moment on the tenant's clock."""
        return format_date(moment.astimezone(self._zone).date(), format="medium", locale=self.locale)

    def line(self, line: InvoiceLine) -> str:
        """Return the description of a line."""
        parts = [self[line.meter]] if line.meter else []
        if line.kind != "usage":
            parts.insert(0, self[line.kind])
        text = ": ".join(parts)
        for addition in (line.variant, line.description):
            text += f" ({addition})" if addition else ""
        if line.price_version is not None:
            text += f", {self['price']} {line.price_version}"
        if line.late and line.usage_start is not None:
            text += f", {self['late']} {self.day(line.usage_start)}"
        return text
