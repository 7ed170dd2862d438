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
  vllm_image_tag     = "2026.10.2"
  machine_images     = { cpu = "ami-0aaaaaaaaaaaaaaa1", gpu = "ami-0bbbbbbbbbbbbbbb2" }
  postgres_image_tag = "18-2026.11.1"
  alarm_emails       = ["operations@example.com"]
}

run "two_gpus" {
  command = plan

  assert {
    condition     = toset(keys(output.group_names)) == toset(["api", "console", "system", "media", "objects", "index", "query", "models-0", "models-1"])
    error_message = "Servers of one card share a machine; each card has a machine of its own."
  }

  assert {
    condition     = output.scaling["api"].image == "ami-0aaaaaaaaaaaaaaa1" && output.scaling["index"].image == output.scaling["api"].image && output.scaling["models-0"].image == "ami-0bbbbbbbbbbbbbbb2"
    error_message = "Machines start from the image that the operator names, and no apply replaces them for a newer one."
  }

  assert {
    condition     = output.scaling["models-0"].refresh == { least = 100, most = 200 } && output.scaling["api"].refresh.least == 50
    error_message = "A machine of model servers is launched before the old one goes."
  }

  assert {
    condition     = alltrue([for name, own in output.containers["models-0"] : own.tag == "2026.10.2"]) && output.containers["api"]["api"].tag == "2026.11.1"
    error_message = "A new version of the service leaves the model servers alone."
  }

  assert {
    condition     = length(module.network.private_subnet_ids) == 2
    error_message = "One private subnet in each zone."
  }

  assert {
    condition     = toset(keys(output.containers["models-0"])) == toset(["vllm-vlm", "vllm-text-embedder", "vllm-frame-embedder", "vllm-token-embedder", "vllm-reranker", "vllm-entailer", "vllm-transcriber"])
    error_message = "Every server of the preset's first card runs on its machine."
  }

  assert {
    condition     = output.containers["query"]["worker"].image == "worker" && output.containers["index"]["worker"].image == "cpu-worker" && !output.containers["index"]["worker"].gpu && !output.containers["query"]["worker"].gpu
    error_message = "With served models neither index workers nor query workers need a card."
  }

  assert {
    condition     = output.containers["query"]["worker"].environment["MODEL_PRESET"] == "two-gpus" && alltrue([for role in ["DESCRIBER", "REASONER", "TEXT_EMBEDDER", "FRAME_EMBEDDER", "RERANKER", "ENTAILER", "TRANSCRIBER"] : contains(keys(output.containers["query"]["worker"].environment), "${role}_URL")])
    error_message = "Workers know the URL of every role that the preset serves."
  }

  assert {
    condition     = contains(output.containers["query"]["worker"].secrets, "MODEL_API_KEY") && join(",", output.containers["models-1"]["vllm-llm"].secrets) == "MODEL_API_KEY"
    error_message = "Clients and servers share one key."
  }

  assert {
    condition     = length(distinct([for container in values(output.containers["models-0"]) : container.environment["MODEL_SERVER_PORT"]])) == 7
    error_message = "Servers of one machine listen on ports of their own."
  }

  assert {
    condition     = alltrue([for machine in ["models-0", "models-1"] : output.scaling[machine].least == 1 && output.scaling[machine].most == 2 && toset(keys(output.scaling[machine].alarms)) == toset(["crowded", "spare"])])
    error_message = "Groups of model servers grow, and by their requests only."
  }

  assert {
    condition     = output.scaling["models-1"].alarms["crowded"].metrics == ["ModelRequestsWaiting llm"] && output.scaling["models-1"].alarms["crowded"].threshold == 4 && output.scaling["models-1"].alarms["crowded"].expression == "MAX(METRICS())"
    error_message = "A group of model servers grows while requests wait in vLLM."
  }

  assert {
    condition     = toset(output.scaling["models-0"].alarms["crowded"].metrics) == toset([for server in ["vlm", "text-embedder", "frame-embedder", "token-embedder", "reranker", "entailer", "transcriber"] : "ModelRequestsWaiting ${server}"])
    error_message = "Any server of a machine may be the crowded one."
  }

  assert {
    condition     = output.scaling["models-1"].alarms["spare"].metrics == ["ModelRequestsRunning llm"] && output.scaling["models-1"].alarms["spare"].threshold == 12 && output.scaling["models-1"].alarms["spare"].comparison == "LessThanOrEqualToThreshold"
    error_message = "A group of model servers shrinks when its servers run a quarter of what they can."
  }

  assert {
    condition     = output.scaling["index"].alarms["late"].expression == "IF(held > 4, 0, MAX([q0]))" && toset(output.scaling["index"].alarms["late"].metrics) == toset(["OldestRunnableAge gpu.index", "ModelRequestsWaiting vlm"])
    error_message = "The index group does not grow while the VLM is the bottleneck."
  }

  assert {
    condition     = output.scaling["query"].alarms["late"].expression == "MAX(METRICS())" && output.scaling["query"].alarms["late"].metrics == ["OldestRunnableAge gpu.query"]
    error_message = "Questions are late whatever the model servers do."
  }

  assert {
    condition     = alltrue([for group in ["system", "media", "objects", "index", "query"] : output.scaling[group].alarms["idle"].comparison == "LessThanThreshold" && output.scaling[group].alarms["idle"].threshold == 1 && length([for metric in output.scaling[group].alarms["idle"].metrics : metric if startswith(metric, "RunningJobs ")]) == length([for metric in output.scaling[group].alarms["idle"].metrics : metric if startswith(metric, "OldestRunnableAge ")])])
    error_message = "A group with a running job is not idle."
  }

  # CloudWatch's limit for an alarm on an expression.
  assert {
    condition     = alltrue(flatten([for group in values(output.scaling) : [for alarm in values(group.alarms) : length(alarm.metrics) <= 10]]))
    error_message = "An alarm reads at most ten metrics."
  }

  assert {
    condition     = toset(flatten([for group in ["system", "media", "objects"] : [for name, container in output.containers[group] : "${group} ${name}" if !strcontains(container.arguments, ",")]])) == toset(["media render", "system relay", "system metrics", "system webhooks", "media probe", "media fetch", "objects signer", "objects delete", "objects sweep"])
    error_message = "The relay, the metrics, the signer and each class of jobs have processes of their own."
  }

  assert {
    condition     = toset(flatten([for group, containers in output.containers : [for name, container in containers : group if container.objects]])) == toset(["api", "console", "objects"])
    error_message = "No machine whose containers read media has rights on the bucket."
  }

  assert {
    condition     = toset(flatten([for group, containers in output.containers : [for name, container in containers : "${group} ${name}" if contains(keys(container.environment), "AVA_SIGNER_URL")]])) == toset(["media probe", "media render", "media fetch", "index worker", "query worker"])
    error_message = "Workers that read media know the URL of the signer, and no other process asks it."
  }

  assert {
    condition = { for each in flatten([for group, containers in output.containers : [for name, container in containers : {
      key = "${group} ${name}", secrets = join(" ", sort([for secret in container.secrets : trimprefix(secret, "AVA_SIGNER_KEY_") if startswith(secret, "AVA_SIGNER_KEY")]))
    }]]) : each.key => each.secrets if each.secrets != "" } == { "media probe" = "PROBE", "media render" = "RENDER", "media fetch" = "FETCH", "index worker" = "INDEX", "query worker" = "QUERY", "objects signer" = "FETCH INDEX PROBE QUERY RENDER" }
    error_message = "Each class of workers has its own secret for the signer, and the signer has all."
  }
}

