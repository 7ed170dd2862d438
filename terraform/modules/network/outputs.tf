output "vpc_id" {
  value = aws_vpc.this.id
}

# In the order of var.availability_zones, so that [0] is the first zone.
output "public_subnet_ids" {
  value = [for zone in var.availability_zones : aws_subnet.public[zone].id]
}

output "public_subnet_cidrs" {
  value = [for zone in var.availability_zones : aws_subnet.public[zone].cidr_block]
}

output "private_subnet_ids" {
  value = [for zone in var.availability_zones : aws_subnet.private[zone].id]
}

output "security_group_ids" {
  value = { for name, group in aws_security_group.this : name => group.id }
}
