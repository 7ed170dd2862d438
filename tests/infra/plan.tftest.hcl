# Plans the whole installation against a scripted provider: no account, no network. test_terraform.py runs it.

mock_provider "aws" {
  mock_data "aws_iam_policy_document" {
    defaults = { json = "{}" }
  }

  mock_data "aws_secretsmanager_random_password" {
    defaults = { random_password = "scriptedscriptedscriptedscripted" }
  }

  mock_resource "aws_ecr_repository" {
    defaults = {
      repository_url = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/ava"
      arn            = "arn:aws:ecr:eu-central-1:111122223333:repository/ava"
    }
  }
}

variables {
  region             = "eu-central-1"
  environment        = "prod"
  availability_zones = ["eu-central-1a", "eu-central-1b"]
  domain             = "ava.example.com"
  certificate_arn    = "arn:aws:acm:eu-central-1:111122223333:certificate/00000000-0000-0000-0000-000000000000"
  image_tag          = "2026.11.1"
  postgres_image_tag = "18-2026.11.1"
}

run "own_models" {
  command = plan

  assert {
    condition     = toset(keys(output.group_names)) == toset(["api", "system", "index", "query", "vlm", "llm"])
    error_message = "vLLM runs on machines of its own unless endpoints are given."
  }

  assert {
    condition     = length(module.network.private_subnet_ids) == 2
    error_message = "One private subnet in each zone."
  }
}

run "hosted_models" {
  command = plan

  variables {
    model_endpoints = { describer_url = "https://models.example.com/v1", reasoner_url = "https://models.example.com/v1" }
  }

  assert {
    condition     = toset(keys(output.group_names)) == toset(["api", "system", "index", "query"])
    error_message = "Hosted models need no vLLM machines."
  }
}

run "three_zones_before_the_images_are_pushed" {
  command = plan

  variables {
    availability_zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
    nat_per_zone       = true
    services_started   = false
  }
}

run "a_moving_tag_is_refused" {
  command = plan

  variables {
    image_tag = "latest"
  }

  expect_failures = [var.image_tag]
}

run "one_zone_is_refused" {
  command = plan

  variables {
    availability_zones = ["eu-central-1a"]
  }

  expect_failures = [var.availability_zones]
}

run "plain_http_models_are_refused" {
  command = plan

  variables {
    model_endpoints = { describer_url = "http://models.example.com/v1", reasoner_url = "https://models.example.com/v1" }
  }

  expect_failures = [var.model_endpoints]
}
