# One secret per environment variable, named <installation>/<VARIABLE>, so that each kind of machine can be given exactly its own.
# Generated values are written once through write-only arguments: they are in Secrets Manager and nowhere else.

ephemeral "aws_secretsmanager_random_password" "generated" {
  for_each = toset(concat(keys(local.database_users), keys(local.generated)))

  password_length     = 48
  exclude_punctuation = true
}

resource "aws_secretsmanager_secret" "this" {
  for_each = toset(concat(keys(local.database_users), keys(local.generated), ["REDIS_URL"]))

  name       = "${var.name}/${each.key}"
  kms_key_id = var.kms_key_arn
}

resource "aws_secretsmanager_secret_version" "database" {
  for_each = local.database_users

  secret_id                = aws_secretsmanager_secret.this[each.key].id
  secret_string_wo         = "postgresql://${each.value.user}:${ephemeral.aws_secretsmanager_random_password.generated[each.key].random_password}@${var.database_address}:${each.value.port}/${each.value.database}"
  secret_string_wo_version = 1
}

# Rotation adds a number in front (2:…,1:…) by hand, because old numbers must stay readable. Terraform does not touch the value again.
resource "aws_secretsmanager_secret_version" "generated" {
  for_each = local.generated

  secret_id                = aws_secretsmanager_secret.this[each.key].id
  secret_string_wo         = "${each.value}${ephemeral.aws_secretsmanager_random_password.generated[each.key].random_password}"
  secret_string_wo_version = 1
}

resource "aws_secretsmanager_secret_version" "cache" {
  secret_id     = aws_secretsmanager_secret.this["REDIS_URL"].id
  secret_string = "rediss://:${var.cache_token}@${var.cache_address}:6379/0?ssl_cert_reqs=required"
}
