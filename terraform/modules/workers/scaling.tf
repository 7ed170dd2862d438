# The age of the oldest work that could run says how late customers are. Queue length does not: it cannot see work already handed out.
# `manage.py publish_metrics` publishes OldestRunnableAge (seconds) and RunningJobs by Queue every
# minute, 0 for an empty queue, and what vLLM
# reports, ModelRequestsWaiting and ModelRequestsRunning, by Server.

resource "aws_autoscaling_policy" "out" {
  for_each = local.queue_groups

  name                      = "${var.name}-${each.key}-out"
  autoscaling_group_name    = aws_autoscaling_group.this[each.key].name
  policy_type               = "StepScaling"
  adjustment_type           = "ChangeInCapacity"
  estimated_instance_warmup = 300

  # One machine when late, two when very late (bounds count from the alarm's threshold).
  step_adjustment {
    metric_interval_lower_bound = 0
    metric_interval_upper_bound = 4 * local.late_after_seconds[each.key]
    scaling_adjustment          = 1
  }

  step_adjustment {
    metric_interval_lower_bound = 4 * local.late_after_seconds[each.key]
    scaling_adjustment          = 2
  }
}

resource "aws_autoscaling_policy" "in" {
  for_each = local.queue_groups

  name                   = "${var.name}-${each.key}-in"
  autoscaling_group_name = aws_autoscaling_group.this[each.key].name
  policy_type            = "StepScaling"
  adjustment_type        = "ChangeInCapacity"

  step_adjustment {
    metric_interval_upper_bound = 0
    scaling_adjustment          = -1
  }
}

