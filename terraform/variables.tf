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
  description = "Two or three zones; the database stands in the first."
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

variable "cache_node_type" {
  description = "ElastiCache node; the broker holds wake-ups only."
  type        = string
  default     = "cache.t4g.small"
}

variable "sizes" {
  description = "Machine type, least and most machines of each group. vlm and llm are ignored where model_endpoints is given."
  type = map(object({
    instance_type = string
    least         = number
    most          = number
  }))
  default = {
    api    = { instance_type = "m7i.large", least = 2, most = 6 }
    system = { instance_type = "c7i.large", least = 1, most = 8 }
    index  = { instance_type = "g6.xlarge", least = 1, most = 8 }
    query  = { instance_type = "c7i.xlarge", least = 1, most = 8 }
    vlm    = { instance_type = "g6e.xlarge", least = 1, most = 4 }
    llm    = { instance_type = "g6e.12xlarge", least = 1, most = 2 }
  }

  validation {
    condition     = toset(keys(var.sizes)) == toset(["api", "system", "index", "query", "vlm", "llm"])
    error_message = "sizes has exactly the groups api, system, index, query, vlm and llm."
  }

  validation {
    condition     = alltrue([for size in values(var.sizes) : size.least >= 1 && size.most >= size.least])
    error_message = "sizes: least is at least 1 and at most `most`."
  }
}

variable "models" {
  description = "Names of the models that describer and reasoner are asked for."
  type        = object({ describer = string, reasoner = string })
  default     = { describer = "Qwen/Qwen2.5-VL-7B-Instruct", reasoner = "Qwen/Qwen2.5-32B-Instruct" }
}

variable "model_endpoints" {
  description = "OpenAI-compatible base URLs of hosted models. Null runs vLLM in the groups vlm and llm."
  type        = object({ describer_url = string, reasoner_url = string })
  default     = null

  validation {
    condition     = var.model_endpoints == null || try(alltrue([for url in values(var.model_endpoints) : startswith(url, "https://")]), false)
    error_message = "model_endpoints are https URLs."
  }
}
