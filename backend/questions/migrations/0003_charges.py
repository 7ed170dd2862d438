"""What a question and a search are charged, for those who asked; and which questions are not."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("questions", "0002_searches_sessions_batches_comparisons_feedback")]

    operations = [
        migrations.AddField(table, name, field)
        for table in ("question", "search")
        for name, field in (
            ("charge_amount", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
            ("charge_currency", models.CharField(default="USD", max_length=3)),
            ("price_version", models.PositiveIntegerField(null=True)),
        )
    ] + [migrations.AddField("question", "asked_by_operator", models.BooleanField(default=False))]
