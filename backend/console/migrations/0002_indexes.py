"""Indexes of the pages that read across tenants. All other indexes of these tables begin with the tenant."""

from django.db import migrations
from django.db.migrations import RunSQL

# Listed by id, the latest first, and opened by id.
LISTED = (
    "audit_auditevent",
    "billing_creditgrant",
    "billing_invoice",
    "billing_tenantbudget",
    "jobs_job",
    "library_video",
    "questions_comparison",
    "questions_question",
    "questions_search",
    "webhooks_delivery",
    "webhooks_endpoint",
)
BY_TIME = (
    "CREATE INDEX video_made ON library_video (created_at) INCLUDE (status)",
    "CREATE INDEX video_ready ON library_video (ready_at) WHERE ready_at IS NOT NULL",
    "CREATE INDEX video_failed ON library_video (failed_at) WHERE failed_at IS NOT NULL",
    "CREATE INDEX segment_failed ON library_segment (observed_at) WHERE error_code <> ''",
    "CREATE INDEX question_made ON questions_question (created_at) INCLUDE (status)",
    "CREATE INDEX question_ended ON questions_question (completed_at) INCLUDE (cost_amount, tenant_id, id) "
    "WHERE completed_at IS NOT NULL",
    "CREATE INDEX feedback_given ON questions_feedback (updated_at)",
    "CREATE INDEX job_dead ON jobs_job (queue) WHERE state = 'dead'",
    "CREATE INDEX job_of_subject ON jobs_job (tenant_id, subject_id)",
    "CREATE INDEX attempt_failed ON webhooks_attempt (attempted_at) WHERE error_code <> ''",
    "CREATE INDEX export_refused ON billing_exportstate (failures DESC, id DESC)",
    "CREATE INDEX audit_request ON audit_auditevent (request_id) WHERE request_id <> ''",
)


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0001_grants"),
        ("audit", "0001_initial"),
        ("billing", "0007_invoices"),
        ("jobs", "0001_initial"),
        ("library", "0004_video_failed_at"),
        ("questions", "0003_charges"),
        ("webhooks", "0001_initial"),
    ]
    operations = [
        *[RunSQL(f"CREATE INDEX {table}_by_id ON {table} (id DESC)", RunSQL.noop) for table in LISTED],
        RunSQL(BY_TIME, RunSQL.noop),
    ]