resource "aws_cloudwatch_metric_alarm" "late" {
  for_each = local.queue_groups

  alarm_name          = "${var.name}-${each.key}-late"
  alarm_description   = "Oldest runnable work of ${join(", ", each.value.queues)} waits too long"
  comparison_operator = "GreaterThanThreshold"
  threshold           = local.late_after_seconds[each.key]
  evaluation_periods  = 2
  # No data means that the relay is silent, which is an outage of its own and not a reason to buy machines.
  treat_missing_data = "notBreaching"
  alarm_actions      = [aws_autoscaling_policy.out[each.key].arn]

  # While requests wait at the model server that this group feeds, more workers would only make that queue longer. No data
  # of that server means that it is away, and then more workers do not help either.
  metric_query {
    id          = "oldest"
    expression  = each.value.held_by == "" ? "MAX(METRICS())" : "IF(held > ${local.crowded_requests}, 0, MAX([${join(", ", [for queue in range(length(each.value.queues)) : "q${queue}"])}]))"
    label       = "Oldest runnable age"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = each.value.held_by == "" ? [] : [each.value.held_by]

    content {
      id = "held"

      metric {
        namespace   = var.metrics_namespace
        metric_name = "ModelRequestsWaiting"
        period      = 60
        stat        = "Maximum"
        dimensions  = { Server = metric_query.value }
      }
    }
  }

  dynamic "metric_query" {
    for_each = each.value.queues

    content {
      id = "q${metric_query.key}"

      metric {
        namespace   = var.metrics_namespace
        metric_name = "OldestRunnableAge"
        period      = 60
        stat        = "Maximum"
        dimensions  = { Queue = metric_query.value }
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "idle" {
  for_each = local.queue_groups

  alarm_name          = "${var.name}-${each.key}-idle"
  alarm_description   = "Nothing of ${join(", ", each.value.queues)} waits or runs"
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  evaluation_periods  = 15
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_autoscaling_policy.in[each.key].arn]

  metric_query {
    id          = "work"
    expression  = "MAX(METRICS())"
    label       = "Oldest runnable age, or running jobs"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = each.value.queues

    content {
      id = "q${metric_query.key}"

      metric {
        namespace   = var.metrics_namespace
        metric_name = "OldestRunnableAge"
        period      = 60
        stat        = "Maximum"
        dimensions  = { Queue = metric_query.value }
      }
    }
  }

  # A machine is never returned while one of its group works: the group does not choose an idle machine.
  dynamic "metric_query" {
    for_each = each.value.queues

    content {
      id = "r${metric_query.key}"

      metric {
        namespace   = var.metrics_namespace
        metric_name = "RunningJobs"
        period      = 60
        stat        = "Maximum"
        dimensions  = { Queue = metric_query.value }
      }
    }
  }
}

# The relay's silence: everything scaled by its metric would stand still.
resource "aws_cloudwatch_metric_alarm" "relay_silent" {
  alarm_name          = "${var.name}-relay-silent"
  alarm_description   = "No relay works, or nobody publishes OldestRunnableAge, for five minutes"
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  evaluation_periods  = 5
  period              = 60
  statistic           = "SampleCount"
  namespace           = var.metrics_namespace
  metric_name         = "OldestRunnableAge"
  dimensions          = { Queue = "system.sweep" }
  treat_missing_data  = var.started ? "breaching" : "notBreaching"
  alarm_actions       = [var.alarm_topic_arn]
}

# Late for half an hour: more machines did not help, or could not be had.
resource "aws_cloudwatch_metric_alarm" "stuck" {
  for_each = toset(flatten([for spec in values(local.queue_groups) : spec.queues]))

  alarm_name          = "${var.name}-${replace(each.value, ".", "-")}-stuck"
  alarm_description   = "The oldest runnable work of ${each.value} has waited for more than ten minutes, half an hour long"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 600
  evaluation_periods  = 30
  period              = 60
  statistic           = "Maximum"
  namespace           = var.metrics_namespace
  metric_name         = "OldestRunnableAge"
  dimensions          = { Queue = each.value }
  treat_missing_data  = "notBreaching"
  alarm_actions       = [var.alarm_topic_arn]
}

# The API follows the load on its processors.
resource "aws_autoscaling_policy" "processor" {
  for_each = { for group, spec in var.groups : group => spec if length(spec.queues) == 0 && !spec.gpu }

  name                   = "${var.name}-${each.key}-processor"
  autoscaling_group_name = aws_autoscaling_group.this[each.key].name
  policy_type            = "TargetTrackingScaling"

  target_tracking_configuration {
    target_value = 60

    predefined_metric_specification {
      predefined_metric_type = "ASGAverageCPUUtilization"
    }
  }
}

# Model servers follow the requests that wait in vLLM. One machine at a time, and none while the last one still loads its
# weights: a machine that does not answer yet has relieved nobody.
resource "aws_autoscaling_policy" "model_out" {
  for_each = local.model_groups

  name                      = "${var.name}-${each.key}-out"
  autoscaling_group_name    = aws_autoscaling_group.this[each.key].name
  policy_type               = "StepScaling"
  adjustment_type           = "ChangeInCapacity"
  estimated_instance_warmup = 1800

  step_adjustment {
    metric_interval_lower_bound = 0
    scaling_adjustment          = 1
  }
}

resource "aws_autoscaling_policy" "model_in" {
  for_each = local.model_groups

  name                   = "${var.name}-${each.key}-in"
  autoscaling_group_name = aws_autoscaling_group.this[each.key].name
  policy_type            = "StepScaling"
  adjustment_type        = "ChangeInCapacity"

  step_adjustment {
    metric_interval_upper_bound = 0
    scaling_adjustment          = -1
  }
}

# `manage.py publish_metrics` reads one machine of a server, the one with the fewest open requests. If requests wait there, they wait everywhere.
resource "aws_cloudwatch_metric_alarm" "crowded" {
  for_each = local.model_groups

  alarm_name          = "${var.name}-${each.key}-crowded"
  alarm_description   = "Requests wait at a model server of ${each.key}: ${join(", ", keys(each.value.servers))}"
  comparison_operator = "GreaterThanThreshold"
  threshold           = local.crowded_requests
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_autoscaling_policy.model_out[each.key].arn]

  metric_query {
    id          = "waiting"
    expression  = "MAX(METRICS())"
    label       = "Waiting requests of the busiest server"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = keys(each.value.servers)

    content {
      id = "s${metric_query.key}"

      metric {
        namespace   = var.metrics_namespace
        metric_name = "ModelRequestsWaiting"
        period      = 60
        stat        = "Maximum"
        dimensions  = { Server = metric_query.value }
      }
    }
  }
}

# A quarter of what a machine runs at once: of two such machines, one carries both loads with half of its places free.
resource "aws_cloudwatch_metric_alarm" "spare" {
  for_each = local.model_groups

  alarm_name          = "${var.name}-${each.key}-spare"
  alarm_description   = "No model server of ${each.key} runs more than a quarter of its requests, half an hour long"
  comparison_operator = "LessThanOrEqualToThreshold"
  threshold           = floor(min(values(each.value.servers)...) / 4)
  evaluation_periods  = 30
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_autoscaling_policy.model_in[each.key].arn]

  metric_query {
    id          = "running"
    expression  = "MAX(METRICS())"
    label       = "Running requests of the busiest server"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = keys(each.value.servers)

    content {
      id = "s${metric_query.key}"

      metric {
        namespace   = var.metrics_namespace
        metric_name = "ModelRequestsRunning"
        period      = 60
        stat        = "Maximum"
        dimensions  = { Server = metric_query.value }
      }
    }
  }
}
