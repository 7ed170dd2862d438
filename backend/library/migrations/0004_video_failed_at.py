from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("library", "0003_callers")]

    operations = [migrations.AddField(model_name="video", name="failed_at", field=models.DateTimeField(null=True))]
