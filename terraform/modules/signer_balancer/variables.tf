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

variable "port" {
  description = "Port of the signer, on the balancer and on its machines."
  type        = number
}
