from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("questions", "0004_stage_times")]

    operations = [
        migrations.AddField(
            model_name="question",
            name="stage_detail",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
    ]
