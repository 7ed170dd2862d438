output "address" {
  value = aws_route53_record.primary.name
}

output "certificate" {
  value = local.certificate
}

output "instance_id" {
  value = aws_instance.this[var.primary].id
}

output "instance_ids" {
  value = { for machine, resource in aws_instance.this : machine => resource.id }
}

output "volume_id" {
  value = aws_ebs_volume.data[var.primary].id
}

output "migrate_document" {
  value = aws_ssm_document.migrate.name
}
