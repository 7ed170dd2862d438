from django.db import migrations

# An assembly job named its video; it names the index version now. The owner is under the policies too, which show it no
# tenant's rows; the change is made without them.
_RENAME_SUBJECTS = """
ALTER TABLE library_indexversion NO FORCE ROW LEVEL SECURITY;
ALTER TABLE jobs_job NO FORCE ROW LEVEL SECURITY;
SET CONSTRAINTS ALL IMMEDIATE;
UPDATE jobs_job SET subject_id = v.id FROM library_indexversion v
WHERE jobs_job.kind = 'assemble_video' AND v.tenant_id = jobs_job.tenant_id AND v.video_id = jobs_job.video_id
    AND jobs_job.dedupe_key = 'assemble:' || v.video_id || ':' || v.n;
ALTER TABLE library_indexversion FORCE ROW LEVEL SECURITY;
ALTER TABLE jobs_job FORCE ROW LEVEL SECURITY;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_more_job_kinds"),
        ("library", "0002_index_versions_and_input_segments"),
    ]

    operations = [migrations.RunSQL(_RENAME_SUBJECTS, migrations.RunSQL.noop)]
