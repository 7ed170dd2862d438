# Known only when the value is there, so that no machine starts before its secrets exist.
output "arns" {
  value = { for name, secret in aws_secretsmanager_secret.this : name => secret.arn }
  depends_on = [
    aws_secretsmanager_secret_version.database,
    aws_secretsmanager_secret_version.generated,
    aws_secretsmanager_secret_version.cache,
  ]
}

output "database_names" {
  value = keys(local.database_users)
}
