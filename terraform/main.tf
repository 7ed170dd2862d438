locals {
  name         = "ava-${var.environment}"
  public_url   = "https://${var.domain}"
  metrics      = "AVA/${var.environment}"
  base_secrets = ["AVA_CACHE_SALT_KEY", "AVA_KEY_PEPPERS", "AVA_ENCRYPTION_KEYS", "REDIS_URL"]

  # Model names, windows and parallelism stand in the product's model table; workers and launchers read the same file.
  preset = jsondecode(file("${path.module}/../gpu_workers/engine/models/models.json")).presets[var.model_preset]
  hosted = length(local.preset.servers) == 0

  # An index worker with a card transcribes in its own process, so that no server does.
  roles   = { for role, server in local.preset.roles : role => server if !(var.index_gpu && contains(keys(local.preset.in_process), role)) }
  servers = { for name, server in local.preset.servers : name => server if contains(values(local.roles), name) }

  # Least privilege by machine: the owner's and the superuser's passwords stay on the database host, the console's on a machine of its own.
  # Only the API and the console sign sessions, each with a key of its own, and check keys; only they and the sender of webhooks open what is sealed (AVA_PROCESS).
  # A container's own secrets stand in its entry: each worker has the signer's secret of its own class.
  app_secrets    = concat(local.base_secrets, ["DATABASE_URL", "DATABASE_DISPATCH_URL"])
  worker_secrets = ["AVA_CACHE_SALT_KEY", "REDIS_URL", "DATABASE_URL", "DATABASE_DISPATCH_URL"]
  signer_keys    = ["AVA_SIGNER_KEY_PROBE", "AVA_SIGNER_KEY_RENDER", "AVA_SIGNER_KEY_FETCH", "AVA_SIGNER_KEY_INDEX", "AVA_SIGNER_KEY_QUERY"]
  model_keys     = local.hosted ? ["REASONER_API_KEY", "DESCRIBER_API_KEY"] : ["MODEL_API_KEY"]
  model_secrets  = concat(local.worker_secrets, local.model_keys)

  # The URL of each role. A checker on the describer's server needs none.
  model_urls = local.hosted ? { for variable, value in {
    REASONER_URL    = try(var.model_endpoints.reasoner_url, "")
    REASONER_MODEL  = try(var.model_endpoints.reasoner_model, "")
    DESCRIBER_URL   = try(var.model_endpoints.describer_url, "")
    DESCRIBER_MODEL = try(var.model_endpoints.describer_model, "")
    } : variable => value if value != "" } : {
    for role, server in local.roles : "${upper(role)}_URL" => module.model_balancer[0].urls[server]
    if role != "checker" || server != try(local.preset.roles.describer, "")
  }

  # Settings name all four roles. Without a password a role cannot log in; a secret of the same name takes its place.
  app_environment = merge({
    DATABASE_OWNER_URL   = "postgresql://app_owner@${module.database.address}:5432/ava"
    DATABASE_CONSOLE_URL = "postgresql://app_admin_ro@${module.database.address}:6432/ava"
    DATABASE_LISTEN_URL  = "postgresql://app_rw@${module.database.address}:5432/ava"
    PGSSLMODE            = "verify-full"
    PGSSLROOTCERT        = "/etc/ava/database.crt"
    S3_BUCKET            = module.storage.bucket
    S3_REGION            = var.region
    AWS_DEFAULT_REGION   = var.region
    AVA_PUBLIC_URL       = local.public_url
    MODEL_PRESET         = var.model_preset
  }, local.model_urls, var.extra_environment)
  signed_environment = merge(local.app_environment, { AVA_PROCESS = "worker", AVA_SIGNER_URL = module.signer_balancer.url })
  worker_environment = merge({ AVA_CACHE_DIR = "/var/cache/ava" }, local.signed_environment)
  signer_port        = 8400

  erase_objects = ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:DeleteObject"]

  # An index worker has no card unless the operator wants one for each. A query worker needs models in its process only
  # where the preset serves no embedders.
  index_image = var.index_gpu ? "gpu-worker" : "cpu-worker"
  query_image = length(setintersection(keys(local.preset.roles), ["text_embedder", "frame_embedder", "token_embedder"])) == 3 ? "worker" : "cpu-worker"

  # Most of a segment's time is the describer's. A describer elsewhere reports no waiting requests.
  index_held_by = local.hosted || contains(keys(var.extra_environment), "DESCRIBER_URL") ? "" : try(local.preset.roles.describer, "")

  # One entry is one kind of machine: what runs on it, what it may read, what it listens to.
  service_groups = {
    api = {
      containers = { api = { image = "api", entrypoint = "", arguments = "" } }
      environment = merge(local.app_environment, {
        # The balancer adds the customer's address behind whatever the customer has sent, so only its own subnets count.
        # Nothing else of ours runs in them.
        FORWARDED_ALLOW_IPS = join(",", module.network.public_subnet_cidrs)
        AVA_ALLOWED_HOSTS   = "${var.domain},127.0.0.1"
        AVA_HEALTH_ADDRESS  = "0.0.0.0:8001"
      })
      secrets           = concat(local.app_secrets, ["AVA_SECRET_KEY", "DATABASE_PEOPLE_URL"])
      object_actions    = local.erase_objects
      queues            = []
      gpu               = false
      security_group    = "api"
      target_group_arns = [module.load_balancer.target_group_arn]
      publishes_metrics = false
      disk_gib          = 40
    }
    # The operator's pages, which no customer reaches: no balancer leads there. Staff forward a port to port 8000 of the
    # machine (docs/runbooks/deploy-aws.md).
    console = {
      containers        = { console = { image = "api", entrypoint = "", arguments = "" } }
      environment       = merge(local.app_environment, { AVA_PROCESS = "console", AVA_CONSOLE_URL = var.console_url })
      secrets           = concat(local.app_secrets, ["AVA_CONSOLE_SECRET_KEY", "DATABASE_CONSOLE_URL", "DATABASE_STAFF_URL"])
      object_actions    = ["s3:GetObject"]
      queues            = []
      gpu               = false
      security_group    = "worker"
      target_group_arns = []
      publishes_metrics = false
      disk_gib          = 40
    }
    # What rings, publishes and sends. None of it touches an object.
    system = {
      containers = {
        relay    = { image = "worker", entrypoint = "python", arguments = "manage.py relay", memory = "512m", health = "ava-health 6 python -m workers.health --relay" }
        metrics  = { image = "worker", entrypoint = "python", arguments = "manage.py publish_metrics", memory = "512m", health = "ava-health 6 python -m workers.health --relay" }
        webhooks = { image = "worker", entrypoint = "python", arguments = "manage.py send_webhooks", memory = "1g", health = "ava-health 6 python -m workers.health --relay", environment = { AVA_PROCESS = "webhooks" }, secrets = { AVA_ENCRYPTION_KEYS = "AVA_ENCRYPTION_KEYS" } }
      }
      environment       = merge(local.app_environment, { AVA_PROCESS = "worker", AVA_CLOUDWATCH_NAMESPACE = local.metrics })
      secrets           = local.worker_secrets
      object_actions    = []
      queues            = ["io.webhook"]
      gpu               = false
      security_group    = "worker"
      target_group_arns = []
      publishes_metrics = true
      disk_gib          = 40
    }
    # What reads customers' recordings and URLs. The signer signs its requests to the bucket. One worker per class of jobs:
    # a slow URL never delays the jobs of another class. Workers that share a host's network share its name, so each has a
    # Celery node name of its own.
    media = {
      containers = {
        probe = { image = "worker", entrypoint = "", arguments = "--queues cpu.probe --concurrency 2 --hostname probe@%h", memory = "2g", secrets = { AVA_SIGNER_KEY = "AVA_SIGNER_KEY_PROBE" } }
        # What people watch yields to everything else on the machine.
        render = { image = "worker", entrypoint = "", arguments = "--queues cpu.render --concurrency 2 --hostname render@%h", memory = "4g", cpu_shares = 64, secrets = { AVA_SIGNER_KEY = "AVA_SIGNER_KEY_RENDER" } }
        fetch  = { image = "worker", entrypoint = "", arguments = "--queues io.fetch --pool threads --concurrency 16 --hostname fetch@%h", memory = "1500m", secrets = { AVA_SIGNER_KEY = "AVA_SIGNER_KEY_FETCH" } }
      }
      environment       = local.signed_environment
      secrets           = local.worker_secrets
      object_actions    = []
      queues            = ["cpu.probe", "cpu.render", "io.fetch"]
      gpu               = false
      security_group    = "worker"
      target_group_arns = []
      publishes_metrics = false
      disk_gib          = 60
    }
    # The only workers with rights on the bucket: the signer, and what deletes and sweeps. They read no media.
    objects = {
      containers = {
        signer = { image = "worker", entrypoint = "python", arguments = "manage.py sign_objects --host 0.0.0.0 --port ${local.signer_port}", memory = "1g", health = "ava-health 6 python -m workers.health --signer ${local.signer_port}", environment = { AVA_PROCESS = "signer", AVA_CACHE_SALT_KEY = "" }, secrets = { for variable in local.signer_keys : variable => variable } }
        delete = { image = "worker", entrypoint = "", arguments = "--queues system.delete --pool threads --concurrency 4 --hostname delete@%h", memory = "1g" }
        sweep  = { image = "worker", entrypoint = "", arguments = "--queues system.sweep --pool threads --concurrency 2 --hostname sweep@%h", memory = "1g" }
      }
      environment       = merge(local.app_environment, { AVA_PROCESS = "worker" })
      secrets           = local.worker_secrets
      object_actions    = local.erase_objects
      queues            = ["system.delete", "system.sweep"]
      gpu               = false
      security_group    = "worker"
      target_group_arns = [module.signer_balancer.target_group_arn]
      publishes_metrics = false
      disk_gib          = 40
    }
    index = {
      containers        = { worker = { image = local.index_image, entrypoint = "", arguments = "--queues gpu.index --pool threads --concurrency ${local.preset.segments_at_once}", secrets = { AVA_SIGNER_KEY = "AVA_SIGNER_KEY_INDEX" } } }
      environment       = local.worker_environment
      secrets           = local.model_secrets
      object_actions    = []
      queues            = ["gpu.index"]
      held_by           = local.index_held_by
      gpu               = var.index_gpu
      security_group    = "worker"
      target_group_arns = []
      publishes_metrics = false
      disk_gib          = 120
    }
    query = {
      containers        = { worker = { image = local.query_image, entrypoint = "", arguments = "--queues gpu.query --pool threads --concurrency ${local.preset.questions_at_once}", secrets = { AVA_SIGNER_KEY = "AVA_SIGNER_KEY_QUERY" } } }
      environment       = local.worker_environment
      secrets           = local.model_secrets
      object_actions    = []
      queues            = ["gpu.query"]
      gpu               = false
      security_group    = "worker"
      target_group_arns = []
      publishes_metrics = false
      disk_gib          = 60
    }
  }

  # A port of each server of the table: several servers of one card share a machine and its network.
  server_ports = { vlm = 8001, llm = 8002, checker = 8003, text-embedder = 8004, frame-embedder = 8005, reranker = 8006, entailer = 8007, token-embedder = 8008, transcriber = 8009 }

  # Machine types by the cards that a preset asks for (number x usable GiB). No type has two cards of 48 GB; four cards of
  # 24 GB hold the same model for half the price of four of 48 GB.
  gpu_machines = {
    "1x22" = { instance_type = "g6.2xlarge", gpus = 1 }
    "1x44" = { instance_type = "g6e.2xlarge", gpus = 1 }
    "1x79" = { instance_type = "p5.4xlarge", gpus = 1 }
    "2x44" = { instance_type = "g6.12xlarge", gpus = 4 }
  }
  gpu_types = { for machine in values(local.gpu_machines) : machine.instance_type => machine.gpus }

  # Servers with the same first card share a machine.
  model_machines = {
    for card in distinct([for server in values(local.servers) : server.gpu]) : "models-${card}" => {
      servers = { for name, server in local.servers : name => server if server.gpu == card }
      kind    = "${max([for server in values(local.servers) : server.tensor_parallel if server.gpu == card]...)}x${local.preset.gpu_gib[card]}"
    }
  }
  machine_types = {
    for machine, spec in local.model_machines : machine => coalesce(try(var.model_machines[machine].instance_type, null), local.gpu_machines[spec.kind].instance_type)
  }
  machine_gpus = { for machine, type in local.machine_types : machine => try(var.model_machines[machine].gpus, null) != null ? var.model_machines[machine].gpus : local.gpu_types[type] }

  model_groups = {
    for machine, spec in local.model_machines : machine => {
      containers = {
        for name, server in spec.servers : "vllm-${name}" => {
          image      = "vllm"
          entrypoint = ""
          arguments  = "--server ${name}"
          health     = "ava-health 8 python -m gpu_workers.engine.models.served.vllm_server --server ${name} --check"
          # One server after the other: each measures the memory that is free on the card while it loads.
          after = [for other in keys(spec.servers) : local.server_ports[other] if local.server_ports[other] < local.server_ports[name]]
          environment = merge({
            MODEL_SERVER_PORT            = tostring(local.server_ports[name])
            MODEL_SERVER_TENSOR_PARALLEL = tostring(server.tensor_parallel == 1 ? 1 : local.machine_gpus[machine])
            CUDA_VISIBLE_DEVICES         = server.tensor_parallel == 1 ? "0" : join(",", range(local.machine_gpus[machine]))
          }, try(var.model_server_environment[name], {}))
        }
      }
      environment       = { MODEL_PRESET = var.model_preset }
      secrets           = ["MODEL_API_KEY"]
      object_actions    = []
      queues            = []
      servers           = { for name, server in spec.servers : name => server.sequences }
      gpu               = true
      security_group    = "model"
      target_group_arns = [for name in keys(spec.servers) : module.model_balancer[0].target_group_arns[name]]
      publishes_metrics = false
      disk_gib          = 300
    }
  }
  sizes = merge(
    { for group, size in var.sizes : group => merge(size, { instance_type = coalesce(size.instance_type, group == "index" ? (var.index_gpu ? "g6.xlarge" : "c7i.2xlarge") : null, local.query_image == "worker" ? "c7i.large" : "c7i.xlarge") }) },
    { for machine, type in local.machine_types : machine => {
      instance_type = type
      least         = try(var.model_machines[machine].least, 1)
      most          = max(try(var.model_machines[machine].most, 2), try(var.model_machines[machine].least, 1))
    } },
  )
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
  allowed_origins = concat([local.public_url], var.upload_origins)
  console_origin  = trimsuffix(var.console_url, "/")
}

