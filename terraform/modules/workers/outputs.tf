output "group_names" {
  value = { for group, resource in aws_autoscaling_group.this : group => resource.name }
}

output "log_groups" {
  value = { for group, resource in aws_cloudwatch_log_group.this : group => resource.name }
}

output "containers" {
  value = {
    for group, spec in var.groups : group => {
      for container, own in spec.containers : container => {
        image       = own.image
        entrypoint  = own.entrypoint
        arguments   = own.arguments
        environment = merge(spec.environment, own.environment)
        secrets     = spec.secrets
        gpu         = spec.gpu
      }
    }
  }
}
