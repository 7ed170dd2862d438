# The least that fails over, for few customers and hosted models: terraform apply -var-file=small.tfvars. Each group still
# grows. One signer and one API machine: while the only one is replaced, the service is away for some minutes.
sizes = {
  api     = { instance_type = "t3.medium", least = 1, most = 4 }
  console = { instance_type = "t3.micro", least = 1, most = 1 }
  system  = { instance_type = "t3.medium", least = 2, most = 4 }
  media   = { instance_type = "t3.large", least = 1, most = 4 }
  objects = { instance_type = "t3.medium", least = 1, most = 4 }
  index   = { instance_type = "c7i.xlarge", least = 1, most = 4 }
  query   = { instance_type = "t3.large", least = 1, most = 4 }
}
database        = { instance_type = "r7i.large", volume_gib = 100 }
cache_node_type = "cache.t4g.micro"
