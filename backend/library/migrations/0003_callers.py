"""Who created a video or an upload: for the usage of its index, the budget of its bytes, and the open uploads."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("library", "0002_tombstones")]

    operations = [
        migrations.AddField("video", "api_key_id", models.UUIDField(null=True)),
        migrations.AddField("video", "person_id", models.UUIDField(null=True)),
        migrations.AddField("upload", "api_key_id", models.UUIDField(null=True)),
        migrations.AddField("upload", "person_id", models.UUIDField(null=True)),
    ]
