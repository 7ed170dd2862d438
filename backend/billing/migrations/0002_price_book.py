"""First rows of both price books, so that no consumption is valued at a silent zero, and the right to append rows.

The amounts are assumptions to be replaced by appending rows with a later effective_from:

- cost of a device second: a rented accelerator of the L4 class with its host, 0.80 USD an hour. It holds for models that
  run on our own devices. A hosted model gets rows of its own: its token rates, and device_seconds 0.
- cost of tokens: 0, since a local model's tokens are paid for by its device seconds.
- cost of media seconds, questions, storage: 0, since their parts are metered as device seconds and tokens.
- price of a media second: 0.042 USD per indexed minute. price of a question: 0.02 USD.
- price of tokens and device seconds: 0, since customers pay for what they can verify.
- storage: 0 in both until it is metered.
"""

from datetime import UTC, datetime
from decimal import Decimal

from django.db import migrations

from backend.tenancy.ddl import plain_table

# Before any usage, so that back-dated usage has a rate too.
EFFECTIVE_FROM = datetime(2020, 1, 1, tzinfo=UTC)

COST = {
    "device_seconds": ("0.000222222222", "assumed: L4-class device with host, 0.80 USD an hour"),
    "input_tokens": ("0", "local models: in their device seconds; a hosted model needs its own row"),
    "cached_tokens": ("0", "local models: in their device seconds; a hosted model needs its own row"),
    "output_tokens": ("0", "local models: in their device seconds; a hosted model needs its own row"),
    "media_seconds": ("0", "in device seconds and tokens"),
    "questions": ("0", "in device seconds and tokens"),
    "storage_bytes": ("0", "not metered yet"),
}
PRICE = {
    "device_seconds": ("0", "not billed to customers"),
    "input_tokens": ("0", "not billed to customers"),
    "cached_tokens": ("0", "not billed to customers"),
    "output_tokens": ("0", "not billed to customers"),
    "media_seconds": ("0.0007", "assumed: 0.042 USD per indexed minute"),
    "questions": ("0.02", "assumed: per answered question"),
    "storage_bytes": ("0", "not metered yet"),
}


def add_first_rows(apps, schema_editor):
    book = apps.get_model("billing", "PriceBook").objects.using(schema_editor.connection.alias)
    for kind, rates in (("cost", COST), ("price", PRICE)):
        for meter, (amount, note) in rates.items():
            book.get_or_create(
                kind=kind,
                meter=meter,
                model="",
                effective_from=EFFECTIVE_FROM,
                defaults={"unit_amount": Decimal(amount), "note": note},
            )


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]
    operations = [
        # Only the console appends rates; nobody may change or remove one.
        plain_table("billing_pricebook", rw="SELECT"),
        migrations.RunSQL("GRANT SELECT, INSERT ON billing_pricebook TO app_console", migrations.RunSQL.noop),
        migrations.RunPython(add_first_rows, migrations.RunPython.noop),
    ]
