output "alarm_dimensions" {
  value = { LoadBalancer = aws_lb.this.arn_suffix }
}

output "dns_name" {
  value = aws_lb.this.dns_name
}

# Through the listener, so that no machine is registered before the balancer forwards to it.
output "target_group_arn" {
  value      = aws_lb_target_group.api.arn
  depends_on = [aws_lb_listener.https]
}
