"""Rows of the ledger name the prices that valued them, what they belong to, and the row that they take back."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0004_plans")]

    operations = [
        *(
            migrations.AddField("usageevent", name, models.CharField(blank=True, default="", max_length=length))
            for name, length in (("variant", 100), ("method", 32), ("effort", 16), ("profile", 32))
        ),
        *(
            migrations.AddField("usageevent", name, models.UUIDField(null=True))
            for name in ("collection_id", "person_id", "cost_price_id", "price_id", "reverses_id")
        ),
        migrations.AddField("usageevent", "price_version", models.PositiveIntegerField(null=True)),
        migrations.AddField("usageevent", "price_currency", models.CharField(default="USD", max_length=3)),
        migrations.AddIndex(
            "usageevent",
            models.Index(
                fields=["tenant", "video_id"],
                name="usage_tenant_media",
                condition=models.Q(meter__in=["media_seconds", "live_seconds"]),
            ),
        ),
        migrations.AddIndex(
            "usageevent",
            models.Index(
                fields=["tenant", "reverses_id"],
                name="usage_tenant_reversed",
                condition=models.Q(reverses_id__isnull=False),
            ),
        ),
    ]