run "an_index_worker_with_a_card_transcribes_itself" {
  command = plan

  variables {
    index_gpu = true
  }

  assert {
    condition     = output.containers["index"]["worker"].image == "gpu-worker" && output.containers["index"]["worker"].gpu && output.scaling["index"].image == output.scaling["models-0"].image
    error_message = "Each index machine has a card."
  }

  assert {
    condition     = !contains(keys(output.containers["models-0"]), "vllm-transcriber") && !contains(keys(output.containers["index"]["worker"].environment), "TRANSCRIBER_URL")
    error_message = "No server transcribes where the index workers do."
  }
}

run "four_gpus_use_every_card" {
  command = plan

  variables {
    model_preset = "four-gpus"
  }

  assert {
    condition     = toset(keys(output.group_names)) == toset(["api", "console", "system", "media", "objects", "index", "query", "models-0", "models-1", "models-2"])
    error_message = "The checker and the reasoner have machines of their own."
  }

  assert {
    condition     = output.machine_gpus["models-2"] == 4 && output.containers["models-2"]["vllm-llm"].environment["MODEL_SERVER_TENSOR_PARALLEL"] == "4" && output.containers["models-2"]["vllm-llm"].environment["CUDA_VISIBLE_DEVICES"] == "0,1,2,3"
    error_message = "A model over several cards uses all cards of its machine."
  }

  assert {
    condition     = alltrue([for machine, cards in output.machine_gpus : anytrue([for container in values(output.containers[machine]) : tonumber(container.environment["MODEL_SERVER_TENSOR_PARALLEL"]) == cards])])
    error_message = "No machine has a card that no server uses."
  }

  assert {
    condition     = contains(keys(output.containers["query"]["worker"].environment), "CHECKER_URL")
    error_message = "A checker on a server of its own has a URL of its own."
  }
}

