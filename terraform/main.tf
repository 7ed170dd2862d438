locals {
  name         = "ava-${var.environment}"
  public_url   = "https://${var.domain}"
  metrics      = "AVA/${var.environment}"
  hosted       = var.model_endpoints != null
  base_secrets = ["AVA_SECRET_KEY", "AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS", "REDIS_URL"]

  # Least privilege by machine: the owner's and the superuser's passwords stay on the database host, the console's with the API.
  app_secrets   = concat(local.base_secrets, ["DATABASE_URL", "DATABASE_DISPATCH_URL"])
  model_secrets = concat(local.app_secrets, ["REASONER_API_KEY", "DESCRIBER_API_KEY"])

  # Settings name all four roles. Without a password a role cannot log in; a secret of the same name takes its place.
  app_environment = {
    DATABASE_OWNER_URL   = "postgresql://app_owner@${module.database.address}:5432/ava"
    DATABASE_CONSOLE_URL = "postgresql://app_admin_ro@${module.database.address}:5432/ava"
    PGSSLMODE            = "require"
    S3_BUCKET            = module.storage.bucket
    S3_REGION            = var.region
    AWS_DEFAULT_REGION   = var.region
    AVA_PUBLIC_URL       = local.public_url
  }
  model_environment = merge(local.app_environment, {
    MODEL_PROFILE   = "openai"
    REASONER_URL    = local.hosted ? var.model_endpoints.reasoner_url : module.model_balancer[0].urls["llm"]
    REASONER_MODEL  = var.models.reasoner
    DESCRIBER_URL   = local.hosted ? var.model_endpoints.describer_url : module.model_balancer[0].urls["vlm"]
    DESCRIBER_MODEL = var.models.describer
    AVA_CACHE_DIR   = "/var/cache/ava"
  })

  write_objects = ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]
  erase_objects = concat(local.write_objects, ["s3:DeleteObject"])

  # One entry is one kind of machine: what runs on it, what it may read, what it listens to.
  service_groups = {
    api = {
      containers        = { api = { image = "api", entrypoint = "", arguments = "" } }
      environment       = merge(local.app_environment, { FORWARDED_ALLOW_IPS = "*", AVA_ALLOWED_HOSTS = "${var.domain},127.0.0.1" })
      secrets           = concat(local.app_secrets, ["DATABASE_CONSOLE_URL"])
      object_actions    = local.erase_objects
      queues            = []
      gpu               = false
      security_group    = "api"
      target_group_arns = [module.load_balancer.target_group_arn]
      publishes_metrics = false
      disk_gib          = 40
    }
    system = {
      containers = {
        relay  = { image = "worker", entrypoint = "python", arguments = "manage.py relay" }
        worker = { image = "worker", entrypoint = "", arguments = "--queues cpu.probe,io.webhook,system --concurrency 2" }
      }
      environment       = merge(local.app_environment, { AVA_CLOUDWATCH_NAMESPACE = local.metrics })
      secrets           = local.app_secrets
      object_actions    = local.erase_objects
      queues            = ["cpu.probe", "io.webhook", "system"]
      gpu               = false
      security_group    = "worker"
      target_group_arns = []
      publishes_metrics = true
      disk_gib          = 60
    }
    index = {
      containers        = { worker = { image = "gpu-worker", entrypoint = "", arguments = "--queues gpu.index --concurrency 1" } }
      environment       = local.model_environment
      secrets           = local.model_secrets
      object_actions    = local.write_objects
      queues            = ["gpu.index"]
      gpu               = true
      security_group    = "worker"
      target_group_arns = []
      publishes_metrics = false
      disk_gib          = 120
    }
    query = {
      containers        = { worker = { image = "worker", entrypoint = "", arguments = "--queues gpu.query --concurrency 1" } }
      environment       = local.model_environment
      secrets           = local.model_secrets
      object_actions    = local.write_objects
      queues            = ["gpu.query"]
      gpu               = false
      security_group    = "worker"
      target_group_arns = []
      publishes_metrics = false
      disk_gib          = 60
    }
  }
  model_groups = local.hosted ? {} : {
    vlm = {
      containers        = { vllm = { image = "vllm", entrypoint = "", arguments = "--role vlm" } }
      environment       = { DESCRIBER_MODEL = var.models.describer }
      secrets           = ["DESCRIBER_API_KEY"]
      object_actions    = []
      queues            = []
      gpu               = true
      security_group    = "model"
      target_group_arns = [module.model_balancer[0].target_group_arns["vlm"]]
      publishes_metrics = false
      disk_gib          = 200
    }
    llm = {
      containers        = { vllm = { image = "vllm", entrypoint = "", arguments = "--role llm" } }
      environment       = { REASONER_MODEL = var.models.reasoner }
      secrets           = ["REASONER_API_KEY"]
      object_actions    = []
      queues            = []
      gpu               = true
      security_group    = "model"
      target_group_arns = [module.model_balancer[0].target_group_arns["llm"]]
      publishes_metrics = false
      disk_gib          = 300
    }
  }
}

