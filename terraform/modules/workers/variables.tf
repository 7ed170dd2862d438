variable "name" {
  type = string
}

variable "region" {
  type = string
}

variable "groups" {
  description = "Kinds of machines: containers, settings, rights."
  type = map(object({
    containers = map(object({
      image       = string
      entrypoint  = string
      arguments   = string
      environment = optional(map(string), {})
      secrets     = optional(map(string), {})  # variable of this container alone = name of its secret
      memory      = optional(string, "")       # limit; by default nine tenths of the machine
      cpu_shares  = optional(number, 1024)     # weight against the other containers of the machine
      health      = optional(string, "")       # instead of the image's health check
      after       = optional(list(number), []) # ports of servers on this machine that must answer first
    }))
    environment       = map(string)
    secrets           = list(string)
    object_actions    = list(string)
    queues            = list(string)
    held_by           = optional(string, "")      # model server whose waiting requests keep the group from growing
    servers           = optional(map(number), {}) # model servers of the machine: requests that each runs at once
    gpu               = bool
    security_group    = string
    target_group_arns = list(string)
    publishes_metrics = bool
    disk_gib          = number
  }))
}

variable "database_certificate" {
  description = "SSM parameter with the certificate by which clients verify the database."
  type        = string
}

variable "sizes" {
  type = map(object({ instance_type = string, least = number, most = number }))
}

variable "machine_image_ids" {
  description = "Baked machine images by group."
  type        = map(string)
}

variable "machine_images" {
  description = "Machine images for machines without and with a card."
  type        = object({ cpu = string, gpu = string })
}

variable "started" {
  type = bool
}

variable "subnet_ids" {
  type = list(string)
}

variable "security_group_ids" {
  type = map(string)
}

variable "registry_host" {
  type = string
}

variable "image_urls" {
  type = map(string)
}

variable "image_arns" {
  type = map(string)
}

variable "image_tag" {
  type = string
}

variable "vllm_image_tag" {
  type = string
}

variable "bucket_arn" {
  type = string
}

variable "kms_key_arn" {
  type = string
}

variable "secret_arns" {
  type = map(string)
}

variable "metrics_namespace" {
  type = string
}

variable "alarm_topic_arn" {
  type = string
}

locals {
  queue_groups = { for group, spec in var.groups : group => spec if length(spec.queues) > 0 }
  model_groups = { for group, spec in var.groups : group => spec if length(spec.servers) > 0 }

  # What a machine may read: the secrets of all its containers.
  secrets_of = { for group, spec in var.groups : group => distinct(concat(spec.secrets, flatten([for own in values(spec.containers) : values(own.secrets)]))) }

  # A question waits for a person, an index job for a machine.
  late_after_seconds = { for group in keys(local.queue_groups) : group => group == "query" ? 10 : 60 }

  # Longer than a job may take (AVA_TASK_SECONDS), so a machine that is returned loses no work.
  finish_seconds = 900

  # Some requests always wait for an instant; more than these, minutes long, are a queue.
  crowded_requests = 4
}
