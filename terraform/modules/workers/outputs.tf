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
        tag         = own.image == "vllm" ? var.vllm_image_tag : var.image_tag
        entrypoint  = own.entrypoint
        arguments   = own.arguments
        environment = merge(spec.environment, own.environment)
        secrets     = concat(spec.secrets, values(own.secrets))
        objects     = length(spec.object_actions) > 0
        gpu         = spec.gpu
      }
    }
  }
}

output "scaling" {
  value = {
    for group, resource in aws_autoscaling_group.this : group => {
      least = resource.min_size
      most  = resource.max_size
      image = aws_launch_template.this[group].image_id
      refresh = {
        least = resource.instance_refresh[0].preferences[0].min_healthy_percentage
        most  = resource.instance_refresh[0].preferences[0].max_healthy_percentage
      }
      alarms = {
        for kind, alarms in {
          late    = aws_cloudwatch_metric_alarm.late
          idle    = aws_cloudwatch_metric_alarm.idle
          crowded = aws_cloudwatch_metric_alarm.crowded
          spare   = aws_cloudwatch_metric_alarm.spare
          } : kind => {
          comparison = alarms[group].comparison_operator
          threshold  = alarms[group].threshold
          expression = one([for query in alarms[group].metric_query : query.expression if query.return_data == true])
          metrics    = flatten([for query in alarms[group].metric_query : [for metric in query.metric : "${metric.metric_name} ${join(",", values(metric.dimensions))}"]])
        } if contains(keys(alarms), group)
      }
    }
  }
}
