output "urls" {
  value = { for server, port in var.ports : server => "http://${aws_lb.this.dns_name}:${port}/v1" }
}

output "alarm_dimensions" {
  value = { for server, group in aws_lb_target_group.this : server => { LoadBalancer = aws_lb.this.arn_suffix, TargetGroup = group.arn_suffix } }
}

output "target_group_arns" {
  value      = { for server, group in aws_lb_target_group.this : server => group.arn }
  depends_on = [aws_lb_listener.this]
}
