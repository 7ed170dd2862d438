# The broker. Messages are bells: the queue of record is PostgreSQL, so a lost node loses a moment, not work.

# The provider has no write-only token for this resource, so this one password is in the (encrypted) state.
data "aws_secretsmanager_random_password" "token" {
  password_length     = 48
  exclude_punctuation = true
}

resource "aws_elasticache_subnet_group" "this" {
  name       = var.name
  subnet_ids = var.subnet_ids
}

resource "aws_elasticache_parameter_group" "this" {
  name   = "${var.name}-broker"
  family = "valkey8"

  # A broker that evicts loses messages without a word.
  parameter {
    name  = "maxmemory-policy"
    value = "noeviction"
  }
}

resource "aws_elasticache_replication_group" "this" {
  replication_group_id       = var.name
  description                = "Celery broker and rate-limit counters"
  engine                     = "valkey"
  engine_version             = "8.0"
  node_type                  = var.node_type
  num_cache_clusters         = 2
  automatic_failover_enabled = true
  multi_az_enabled           = true
  parameter_group_name       = aws_elasticache_parameter_group.this.name
  subnet_group_name          = aws_elasticache_subnet_group.this.name
  security_group_ids         = [var.security_group_id]
  at_rest_encryption_enabled = true
  kms_key_id                 = var.kms_key_arn
  transit_encryption_enabled = true
  auth_token                 = data.aws_secretsmanager_random_password.token.random_password

  lifecycle {
    # The data source gives a new password at every plan; the first one stays.
    ignore_changes = [auth_token]
  }
}

# AWS names the nodes by their number.
resource "aws_cloudwatch_metric_alarm" "memory_full" {
  for_each = toset(["001", "002"])

  alarm_name          = "${var.name}-broker-memory-${each.key}"
  alarm_description   = "A node of the broker uses more than 80 percent of its memory; a full broker takes no message"
  namespace           = "AWS/ElastiCache"
  metric_name         = "DatabaseMemoryUsagePercentage"
  dimensions          = { CacheClusterId = "${aws_elasticache_replication_group.this.replication_group_id}-${each.key}" }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
}
