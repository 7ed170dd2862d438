variable "name" {
  type = string
}

variable "emails" {
  type = list(string)
}

variable "metrics_namespace" {
  type = string
}

variable "load_balancer" {
  description = "CloudWatch dimensions of the public load balancer."
  type        = map(string)
}

variable "certificate_arn" {
  type = string
}

variable "signer" {
  description = "CloudWatch dimensions of the signers' target group."
  type        = map(string)
}

variable "model_targets" {
  description = "CloudWatch dimensions of each model server's target group."
  type        = map(map(string))
}

variable "database_instance_id" {
  type = string
}

variable "model_log_groups" {
  description = "Log groups of the workers that ask models."
  type        = map(string)
}

variable "started" {
  type = bool
}