run "all_servers_on_one_card" {
  command = plan

  variables {
    model_preset      = "gpu-80gb"
    model_machines    = { models-0 = { least = 2, most = 5 } }
    machine_image_ids = { models-0 = "ami-0123456789abcdef0" }
  }

  assert {
    condition     = output.scaling["models-0"].least == 2 && output.scaling["models-0"].most == 5
    error_message = "The operator bounds a group of model servers."
  }

  assert {
    condition     = alltrue([for alarm in values(output.scaling["models-0"].alarms) : length(alarm.metrics) == 8])
    error_message = "An alarm reads at most ten metrics."
  }

  assert {
    condition     = output.scaling["models-0"].image == "ami-0123456789abcdef0" && output.scaling["index"].image != "ami-0123456789abcdef0"
    error_message = "A baked machine image starts the machines of its group."
  }
}

run "a_describer_elsewhere_holds_nothing" {
  command = plan

  variables {
    extra_environment = { DESCRIBER_URL = "https://models.example.com/v1" }
  }

  assert {
    condition     = output.scaling["index"].alarms["late"].expression == "MAX(METRICS())"
    error_message = "Only a server of this installation holds the index group."
  }
}

run "one_card" {
  command = plan

  variables {
    model_preset = "gpu-24gb"
    extra_environment = {
      AVA_MAX_VIDEO_MS  = "3600000"
      MODEL_CONCURRENCY = "32"
    }
    model_server_environment = { vlm = { MODEL_SERVER_CONTEXT_TOKENS = "8192" } }
  }

  assert {
    condition     = toset(keys(output.group_names)) == toset(["api", "console", "system", "media", "objects", "index", "query", "models-0"])
    error_message = "One card is one machine."
  }

  assert {
    condition     = alltrue([for group in ["api", "system", "media", "objects", "index", "query"] : alltrue([for container in values(output.containers[group]) : container.environment["AVA_MAX_VIDEO_MS"] == "3600000" && container.environment["MODEL_CONCURRENCY"] == "32"])])
    error_message = "Additional settings reach the API and every worker."
  }

  assert {
    condition     = output.containers["models-0"]["vllm-vlm"].environment["MODEL_SERVER_CONTEXT_TOKENS"] == "8192" && !contains(keys(output.containers["models-0"]["vllm-text-embedder"].environment), "MODEL_SERVER_CONTEXT_TOKENS")
    error_message = "Settings of one server reach that server only."
  }

  assert {
    condition     = !contains(keys(output.containers["query"]["worker"].environment), "CHECKER_URL")
    error_message = "A checker on the describer's server needs no URL."
  }
}