module "registry" {
  source = "./modules/registry"

  name   = local.name
  images = ["api", "worker", "cpu-worker", "gpu-worker", "vllm", "postgres"]
}

module "cache" {
  source = "./modules/cache"

  name              = local.name
  node_type         = var.cache_node_type
  subnet_ids        = module.network.private_subnet_ids
  security_group_id = module.network.security_group_ids["cache"]
  kms_key_arn       = module.storage.kms_key_arn
  alarm_topic_arn   = module.alarms.topic_arn
}

module "secrets" {
  source = "./modules/secrets"

  name             = local.name
  kms_key_arn      = module.storage.kms_key_arn
  database_address = module.database.address
  cache_address    = module.cache.address
  cache_token      = module.cache.token
  model_keys       = local.model_keys
  signer_keys      = local.signer_keys
}

module "database" {
  source = "./modules/database"

  name               = local.name
  region             = var.region
  instance           = var.database
  availability_zones = slice(var.availability_zones, 0, 2)
  subnet_ids         = slice(module.network.private_subnet_ids, 0, 2)
  vpc_id             = module.network.vpc_id
  primary            = var.database_primary
  metrics_namespace  = local.metrics
  alarm_topic_arn    = module.alarms.topic_arn
  security_group_id  = module.network.security_group_ids["database"]
  kms_key_arn        = module.storage.kms_key_arn
  registry_host      = module.registry.host
  machine_image      = var.machine_images.cpu
  postgres_image     = "${module.registry.urls["postgres"]}:${var.postgres_image_tag}"
  migrate_image      = "${module.registry.urls["api"]}:${var.image_tag}"
  repository_arns    = [module.registry.arns["postgres"], module.registry.arns["api"]]
  secret_prefix      = local.name
  secret_arns        = { for name in concat(local.base_secrets, module.secrets.database_names) : name => module.secrets.arns[name] }

