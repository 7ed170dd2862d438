# One internal address per model server, so that workers know a URL and not a machine.

resource "aws_lb" "this" {
  name               = "${var.name}-models"
  internal           = true
  load_balancer_type = "application"
  subnets            = var.subnet_ids
  security_groups    = [var.security_group_id]
  # A long answer on a full batch takes minutes. vLLM keeps idle connections longer (VLLM_HTTP_TIMEOUT_KEEP_ALIVE in its
  # image), so none is closed while a request is on its way.
  idle_timeout = 600
}

resource "aws_lb_target_group" "this" {
  for_each = var.ports

  # A name has at most 32 characters.
  name                 = "${var.name}-${trimsuffix(each.key, "-embedder")}"
  vpc_id               = var.vpc_id
  port                 = each.value
  protocol             = "HTTP"
  target_type          = "instance"
  deregistration_delay = 120
  # By requests in flight: round robin would pile long generations on one machine.
  load_balancing_algorithm_type = "least_outstanding_requests"

  health_check {
    path                = "/health"
    matcher             = "200"
    interval            = 15
    timeout             = 5
    healthy_threshold   = 2
    unhealthy_threshold = 4
  }
}

resource "aws_lb_listener" "this" {
  for_each = var.ports

  load_balancer_arn = aws_lb.this.arn
  port              = each.value
  protocol          = "HTTP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this[each.key].arn
  }
}
