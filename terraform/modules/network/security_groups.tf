# Who may talk to whom. Only the load balancer hears the internet.

resource "aws_security_group" "this" {
  for_each = {
    balancer = "The public load balancer"
    api      = "API machines"
    worker   = "All machines of workers, the relays, the signers and the console"
    model    = "vLLM machines and their internal load balancer"
    signer   = "The internal load balancer of the signers"
    database = "The PostgreSQL host"
    cache    = "ElastiCache"
    monitor  = "A Prometheus of the operator; nothing here is in it"
  }

  name        = "${var.name}-${each.key}"
  description = each.value
  vpc_id      = aws_vpc.this.id
  tags        = { Name = "${var.name}-${each.key}" }
}

resource "aws_vpc_security_group_ingress_rule" "public" {
  for_each = { http = 80, https = 443 }

  security_group_id = aws_security_group.this["balancer"].id
  description       = "Customers by ${each.key}; plain http is only redirected"
  ip_protocol       = "tcp"
  from_port         = each.value
  to_port           = each.value
  cidr_ipv4         = "0.0.0.0/0"
}

resource "aws_vpc_security_group_ingress_rule" "internal" {
  for_each = local.flows

  security_group_id            = aws_security_group.this[each.value.to].id
  referenced_security_group_id = aws_security_group.this[each.value.from].id
  description                  = each.key
  ip_protocol                  = "tcp"
  from_port                    = each.value.first
  to_port                      = each.value.last
}

resource "aws_vpc_security_group_egress_rule" "internal" {
  for_each = local.flows

  security_group_id            = aws_security_group.this[each.value.from].id
  referenced_security_group_id = aws_security_group.this[each.value.to].id
  description                  = each.key
  ip_protocol                  = "tcp"
  from_port                    = each.value.first
  to_port                      = each.value.last
}

# AWS's own interfaces, image and package downloads; webhooks and URL ingest go to https on 443 and 8443.
resource "aws_vpc_security_group_egress_rule" "https" {
  for_each = toset(["api", "worker", "model", "database"])

  security_group_id = aws_security_group.this[each.key].id
  description       = "https to AWS and outside"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
  cidr_ipv4         = "0.0.0.0/0"
}

resource "aws_vpc_security_group_egress_rule" "webhooks" {
  security_group_id = aws_security_group.this["worker"].id
  description       = "Webhooks and URL ingest on 8443"
  ip_protocol       = "tcp"
  from_port         = 8443
  to_port           = 8443
  cidr_ipv4         = "0.0.0.0/0"
}