  # The passwords come from the secrets. What provision and migrate do not need, such as the domain, stays away from the host.
  migrate_environment = { for variable in ["PGSSLMODE", "PGSSLROOTCERT", "S3_BUCKET", "S3_REGION", "AWS_DEFAULT_REGION"] : variable => local.app_environment[variable] }
}

module "load_balancer" {
  source = "./modules/load_balancer"

  name              = local.name
  vpc_id            = module.network.vpc_id
  subnet_ids        = module.network.public_subnet_ids
  security_group_id = module.network.security_group_ids["balancer"]
  certificate_arn   = var.certificate_arn
}

module "signer_balancer" {
  source = "./modules/signer_balancer"

  name              = local.name
  vpc_id            = module.network.vpc_id
  subnet_ids        = module.network.private_subnet_ids
  security_group_id = module.network.security_group_ids["signer"]
  port              = local.signer_port
}

module "model_balancer" {
  source = "./modules/model_balancer"
  count  = local.hosted ? 0 : 1

  name              = local.name
  vpc_id            = module.network.vpc_id
  subnet_ids        = module.network.private_subnet_ids
  security_group_id = module.network.security_group_ids["model"]
  ports             = { for server in keys(local.servers) : server => local.server_ports[server] }
}

module "workers" {
  source = "./modules/workers"

