from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ekg", "0002_objects_topics_transcript_vectors")]

    operations = [
        migrations.AddField(model_name="trackedobject", name="memory", field=models.JSONField(default=dict)),
    ]
