output "group_names" {
  value = { for group, resource in aws_autoscaling_group.this : group => resource.name }
}
