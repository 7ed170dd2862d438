# The bucket of sources, thumbnails and evidence frames, and the key that encrypts them, the secrets and the database's disk.

data "aws_caller_identity" "current" {}

resource "aws_kms_key" "data" {
  description             = "${var.name}: objects, secrets, database volume"
  enable_key_rotation     = true
  deletion_window_in_days = 30
}

resource "aws_kms_alias" "data" {
  name          = "alias/${var.name}"
  target_key_id = aws_kms_key.data.key_id
}

# The account number makes the name unique. No versioning: erasing a tenant must erase.
resource "aws_s3_bucket" "media" {
  bucket = "${var.name}-media-${data.aws_caller_identity.current.account_id}"

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket_ownership_controls" "media" {
  bucket = aws_s3_bucket.media.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_public_access_block" "media" {
  bucket = aws_s3_bucket.media.id

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "media" {
  bucket = aws_s3_bucket.media.id

  rule {
    # One data key per bucket and hour instead of one KMS call per thumbnail.
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = aws_kms_key.data.arn
    }
  }
}

data "aws_iam_policy_document" "media" {
  statement {
    sid       = "TlsOnly"
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.media.arn, "${aws_s3_bucket.media.arn}/*"]

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

resource "aws_s3_bucket_policy" "media" {
  bucket = aws_s3_bucket.media.id
  policy = data.aws_iam_policy_document.media.json

  depends_on = [aws_s3_bucket_public_access_block.media]
}

resource "aws_s3_bucket_lifecycle_configuration" "media" {
  bucket = aws_s3_bucket.media.id

  # The last net under an upload that was never completed; the expiry sweep is the first.
  rule {
    id     = "abort-multipart"
    status = "Enabled"

    filter {}

    abort_incomplete_multipart_upload {
      days_after_initiation = 2
    }
  }

  # The ledger of deletions is read after a restore. No backup is older than 35 days.
  rule {
    id     = "expire-deletions"
    status = "Enabled"

    filter {
      prefix = "deletions/"
    }

    expiration {
      days = 90
    }
  }
}

# A browser uploads parts and must read back each part's ETag and checksum to complete.
resource "aws_s3_bucket_cors_configuration" "media" {
  bucket = aws_s3_bucket.media.id

  cors_rule {
    allowed_origins = var.allowed_origins
    allowed_methods = ["GET", "HEAD", "PUT"]
    allowed_headers = ["*"]
    expose_headers = [
      "ETag",
      "x-amz-checksum-crc32",
      "x-amz-checksum-crc32c",
      "x-amz-checksum-crc64nvme",
      "x-amz-checksum-sha1",
      "x-amz-checksum-sha256",
    ]
    max_age_seconds = 3600
  }

  # The player of the console reads media by script, and stores nothing.
  cors_rule {
    allowed_origins = [var.console_origin]
    allowed_methods = ["GET", "HEAD"]
    allowed_headers = ["*"]
    max_age_seconds = 3600
  }
}
