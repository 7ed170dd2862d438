# Snapshots of the data disk. PostgreSQL recovers from one as from a power cut: disk and log are one volume, frozen at one moment.

data "aws_iam_policy_document" "snapshots_assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["dlm.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "snapshots" {
  name               = "${var.name}-database-snapshots"
  assume_role_policy = data.aws_iam_policy_document.snapshots_assume.json
}

resource "aws_iam_role_policy_attachment" "snapshots" {
  role       = aws_iam_role.snapshots.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AWSDataLifecycleManagerServiceRole"
}

resource "aws_dlm_lifecycle_policy" "this" {
  description        = "${var.name} database volume"
  execution_role_arn = aws_iam_role.snapshots.arn
  state              = "ENABLED"

  policy_details {
    resource_types = ["VOLUME"]
    target_tags    = { backup = "${var.name}-database" }

    # At most an hour is lost.
    schedule {
      name      = "hourly"
      copy_tags = true

      create_rule {
        interval      = 1
        interval_unit = "HOURS"
        times         = ["00:10"]
      }

      retain_rule {
        count = 48
      }
    }

    schedule {
      name      = "daily"
      copy_tags = true

      create_rule {
        interval      = 24
        interval_unit = "HOURS"
        times         = ["02:40"]
      }

      retain_rule {
        count = 35
      }
    }
  }
}