module "network" {
  source = "./modules/network"

  name               = local.name
  region             = var.region
  cidr               = var.vpc_cidr
  availability_zones = var.availability_zones
  nat_per_zone       = var.nat_per_zone
}

module "storage" {
  source = "./modules/storage"

  name            = local.name
  allowed_origins = [local.public_url]
}

module "registry" {
  source = "./modules/registry"

  name   = local.name
  images = ["api", "worker", "gpu-worker", "vllm", "postgres"]
}

module "cache" {
  source = "./modules/cache"

  name              = local.name
  node_type         = var.cache_node_type
  subnet_ids        = module.network.private_subnet_ids
  security_group_id = module.network.security_group_ids["cache"]
  kms_key_arn       = module.storage.kms_key_arn
}

module "secrets" {
  source = "./modules/secrets"

  name             = local.name
  kms_key_arn      = module.storage.kms_key_arn
  database_address = module.database.address
  cache_address    = module.cache.address
  cache_token      = module.cache.token
}

module "database" {
  source = "./modules/database"

  name              = local.name
  region            = var.region
  instance          = var.database
  availability_zone = var.availability_zones[0]
  subnet_id         = module.network.private_subnet_ids[0]
  security_group_id = module.network.security_group_ids["database"]
  kms_key_arn       = module.storage.kms_key_arn
  registry_host     = module.registry.host
  postgres_image    = "${module.registry.urls["postgres"]}:${var.postgres_image_tag}"
  migrate_image     = "${module.registry.urls["api"]}:${var.image_tag}"
  repository_arns   = [module.registry.arns["postgres"], module.registry.arns["api"]]
  secret_prefix     = local.name
  secret_arns       = { for name in concat(local.base_secrets, module.secrets.database_names) : name => module.secrets.arns[name] }

  # The passwords come from the secrets; the rest is what every process has.
  migrate_environment = { for variable, value in local.app_environment : variable => value if !startswith(variable, "DATABASE_") }
}

module "load_balancer" {
  source = "./modules/load_balancer"

  name              = local.name
  vpc_id            = module.network.vpc_id
  subnet_ids        = module.network.public_subnet_ids
  security_group_id = module.network.security_group_ids["balancer"]
  certificate_arn   = var.certificate_arn
}

module "model_balancer" {
  source = "./modules/model_balancer"
  count  = local.hosted ? 0 : 1

  name              = local.name
  vpc_id            = module.network.vpc_id
  subnet_ids        = module.network.private_subnet_ids
  security_group_id = module.network.security_group_ids["model"]
  ports             = { vlm = 8001, llm = 8002 }
}

module "workers" {
  source = "./modules/workers"

  name               = local.name
  region             = var.region
  groups             = merge(local.service_groups, local.model_groups)
  sizes              = var.sizes
  started            = var.services_started
  subnet_ids         = module.network.private_subnet_ids
  security_group_ids = module.network.security_group_ids
  registry_host      = module.registry.host
  image_urls         = module.registry.urls
  image_arns         = module.registry.arns
  image_tag          = var.image_tag
  bucket_arn         = module.storage.bucket_arn
  kms_key_arn        = module.storage.kms_key_arn
  secret_arns        = module.secrets.arns
  metrics_namespace  = local.metrics
}
