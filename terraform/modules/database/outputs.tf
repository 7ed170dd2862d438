output "address" {
  value = aws_network_interface.this.private_ip
}

output "instance_id" {
  value = aws_instance.this.id
}

output "volume_id" {
  value = aws_ebs_volume.data.id
}

output "migrate_document" {
  value = aws_ssm_document.migrate.name
}
