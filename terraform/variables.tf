variable "region" {
  description = "AWS region of everything."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region is a region's code, such as eu-central-1."
  }
}

variable "environment" {
  description = "Name of this installation; part of every resource's name."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,14}$", var.environment))
    error_message = "environment is 2 to 15 lower-case letters, digits and dashes, a letter first."
  }
}

variable "vpc_cidr" {
  description = "Addresses of the VPC, a /16 to /20."
  type        = string
  default     = "10.40.0.0/16"

  validation {
    condition     = can(cidrhost(var.vpc_cidr, 0)) && try(tonumber(split("/", var.vpc_cidr)[1]) >= 16 && tonumber(split("/", var.vpc_cidr)[1]) <= 20, false)
    error_message = "vpc_cidr is an IPv4 network of size /16 to /20."
  }
}

variable "availability_zones" {
  description = "Two or three zones; the database stands in the first two."
  type        = list(string)

  validation {
    condition     = length(distinct(var.availability_zones)) == length(var.availability_zones) && contains([2, 3], length(var.availability_zones))
    error_message = "availability_zones names two or three different zones."
  }
}

variable "nat_per_zone" {
  description = "One NAT gateway in each zone (survives a zone, costs more) instead of one for all."
  type        = bool
  default     = false
}

variable "console_url" {
  description = "URL under which the operator's staff reach the console, through a forwarded port or a private network."
  type        = string
  default     = "http://127.0.0.1:8010"
}

variable "domain" {
  description = "Host name customers use; its DNS record must point at the output load_balancer_name."
  type        = string

  validation {
    condition     = can(regex("^([a-z0-9-]+\\.)+[a-z]{2,}$", var.domain))
    error_message = "domain is a host name without scheme or path."
  }
}

variable "certificate_arn" {
  description = "ACM certificate for the domain, in the same region."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:acm:", var.certificate_arn))
    error_message = "certificate_arn is the ARN of an ACM certificate."
  }
}

variable "image_tag" {
  description = "Tag of all images to run; tags are immutable, so a new version is a new tag."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", var.image_tag)) && var.image_tag != "latest"
    error_message = "image_tag is a fixed tag, never latest."
  }
}

variable "vllm_image_tag" {
  description = "Tag of the model servers' image; apart from image_tag, because changing it restarts servers that load for up to an hour."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", var.vllm_image_tag)) && var.vllm_image_tag != "latest"
    error_message = "vllm_image_tag is a fixed tag, never latest."
  }
}

variable "postgres_image_tag" {
  description = "Tag of the PostgreSQL image; apart from image_tag, because changing it restarts the database."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", var.postgres_image_tag)) && var.postgres_image_tag != "latest"
    error_message = "postgres_image_tag is a fixed tag, never latest."
  }
}

variable "services_started" {
  description = "False keeps every group at zero machines: for the first apply, before the images are pushed and the tables made."
  type        = bool
  default     = true
}

variable "database" {
  description = "Machine and disk of the PostgreSQL host."
  type = object({
    instance_type = string
    volume_gib    = number
    iops          = optional(number, 3000)
    throughput    = optional(number, 125)
  })
  default = { instance_type = "r7i.xlarge", volume_gib = 500 }

  validation {
    condition     = var.database.volume_gib >= 50 && var.database.iops >= 3000 && var.database.throughput >= 125
    error_message = "database needs at least 50 GiB, and gp3's floor of 3000 IOPS and 125 MiB/s."
  }
}

variable "database_primary" {
  description = "Which of the two database machines takes writes; the other one follows it. Changed after a failover (docs/runbooks/restore.md)."
  type        = string
  default     = "first"

  validation {
    condition     = contains(["first", "second"], var.database_primary)
    error_message = "database_primary is first or second."
  }
}

variable "cache_node_type" {
  description = "ElastiCache node; the broker holds a few bells only."
  type        = string
  default     = "cache.t4g.small"
}

variable "model_preset" {
  description = "Preset of the model table (gpu_workers/engine/models/models.json): which models run, on which cards."
  type        = string
  default     = "two-gpus"

  validation {
    condition     = var.model_preset != "embedded" && contains(keys(jsondecode(file("${path.module}/../gpu_workers/engine/models/models.json")).presets), var.model_preset)
    error_message = "model_preset is hosted or a preset for GPUs of the model table."
  }
}