  name               = local.name
  region             = var.region
  groups             = merge(local.service_groups, local.model_groups)
  sizes              = local.sizes
  machine_image_ids  = var.machine_image_ids
  machine_images     = var.machine_images
  started            = var.services_started
  subnet_ids         = module.network.private_subnet_ids
  security_group_ids = module.network.security_group_ids
  registry_host      = module.registry.host
  image_urls         = module.registry.urls
  image_arns         = module.registry.arns
  image_tag          = var.image_tag
  vllm_image_tag     = var.vllm_image_tag
  bucket_arn         = module.storage.bucket_arn
  kms_key_arn        = module.storage.kms_key_arn
  secret_arns        = module.secrets.arns
  metrics_namespace  = local.metrics
  alarm_topic_arn    = module.alarms.topic_arn

  database_certificate = module.database.certificate
}

module "alarms" {
  source = "./modules/alarms"

  name                 = local.name
  emails               = var.alarm_emails
  metrics_namespace    = local.metrics
  load_balancer        = module.load_balancer.alarm_dimensions
  certificate_arn      = var.certificate_arn
  signer               = module.signer_balancer.alarm_dimensions
  model_targets        = local.hosted ? {} : module.model_balancer[0].alarm_dimensions
  database_instance_id = module.database.instance_id
  model_log_groups     = { for group in ["index", "query"] : group => module.workers.log_groups[group] }
  started              = var.services_started
}
