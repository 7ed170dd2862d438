# One internal address of the signers, so that workers know a URL and not a machine.

resource "aws_lb" "this" {
  name               = "${var.name}-signer"
  internal           = true
  load_balancer_type = "application"
  subnets            = var.subnet_ids
  security_groups    = [var.security_group_id]
  # The signer closes an idle connection after 60 s, so the balancer does it before.
  idle_timeout = 50
}

resource "aws_lb_target_group" "this" {
  name                 = "${var.name}-signer"
  vpc_id               = var.vpc_id
  port                 = var.port
  protocol             = "HTTP"
  target_type          = "instance"
  deregistration_delay = 15

  health_check {
    path                = "/"
    matcher             = "200"
    interval            = 10
    timeout             = 5
    healthy_threshold   = 2
    unhealthy_threshold = 3
  }
}

resource "aws_lb_listener" "this" {
  load_balancer_arn = aws_lb.this.arn
  port              = var.port
  protocol          = "HTTP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this.arn
  }
}
