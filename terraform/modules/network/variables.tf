variable "name" {
  type = string
}

variable "region" {
  type = string
}

variable "cidr" {
  type = string
}

variable "availability_zones" {
  type = list(string)
}

variable "nat_per_zone" {
  type = bool
}

locals {
  zones     = { for index, zone in var.availability_zones : zone => index }
  nat_zones = toset(var.nat_per_zone ? var.availability_zones : [var.availability_zones[0]])

  flows = {
    "balancer to api"           = { from = "balancer", to = "api", first = 8000, last = 8001 }
    "api to database"           = { from = "api", to = "database", first = 5432, last = 5432 }
    "api to pooler"             = { from = "api", to = "database", first = 6432, last = 6432 }
    "worker to pooler"          = { from = "worker", to = "database", first = 6432, last = 6432 }
    "standby to database"       = { from = "database", to = "database", first = 5432, last = 5432 }
    "api to cache"              = { from = "api", to = "cache", first = 6379, last = 6379 }
    "worker to cache"           = { from = "worker", to = "cache", first = 6379, last = 6379 }
    "worker to signer balancer" = { from = "worker", to = "signer", first = 8400, last = 8400 }
    "signer balancer to signer" = { from = "signer", to = "worker", first = 8400, last = 8400 }
    "worker to model balancer"  = { from = "worker", to = "model", first = 8001, last = 8008 }
    # A port for each container of a machine.
    "monitor to api"         = { from = "monitor", to = "api", first = 9464, last = 9479 }
    "monitor to worker"      = { from = "monitor", to = "worker", first = 9464, last = 9479 }
    "model balancer to vLLM" = { from = "model", to = "model", first = 8001, last = 8008 }
  }
}
