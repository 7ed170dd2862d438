output "urls" {
  value = { for role, port in var.ports : role => "http://${aws_lb.this.dns_name}:${port}/v1" }
}

output "target_group_arns" {
  value      = { for role, group in aws_lb_target_group.this : role => group.arn }
  depends_on = [aws_lb_listener.this]
}
