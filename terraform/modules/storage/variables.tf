variable "name" {
  type = string
}

variable "allowed_origins" {
  description = "Origins of the pages that upload and play."
  type        = list(string)

  validation {
    condition     = alltrue([for origin in var.allowed_origins : startswith(origin, "https://")])
    error_message = "allowed_origins are https origins."
  }
}

variable "console_origin" {
  description = "Origin of the console, whose pages play recordings: scheme and host, with the port if there is one."
  type        = string
}
