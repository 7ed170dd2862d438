# The archive of the database's log, and a copy of its files each day. With both it can be restored to any second of the
# last two weeks; a segment of the log is archived when it is full or 30 s old.

data "aws_caller_identity" "current" {}

resource "aws_s3_bucket" "archive" {
  bucket = "${var.name}-archive-${data.aws_caller_identity.current.account_id}"

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket_ownership_controls" "archive" {
  bucket = aws_s3_bucket.archive.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_public_access_block" "archive" {
  bucket = aws_s3_bucket.archive.id

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "archive" {
  bucket = aws_s3_bucket.archive.id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = var.kms_key_arn
    }
  }
}

# What the machine deletes can be brought back for a week, because who rules the machine must not rule its past.
resource "aws_s3_bucket_versioning" "archive" {
  bucket = aws_s3_bucket.archive.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "archive" {
  bucket = aws_s3_bucket.archive.id

  rule {
    id     = "forget-deleted"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days = 7
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 2
    }
  }
}

data "aws_iam_policy_document" "archive" {
  statement {
    sid       = "TlsOnly"
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.archive.arn, "${aws_s3_bucket.archive.arn}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}

resource "aws_s3_bucket_policy" "archive" {
  bucket = aws_s3_bucket.archive.id
  policy = data.aws_iam_policy_document.archive.json

  depends_on = [aws_s3_bucket_public_access_block.archive]
}

# The machines publish both every minute (ava-database-metrics).
resource "aws_cloudwatch_metric_alarm" "archive_late" {
  alarm_name          = "${var.name}-archive-late"
  alarm_description   = "A finished segment of the database's log has waited for the archive for more than a minute"
  namespace           = var.metrics_namespace
  metric_name         = "ArchiveWaitingSeconds"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 60
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
}

resource "aws_cloudwatch_metric_alarm" "backup_old" {
  alarm_name          = "${var.name}-backup-old"
  alarm_description   = "The last copy of the database's files in the archive is older than 26 hours"
  namespace           = var.metrics_namespace
  metric_name         = "BackupAgeSeconds"
  statistic           = "Minimum"
  period              = 3600
  evaluation_periods  = 2
  comparison_operator = "GreaterThanThreshold"
  threshold           = 93600
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
}

resource "aws_cloudwatch_metric_alarm" "no_standby" {
  alarm_name          = "${var.name}-no-standby"
  alarm_description   = "No standby has followed the database for fifteen minutes"
  namespace           = var.metrics_namespace
  metric_name         = "Standbys"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 15
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
}
