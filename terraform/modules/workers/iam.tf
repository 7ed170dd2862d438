# One role per group: it pulls its own images, reads its own secrets, and touches objects only under tenants' prefixes.

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "this" {
  for_each = var.groups

  name               = "${var.name}-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.assume.json
}

resource "aws_iam_instance_profile" "this" {
  for_each = var.groups

  name = "${var.name}-${each.key}"
  role = aws_iam_role.this[each.key].name
}

# Session Manager instead of ssh: no key, no open port, every session logged.
resource "aws_iam_role_policy_attachment" "session_manager" {
  for_each = var.groups

  role       = aws_iam_role.this[each.key].name
  policy_arn = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
}

data "aws_iam_policy_document" "this" {
  for_each = var.groups

  statement {
    sid       = "RegistryLogin"
    actions   = ["ecr:GetAuthorizationToken"]
    resources = ["*"]
  }

  statement {
    sid       = "PullOwnImages"
    actions   = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"]
    resources = distinct([for spec in values(each.value.containers) : var.image_arns[spec.image]])
  }

  statement {
    sid       = "WriteOwnLog"
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.this[each.key].arn}:*"]
  }

  statement {
    sid       = "ReadOwnSecrets"
    actions   = ["secretsmanager:GetSecretValue"]
    resources = [for secret in local.secrets_of[each.key] : var.secret_arns[secret]]
  }

  statement {
    sid       = "ReadCertificate"
    actions   = ["ssm:GetParameter"]
    resources = ["arn:aws:ssm:${var.region}:*:parameter${var.database_certificate}"]
  }

  statement {
    sid       = "UseKeyThroughServices"
    actions   = length(each.value.object_actions) > 0 ? ["kms:Decrypt", "kms:GenerateDataKey"] : ["kms:Decrypt"]
    resources = [var.kms_key_arn]

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["secretsmanager.${var.region}.amazonaws.com", "s3.${var.region}.amazonaws.com"]
    }
  }

  dynamic "statement" {
    for_each = length(each.value.object_actions) > 0 ? [each.value.object_actions] : []

    content {
      sid       = "TenantObjects"
      actions   = statement.value
      resources = ["${var.bucket_arn}/t/*"]
    }
  }

  dynamic "statement" {
    for_each = contains(each.value.object_actions, "s3:DeleteObject") ? [1] : []

    content {
      # Those who delete write it down, and nobody can take it back.
      sid       = "DeletionLedger"
      actions   = ["s3:GetObject", "s3:PutObject"]
      resources = ["${var.bucket_arn}/deletions/*", "${var.bucket_arn}/certificates/*"]
    }
  }

  dynamic "statement" {
    for_each = length(each.value.object_actions) > 0 ? [1] : []

    content {
      # Without a condition on the prefix: /readyz asks for the bucket itself, and S3 answers 404 for a missing key only to
      # those who may list. The bucket holds tenants' objects and the ledger of their deletions.
      sid       = "ListBucket"
      actions   = ["s3:ListBucket", "s3:ListBucketMultipartUploads"]
      resources = [var.bucket_arn]
    }
  }

  dynamic "statement" {
    for_each = length(each.value.queues) > 0 ? [1] : []

    content {
      sid       = "LeaveOwnGroup"
      actions   = ["autoscaling:CompleteLifecycleAction"]
      resources = ["arn:aws:autoscaling:${var.region}:*:autoScalingGroup:*:autoScalingGroupName/${var.name}-${each.key}"]
    }
  }

  dynamic "statement" {
    for_each = each.value.publishes_metrics ? [1] : []

    content {
      sid       = "PublishQueueAge"
      actions   = ["cloudwatch:PutMetricData"]
      resources = ["*"]

      condition {
        test     = "StringEquals"
        variable = "cloudwatch:namespace"
        values   = [var.metrics_namespace]
      }
    }
  }
}

resource "aws_iam_role_policy" "this" {
  for_each = var.groups

  name   = "own-work"
  role   = aws_iam_role.this[each.key].id
  policy = data.aws_iam_policy_document.this[each.key].json
}