variable "model_endpoints" {
  description = "OpenAI-compatible base URLs and model names of hosted models, for the preset hosted. Null otherwise."
  type = object({
    describer_url   = string
    describer_model = string
    reasoner_url    = string
    reasoner_model  = string
  })
  default = null

  validation {
    condition     = var.model_endpoints == null || try(alltrue([for url in [var.model_endpoints.describer_url, var.model_endpoints.reasoner_url] : startswith(url, "https://")]), false)
    error_message = "model_endpoints are https URLs."
  }

  validation {
    condition     = (var.model_preset == "hosted") == (var.model_endpoints != null)
    error_message = "model_endpoints belongs to the preset hosted, which needs it."
  }
}

variable "index_gpu" {
  description = "Whether each index machine has a card of its own. It then detects objects with RT-DETR, may decode there (AVA_HWACCEL), and transcribes in its own process; the transcriber's server does not run."
  type        = bool
  default     = false

  validation {
    condition     = !var.index_gpu || var.model_preset != "hosted"
    error_message = "index_gpu belongs to a preset for GPUs."
  }
}

variable "model_machines" {
  description = "Machines by group (models-0, models-1, …): another type than the preset's default, least and most machines. gpus: number of cards of a type that the configuration does not know."
  type = map(object({
    instance_type = optional(string)
    gpus          = optional(number)
    least         = optional(number, 1)
    most          = optional(number, 2)
  }))
  default = {}
}

variable "machine_images" {
  description = "ECS images of Amazon Linux 2023 (terraform/README.md finds the newest). Another id replaces every machine but the database's, so it never changes by itself."
  type        = object({ cpu = string, gpu = optional(string, "") })

  validation {
    condition     = alltrue([for image in values(var.machine_images) : can(regex("^ami-[0-9a-f]{8,17}$", image)) || (image == "" && var.model_preset == "hosted")])
    error_message = "machine_images has ids such as ami-0123456789abcdef0; only the preset hosted needs no gpu."
  }
}

variable "machine_image_ids" {
  description = "Machine images by group, baked from a running machine, that hold container images and model weights; by default one of machine_images."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for group, image in var.machine_image_ids : contains(keys(local.sizes), group) && can(regex("^ami-[0-9a-f]{8,17}$", image))])
    error_message = "machine_image_ids maps groups of this installation (api, models-0, …) to ids such as ami-0123456789abcdef0."
  }
}

variable "model_server_environment" {
  description = "MODEL_SERVER_… variables by server of the preset (vlm, llm, …), for an operator who differs from the table."
  type        = map(map(string))
  default     = {}
}

variable "extra_environment" {
  description = "More settings of the API and the workers (docs/configuration.md). No secrets: the values stand in launch templates."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for name in keys(var.extra_environment) : can(regex("^[A-Z][A-Z0-9_]*$", name)) && !can(regex("(_API_KEY|SECRET|PASSWORD|PEPPERS|ENCRYPTION_KEYS)", name))])
    error_message = "extra_environment has names of settings in capitals, and no secret."
  }
}

variable "upload_origins" {
  description = "https origins of customers' web pages that upload parts straight to the bucket."
  type        = list(string)
  default     = []
}

variable "alarm_emails" {
  description = "Addresses that every alarm goes to; each must confirm its subscription once."
  type        = list(string)

  validation {
    condition     = length(var.alarm_emails) > 0
    error_message = "alarm_emails names at least one address: an alarm without a reader is none."
  }
}

variable "sizes" {
  description = "Least and most machines of each group of services, and their type; the default type of index and query follows the preset."
  type = map(object({
    instance_type = optional(string)
    least         = number
    most          = number
  }))
  default = {
    api = { instance_type = "m7i.large", least = 2, most = 6 }
    # One process for the operator's staff.
    console = { instance_type = "t3.small", least = 1, most = 1 }
    system  = { instance_type = "c7i.large", least = 2, most = 8 }
    media   = { instance_type = "c7i.large", least = 1, most = 8 }
    objects = { instance_type = "c7i.large", least = 2, most = 8 }
    index   = { least = 1, most = 8 }
    query   = { least = 1, most = 8 }
  }

  validation {
    condition     = toset(keys(var.sizes)) == toset(["api", "console", "system", "media", "objects", "index", "query"])
    error_message = "sizes has exactly the groups api, console, system, media, objects, index and query."
  }

  validation {
    condition     = alltrue([for size in values(var.sizes) : size.least >= 1 && size.most >= size.least]) && try(var.sizes.system.least >= 2, false)
    error_message = "sizes: least is at least 1 (2 for system, which runs the relay) and at most `most`."
  }
}