run "hosted_models" {
  command = plan

  variables {
    model_preset = "hosted"
    model_endpoints = {
      describer_url   = "https://models.example.com/v1"
      describer_model = "vision"
      reasoner_url    = "https://models.example.com/v1"
      reasoner_model  = "language"
    }
  }

  assert {
    condition     = toset(keys(output.group_names)) == toset(["api", "console", "system", "media", "objects", "index", "query"])
    error_message = "Hosted models need no machines for models."
  }

  assert {
    condition     = output.containers["index"]["worker"].image == "cpu-worker" && output.containers["query"]["worker"].image == "cpu-worker" && !output.containers["index"]["worker"].gpu
    error_message = "Without served embedders the workers hold the encoders; without cards they run on a CPU."
  }

  assert {
    condition     = output.containers["index"]["worker"].environment["DESCRIBER_MODEL"] == "vision" && contains(output.containers["index"]["worker"].secrets, "DESCRIBER_API_KEY") && !contains(output.containers["index"]["worker"].secrets, "MODEL_API_KEY")
    error_message = "Names and keys of hosted models reach the workers."
  }

  assert {
    condition     = output.scaling["index"].alarms["late"].expression == "MAX(METRICS())" && output.scaling["index"].alarms["late"].metrics == ["OldestRunnableAge gpu.index"]
    error_message = "Hosted models report no waiting requests."
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

run "a_card_needs_a_machine_image" {
  command = plan

  variables {
    machine_images = { cpu = "ami-0aaaaaaaaaaaaaaa1" }
  }

  expect_failures = [var.machine_images]
}

run "a_moving_tag_of_the_model_servers_is_refused" {
  command = plan

  variables {
    vllm_image_tag = "latest"
  }

  expect_failures = [var.vllm_image_tag]
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
    model_preset = "hosted"
    model_endpoints = {
      describer_url   = "http://models.example.com/v1"
      describer_model = "vision"
      reasoner_url    = "https://models.example.com/v1"
      reasoner_model  = "language"
    }
  }

  expect_failures = [var.model_endpoints]
}

run "hosted_without_endpoints_is_refused" {
  command = plan

  variables {
    model_preset = "hosted"
  }

  expect_failures = [var.model_endpoints]
}

run "an_unknown_preset_is_refused" {
  command = plan

  variables {
    model_preset = "embedded"
  }

  expect_failures = [var.model_preset]
}

run "secrets_in_settings_are_refused" {
  command = plan

  variables {
    extra_environment = { REASONER_API_KEY = "key" }
  }

  expect_failures = [var.extra_environment]
}

run "a_single_relay_is_refused" {
  command = plan

  variables {
    sizes = {
      api     = { instance_type = "m7i.large", least = 2, most = 6 }
      console = { instance_type = "t3.small", least = 1, most = 1 }
      system  = { instance_type = "c7i.large", least = 1, most = 8 }
      media   = { instance_type = "c7i.large", least = 1, most = 8 }
      objects = { instance_type = "c7i.large", least = 2, most = 8 }
      index   = { least = 1, most = 8 }
      query   = { least = 1, most = 8 }
    }
  }

  expect_failures = [var.sizes]
}

run "a_machine_image_of_an_unknown_group_is_refused" {
  command = plan

  variables {
    machine_image_ids = { models-7 = "ami-0123456789abcdef0" }
  }

  expect_failures = [var.machine_image_ids]
}
