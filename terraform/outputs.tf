output "load_balancer_name" {
  description = "Point the domain's CNAME (or alias) here."
  value       = module.load_balancer.dns_name
}

output "registry_urls" {
  description = "Where to push each image."
  value       = module.registry.urls
}

output "bucket" {
  description = "Bucket of sources, thumbnails and evidence frames."
  value       = module.storage.bucket
}

output "database_instance_id" {
  description = "The PostgreSQL host, for Session Manager and the migrate command."
  value       = module.database.instance_id
}

output "database_volume_id" {
  description = "The data volume, for the restore runbook."
  value       = module.database.volume_id
}

output "migrate_document" {
  description = "SSM document that provisions roles and applies migrations on the database host."
  value       = module.database.migrate_document
}

output "group_names" {
  description = "Auto Scaling group of each kind of machine."
  value       = module.workers.group_names
}

output "metrics_namespace" {
  description = "CloudWatch namespace in which the relay publishes the loads of queues and model servers."
  value       = local.metrics
}

output "alarm_topic" {
  description = "SNS topic of every alarm."
  value       = module.alarms.topic_arn
}

output "containers" {
  description = "What runs on each kind of machine: image, program, settings without secrets, names of the secrets."
  value       = module.workers.containers
}

output "machine_gpus" {
  description = "Number of cards of each machine for models."
  value       = local.machine_gpus
}

output "scaling" {
  description = "Least and most machines of each group, its machine image, and the alarms that add and remove machines."
  value       = module.workers.scaling
}

output "database_instance_ids" {
  description = "Both machines of PostgreSQL, by the names that database_primary knows."
  value       = module.database.instance_ids
}
