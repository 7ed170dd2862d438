# PostgreSQL 18 with AGE and pgvector on a machine of our own, because RDS does not offer AGE.
# Two machines in two zones: one is the primary, the other follows it and takes over (docs/runbooks/restore.md). A disk
# outlives its machine: replacing the machine attaches the disk to the next one. Everybody asks for the primary by its name.

resource "aws_network_interface" "this" {
  for_each = local.machines

  description     = "${var.name} database ${each.key}"
  subnet_id       = each.value.subnet_id
  security_groups = [var.security_group_id]
  tags            = { Name = "${var.name}-database-${each.key}" }
}

resource "aws_ebs_volume" "data" {
  for_each = local.machines

  availability_zone = each.value.availability_zone
  type              = "gp3"
  size              = var.instance.volume_gib
  iops              = var.instance.iops
  throughput        = var.instance.throughput
  encrypted         = true
  kms_key_id        = var.kms_key_arn
  final_snapshot    = true
  tags              = { Name = "${var.name}-database-${each.key}", backup = "${var.name}-database" }

  lifecycle {
    prevent_destroy = true
  }
}

# The primary's name, known to nobody outside. After a failover the name leads to the other machine within seconds.
resource "aws_route53_zone" "this" {
  name = "${var.name}.internal"

  vpc {
    vpc_id = var.vpc_id
  }
}

resource "aws_route53_record" "primary" {
  zone_id = aws_route53_zone.this.zone_id
  name    = local.address
  type    = "A"
  ttl     = 5
  records = [aws_network_interface.this[var.primary].private_ip]
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/${var.name}/database"
  retention_in_days = 30
}

resource "aws_instance" "this" {
  for_each = local.machines

  ami                  = var.machine_image
  instance_type        = var.instance.instance_type
  iam_instance_profile = aws_iam_instance_profile.this.name
  tags                 = { Name = "${var.name}-database-${each.key}" }

  # Its subnet is private and gives no public address.
  network_interface {
    network_interface_id = aws_network_interface.this[each.key].id
    device_index         = 0
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  root_block_device {
    volume_type = "gp3"
    volume_size = 40
    encrypted   = true
  }

  user_data = templatefile("${path.module}/user_data.sh.tftpl", {
    region              = var.region
    registry_host       = var.registry_host
    postgres_image      = var.postgres_image
    volume_serial       = replace(aws_ebs_volume.data[each.key].id, "-", "")
    secret_prefix       = var.secret_prefix
    address             = local.address
    certificate         = local.certificate
    log_group           = aws_cloudwatch_log_group.this.name
    migrate_environment = var.migrate_environment
    follows             = each.key != var.primary
    archive_url         = "s3://${aws_s3_bucket.archive.bucket}/log"
    archive_days        = local.archive_days
    metrics_namespace   = var.metrics_namespace
  })

  lifecycle {
    # A newer machine image or start script is taken when the machine is replaced (docs/runbooks/deploy-aws.md), never in passing.
    ignore_changes       = [ami, user_data]
    replace_triggered_by = [terraform_data.machine[each.key]]
  }

  depends_on = [aws_iam_role_policy.this]
}

# What replaces a machine, and nothing else: the database is away for minutes.
resource "terraform_data" "machine" {
  for_each = local.machines

  triggers_replace = [var.postgres_image, aws_ebs_volume.data[each.key].id]
}

resource "aws_volume_attachment" "data" {
  for_each = local.machines

  device_name                    = "/dev/sdf"
  volume_id                      = aws_ebs_volume.data[each.key].id
  instance_id                    = aws_instance.this[each.key].id
  stop_instance_before_detaching = true
}

# Roles, grants and tables, on the one machine that may read the superuser's password.
resource "aws_ssm_document" "migrate" {
  name            = "${var.name}-migrate"
  document_type   = "Command"
  document_format = "YAML"

  content = yamlencode({
    schemaVersion = "2.2"
    description   = "Provision roles and apply migrations with the API image"
    parameters = {
      image = { type = "String", default = var.migrate_image, allowedPattern = "^[A-Za-z0-9._/:@-]+$" }
    }
    mainSteps = [{
      action = "aws:runShellScript"
      name   = "migrate"
      inputs = { runCommand = ["/usr/local/sbin/ava-migrate '{{ image }}'"] }
    }]
  })
}
