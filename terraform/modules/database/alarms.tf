# What runs out on the primary (docs/runbooks/deploy-aws.md).

resource "aws_cloudwatch_metric_alarm" "disk_full" {
  alarm_name          = "${var.name}-database-disk"
  alarm_description   = "The disk of PostgreSQL is more than 80 percent full"
  namespace           = var.metrics_namespace
  metric_name         = "DatabaseDiskUsed"
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
}

resource "aws_cloudwatch_metric_alarm" "memory_low" {
  alarm_name          = "${var.name}-database-memory"
  alarm_description   = "Less than a tenth of the memory of PostgreSQL's machine is available"
  namespace           = var.metrics_namespace
  metric_name         = "DatabaseMemoryUsed"
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 90
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
}

resource "aws_cloudwatch_metric_alarm" "connections_used" {
  alarm_name          = "${var.name}-database-connections"
  alarm_description   = "PostgreSQL has more than 85 percent of the connections that it allows"
  namespace           = var.metrics_namespace
  metric_name         = "DatabaseConnectionsUsed"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 5
  comparison_operator = "GreaterThanThreshold"
  threshold           = 85
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
}

resource "aws_cloudwatch_metric_alarm" "standby_late" {
  alarm_name          = "${var.name}-standby-late"
  alarm_description   = "The standby is more than 1 GB of log behind the primary"
  namespace           = var.metrics_namespace
  metric_name         = "StandbyBytesBehind"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 10
  comparison_operator = "GreaterThanThreshold"
  threshold           = 1000000000
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
}
