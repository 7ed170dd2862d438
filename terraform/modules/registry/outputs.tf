output "urls" {
  value = { for image, repository in aws_ecr_repository.this : image => repository.repository_url }
}

output "arns" {
  value = { for image, repository in aws_ecr_repository.this : image => repository.arn }
}

output "host" {
  value = split("/", values(aws_ecr_repository.this)[0].repository_url)[0]
}
