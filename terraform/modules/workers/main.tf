# One Auto Scaling group per kind of machine. A machine runs its containers as systemd units from an image and a set of secrets.

resource "aws_cloudwatch_log_group" "this" {
  for_each = var.groups

  name              = "/${var.name}/${each.key}"
  retention_in_days = 30
}

resource "aws_launch_template" "this" {
  for_each = var.groups

  name                   = "${var.name}-${each.key}"
  image_id               = lookup(var.machine_image_ids, each.key, each.value.gpu ? var.machine_images.gpu : var.machine_images.cpu)
  instance_type          = var.sizes[each.key].instance_type
  update_default_version = true
  vpc_security_group_ids = [var.security_group_ids[each.value.security_group]]

  iam_instance_profile {
    arn = aws_iam_instance_profile.this[each.key].arn
  }

  # Containers share the host's network, so one hop is enough and a forwarded request cannot reach the credentials.
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      volume_type           = "gp3"
      volume_size           = each.value.disk_gib
      encrypted             = true
      delete_on_termination = true
    }
  }

  user_data = base64encode(templatefile("${path.module}/user_data.sh.tftpl", {
    group         = each.key
    region        = var.region
    registry_host = var.registry_host
    secret_prefix = var.name
    secrets       = each.value.secrets
    environment   = each.value.environment
    # Machines that hold no database's password ask for no certificate.
    certificate   = contains(each.value.secrets, "DATABASE_URL") ? var.database_certificate : ""
    log_group     = aws_cloudwatch_log_group.this[each.key].name
    gpu           = each.value.gpu
    drained       = [for container, spec in each.value.containers : container if spec.entrypoint == "" && length(each.value.queues) > 0]
    leaves        = length(each.value.queues) > 0
    uses_role     = length(each.value.object_actions) > 0 || each.value.publishes_metrics
    finish        = local.finish_seconds
    scaling_group = "${var.name}-${each.key}"
    containers = {
      for container, spec in each.value.containers : container => merge(spec, {
        # The model servers have a version of their own: another one restarts servers that load for up to an hour.
        image     = "${var.image_urls[spec.image]}:${spec.image == "vllm" ? var.vllm_image_tag : var.image_tag}"
        read_only = spec.image != "vllm"
        pids      = spec.image == "vllm" ? 8192 : 1024
        # Containers share the host's network, so each has a port of its own, in the order of their names.
        metrics_port = 9464 + index(keys(each.value.containers), container)
      })
    }
  }))

  tag_specifications {
    resource_type = "instance"
    tags          = { Name = "${var.name}-${each.key}" }
  }
}

resource "aws_autoscaling_group" "this" {
  for_each = var.groups

  name                = "${var.name}-${each.key}"
  min_size            = var.started ? var.sizes[each.key].least : 0
  max_size            = var.started ? var.sizes[each.key].most : 0
  vpc_zone_identifier = var.subnet_ids
  target_group_arns   = each.value.target_group_arns
  # The balancer asks whether a machine can serve, which the machine cannot help while the database is away. A process that
  # hangs is restarted by its container's own check.
  health_check_type         = "EC2"
  health_check_grace_period = 300

  launch_template {
    id      = aws_launch_template.this[each.key].id
    version = aws_launch_template.this[each.key].latest_version
  }

  # A new image or setting rolls through by itself.
  instance_refresh {
    strategy = "Rolling"

    # A machine of model servers is launched before the old one goes, and has the time to fetch its weights.
    preferences {
      min_healthy_percentage = length(each.value.servers) > 0 ? 100 : 50
      max_healthy_percentage = length(each.value.servers) > 0 ? 200 : null
      instance_warmup        = length(each.value.servers) > 0 ? 3600 : null
    }
  }

  # A machine that goes waits for the jobs that run on it, whatever the reason is: scale-in, a refresh, a rebalance. The
  # machine reports when it is ready (ava-leave). After the timeout it goes all the same, and its leases run out.
  dynamic "initial_lifecycle_hook" {
    for_each = length(each.value.queues) > 0 ? [1] : []

    content {
      name                 = "drain"
      lifecycle_transition = "autoscaling:EC2_INSTANCE_TERMINATING"
      heartbeat_timeout    = local.finish_seconds + 300
      default_result       = "CONTINUE"
    }
  }

  tag {
    key                 = "Name"
    value               = "${var.name}-${each.key}"
    propagate_at_launch = true
  }

  depends_on = [aws_iam_role_policy.this]
}
