variable "name" {
  type = string
}

variable "kms_key_arn" {
  type = string
}

variable "database_address" {
  type = string
}

variable "cache_address" {
  type = string
}

variable "model_keys" {
  description = "Variables of the model servers' keys: generated for servers of our own, replaced by hand for hosted ones."
  type        = list(string)
}

variable "signer_keys" {
  description = "Variables of the signer's secrets, one for each class of workers that read media."
  type        = list(string)
}

variable "cache_token" {
  type      = string
  sensitive = true
}

locals {
  # Both are on the database host. Requests and workers go through the pooler.
  postgres = 5432
  pooler   = 6432

  # `manage.py provision` gives each role the password that stands in its URL.
  database_users = {
    DATABASE_URL             = { user = "app_rw", database = "ava", port = local.pooler }
    DATABASE_OWNER_URL       = { user = "app_owner", database = "ava", port = local.postgres }
    DATABASE_DISPATCH_URL    = { user = "app_dispatch", database = "ava", port = local.pooler }
    DATABASE_CONSOLE_URL     = { user = "app_admin_ro", database = "ava", port = local.pooler }
    DATABASE_PEOPLE_URL      = { user = "app_people", database = "ava", port = local.pooler }
    DATABASE_STAFF_URL       = { user = "app_console", database = "ava", port = local.pooler }
    DATABASE_REPLICATION_URL = { user = "app_replication", database = "postgres", port = local.postgres }
    DATABASE_SUPERUSER_URL   = { user = "postgres", database = "postgres", port = local.postgres }
  }

  # Variable = what stands before the generated part. For hosted models put the provider's key in place of the generated one.
  generated = merge({
    AVA_SECRET_KEY         = ""
    AVA_CONSOLE_SECRET_KEY = ""
    AVA_CACHE_SALT_KEY     = ""
    AVA_KEY_PEPPERS        = "1:"
    AVA_ENCRYPTION_KEYS    = "1:"
  }, { for variable in concat(var.model_keys, var.signer_keys) : variable => "" })
}
