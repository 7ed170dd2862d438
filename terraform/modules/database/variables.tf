variable "name" {
  type = string
}

variable "region" {
  type = string
}

variable "instance" {
  type = object({ instance_type = string, volume_gib = number, iops = number, throughput = number })
}

variable "availability_zone" {
  type = string
}

variable "subnet_id" {
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
