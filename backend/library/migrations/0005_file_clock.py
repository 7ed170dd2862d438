from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("library", "0004_video_failed_at")]

    operations = [
        migrations.AddField(model_name=model, name=name, field=models.JSONField(default=list))
        for model in ("video", "inputsegment")
        for name in ("clock", "degraded", "audio_tracks")
    ]
