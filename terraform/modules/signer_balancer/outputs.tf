output "url" {
  value = "http://${aws_lb.this.dns_name}:${var.port}/"
}

output "alarm_dimensions" {
  value = { LoadBalancer = aws_lb.this.arn_suffix, TargetGroup = aws_lb_target_group.this.arn_suffix }
}

output "target_group_arn" {
  value      = aws_lb_target_group.this.arn
  depends_on = [aws_lb_listener.this]
}
