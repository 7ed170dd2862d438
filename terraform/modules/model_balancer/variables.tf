variable "name" {
  type = string
}

variable "vpc_id" {
  type = string
}

variable "subnet_ids" {
  type = list(string)
}

variable "security_group_id" {
  type = string
}

variable "ports" {
  description = "Port of each model server, on the balancer and on its machine."
  type        = map(number)
}
