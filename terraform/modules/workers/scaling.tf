# The age of the oldest work that could run says how late customers are. Queue length does not: it cannot see work already handed out.
# The relay publishes OldestRunnableAge (seconds, dimension Queue) every minute, 0 for an empty queue.

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

  metric_query {
    id          = "oldest"
    expression  = "MAX(METRICS())"
    label       = "Oldest runnable age"
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
}

resource "aws_cloudwatch_metric_alarm" "idle" {
  for_each = local.queue_groups

  alarm_name          = "${var.name}-${each.key}-idle"
  alarm_description   = "Nothing of ${join(", ", each.value.queues)} waits"
  comparison_operator = "LessThanOrEqualToThreshold"
  threshold           = 1
  evaluation_periods  = 15
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_autoscaling_policy.in[each.key].arn]

  metric_query {
    id          = "oldest"
    expression  = "MAX(METRICS())"
    label       = "Oldest runnable age"
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
}

# The relay's silence: everything scaled by its metric would stand still.
resource "aws_cloudwatch_metric_alarm" "relay_silent" {
  alarm_name          = "${var.name}-relay-silent"
  alarm_description   = "The relay has published no OldestRunnableAge for five minutes"
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  evaluation_periods  = 5
  period              = 60
  statistic           = "SampleCount"
  namespace           = var.metrics_namespace
  metric_name         = "OldestRunnableAge"
  dimensions          = { Queue = "system" }
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

# The API follows the load on its processors. Model servers keep their least number: a GPU host takes long to load and is bought by decision.
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
