variable "name" {
  type = string
}

variable "region" {
  type = string
}

variable "instance" {
  type = object({ instance_type = string, volume_gib = number, iops = number, throughput = number })
}

variable "availability_zones" {
  description = "Zones of the first and of the second machine."
  type        = list(string)
}

variable "subnet_ids" {
  description = "Private subnets of these zones."
  type        = list(string)
}

variable "vpc_id" {
  type = string
}

variable "primary" {
  description = "Machine that takes writes: first or second."
  type        = string
}

variable "metrics_namespace" {
  type = string
}

variable "alarm_topic_arn" {
  type = string
}

variable "security_group_id" {
  type = string
}

variable "kms_key_arn" {
  type = string
}

variable "registry_host" {
  type = string
}

variable "postgres_image" {
  type = string
}

variable "migrate_image" {
  type = string
}

variable "repository_arns" {
  type = list(string)
}

variable "secret_prefix" {
  type = string
}

variable "secret_arns" {
  description = "Secrets the host may read, by variable."
  type        = map(string)
}

variable "migrate_environment" {
  description = "Settings of provision and migrate that are no secrets."
  type        = map(string)
}

variable "machine_image" {
  type = string
}

locals {
  machines = {
    for position, machine in ["first", "second"] : machine => {
      availability_zone = var.availability_zones[position]
      subnet_id         = var.subnet_ids[position]
    }
  }

  address = "database.${var.name}.internal"

  # Where the primary publishes the certificate by which clients verify it.
  certificate = "/${var.name}/database-certificate"

  # Days back to which the database can be restored.
  archive_days = 14
}
