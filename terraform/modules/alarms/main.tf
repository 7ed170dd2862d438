# Who hears of a fault: one topic, its readers, and the alarms of what stands between customers and the service.

resource "aws_sns_topic" "this" {
  name = "${var.name}-alarms"
}

resource "aws_sns_topic_subscription" "email" {
  for_each = toset(var.emails)

  topic_arn = aws_sns_topic.this.arn
  protocol  = "email"
  endpoint  = each.value
}

resource "aws_cloudwatch_metric_alarm" "errors" {
  alarm_name          = "${var.name}-api-errors"
  alarm_description   = "The API answered more than ten requests of a minute with 5xx, three minutes in a row"
  namespace           = "AWS/ApplicationELB"
  metric_name         = "HTTPCode_Target_5XX_Count"
  dimensions          = var.load_balancer
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.this.arn]
}

resource "aws_cloudwatch_metric_alarm" "model_unhealthy" {
  for_each = var.model_targets

  alarm_name          = "${var.name}-${each.key}-unhealthy"
  alarm_description   = "No healthy machine serves ${each.key}; a first start downloads weights for up to an hour"
  namespace           = "AWS/ApplicationELB"
  metric_name         = "HealthyHostCount"
  dimensions          = each.value
  statistic           = "Minimum"
  period              = 60
  evaluation_periods  = 20
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  treat_missing_data  = var.started ? "breaching" : "notBreaching"
  alarm_actions       = [aws_sns_topic.this.arn]
}

resource "aws_cloudwatch_metric_alarm" "signer_unhealthy" {
  alarm_name          = "${var.name}-signer-unhealthy"
  alarm_description   = "No signer answers: recordings can be neither read nor indexed, and their jobs wait"
  namespace           = "AWS/ApplicationELB"
  metric_name         = "HealthyHostCount"
  dimensions          = var.signer
  statistic           = "Minimum"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  treat_missing_data  = var.started ? "breaching" : "notBreaching"
  alarm_actions       = [aws_sns_topic.this.arn]
}

# AWS renews a certificate that it has made and whose DNS record is still there. It renews none that was imported.
resource "aws_cloudwatch_metric_alarm" "certificate" {
  alarm_name          = "${var.name}-certificate-expires"
  alarm_description   = "The certificate of the public load balancer ends within three weeks"
  namespace           = "AWS/CertificateManager"
  metric_name         = "DaysToExpiry"
  dimensions          = { CertificateArn = var.certificate_arn }
  statistic           = "Minimum"
  period              = 86400
  evaluation_periods  = 1
  comparison_operator = "LessThanThreshold"
  threshold           = 21
  treat_missing_data  = "missing"
  alarm_actions       = [aws_sns_topic.this.arn]
}

resource "aws_cloudwatch_metric_alarm" "database" {
  alarm_name          = "${var.name}-database-status"
  alarm_description   = "The machine of PostgreSQL fails its status checks"
  namespace           = "AWS/EC2"
  metric_name         = "StatusCheckFailed"
  dimensions          = { InstanceId = var.database_instance_id }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "breaching"
  alarm_actions       = [aws_sns_topic.this.arn]
}

# A wrong name or key of a model server: work waits and is tried again until an operator mends it.
resource "aws_cloudwatch_log_metric_filter" "misconfigured" {
  for_each = var.model_log_groups

  name           = "${var.name}-${each.key}-model-misconfigured"
  log_group_name = each.value
  pattern        = "model_misconfigured"

  metric_transformation {
    name          = "ModelMisconfigured"
    namespace     = var.metrics_namespace
    value         = "1"
    default_value = "0"
  }
}

resource "aws_cloudwatch_metric_alarm" "misconfigured" {
  alarm_name          = "${var.name}-model-misconfigured"
  alarm_description   = "A model server refuses the name or the key that workers use"
  namespace           = var.metrics_namespace
  metric_name         = "ModelMisconfigured"
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 2
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.this.arn]
}

# What the relay publishes with the metrics of the queues. The money is checked every night and compared every day.
locals {
  published = {
    dependencies-away = {
      metric      = "DependenciesAway", minutes = 1, periods = 5, above = 0
      description = "A model server or the storage is away, and the jobs that need it wait"
    }
    dead-jobs = {
      metric      = "DeadJobs", minutes = 1, periods = 1, above = 0
      description = "A job has used up its attempts or its time"
    }
    invariant-broken = {
      metric      = "InvariantViolations", minutes = 5, periods = 1, above = 0
      description = "An invariant of the money is broken"
    }
    invariants-unchecked = {
      metric      = "InvariantsAgeSeconds", minutes = 5, periods = 1, above = 172800
      description = "The invariants of the money have not been checked for two days"
    }
    # A failed export that the next sweep makes good, an hour later, calls nobody.
    money-findings = {
      metric      = "MoneyFindings", minutes = 5, periods = 14, above = 0
      description = "A comparison of money has a finding: an export, machine hours, or a model without a rate"
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "published" {
  for_each = local.published

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.description
  namespace           = var.metrics_namespace
  metric_name         = each.value.metric
  statistic           = "Maximum"
  period              = 60 * each.value.minutes
  evaluation_periods  = each.value.periods
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.above
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.this.arn]
}
