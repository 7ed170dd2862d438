variable "name" {
  type = string
}

variable "images" {
  type = list(string)
}
