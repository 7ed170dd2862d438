terraform {
  # 1.11: write-only arguments keep generated passwords out of the state; 1.10: the S3 backend locks by itself.
  required_version = ">= 1.11, < 2.0"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # 5.100 has the write-only arguments of secrets, and is the version that the tests plan with.
      version = "~> 5.100"
    }
  }

  # Bucket, key and region come with `terraform init -backend-config=…`.
  backend "s3" {
    encrypt      = true
    use_lockfile = true
  }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = {
      application = "ava-cloud"
      environment = var.environment
    }
  }
}
