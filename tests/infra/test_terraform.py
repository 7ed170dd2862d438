"""The AWS installation: wiring, network rules, the bucket's rules, queues; and Terraform's own checks if installed."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hcl2
import pytest

from gpu_workers.engine.models import model_table
from tests.infra.conftest import ROOT
from tests.infra.variables import jobs_per_tenant
from workers.metrics import server_metrics

TERRAFORM = ROOT / "terraform"
QUEUE_METRICS = ROOT / "workers" / "metrics" / "queue_metrics.py"
MODULES = sorted(path for path in (TERRAFORM / "modules").iterdir() if path.is_dir())
FOLDERS = [TERRAFORM, *MODULES]
MODEL_TABLE = model_table.PATH
QUEUES = {
    "gpu.index",
    "gpu.query",
    "cpu.probe",
    "cpu.render",
    "io.fetch",
    "io.webhook",
    "system.delete",
    "system.sweep",
}
each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def bare(value: Any) -> Any:
    """Drop what python-hcl2 adds at every depth: the quotes of strings and the marks of blocks."""
    if isinstance(value, dict):
        return {
            bare(key): bare(item)
            for key, item in value.items()
            if key not in {"__is_block__", "__comments__", "__inline_comments__"}
        }
    if isinstance(value, list):
        return [bare(item) for item in value]
    if isinstance(value, str) and len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value


@functools.cache
def parsed(path: Path) -> dict[str, list[dict[str, Any]]]:
    return bare(hcl2.loads(path.read_text()))


def blocks(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [block for path in sorted(folder.glob("*.tf")) for block in parsed(path).get(kind, [])]


def named(folder: Path, kind: str) -> dict[str, Any]:
    return {name: body for block in blocks(folder, kind) for name, body in block.items()}


def resources(folder: Path, kind: str) -> dict[str, Any]:
    return {name: body for block in blocks(folder, "resource") if kind in block for name, body in block[kind].items()}


def text(folder: Path) -> str:
    """Return all of a folder's HCL without comments."""
    return "\n".join(re.sub(r"^\s*#.*$", "", path.read_text(), flags=re.M) for path in sorted(folder.glob("*.tf")))


def module(name: str) -> Path:
    return TERRAFORM / "modules" / name


@each_folder
def test_every_variable_used_is_declared_and_every_declared_one_is_used(folder: Path):
    used = set(re.findall(r"\bvar\.(\w+)", text(folder)))
    assert used == set(named(folder, "variable"))


@each_folder
def test_every_local_used_is_declared_and_every_declared_one_is_used(folder: Path):
    declared = {name for block in blocks(folder, "locals") for name in block}
    assert set(re.findall(r"\blocal\.(\w+)", text(folder))) == declared


def test_every_module_input_is_given_and_none_is_unknown():
    calls = named(TERRAFORM, "module")
    assert {TERRAFORM / call["source"] for call in calls.values()} == set(MODULES)
    for name, call in calls.items():
        declared = named(TERRAFORM / call["source"], "variable")
        required = {variable for variable, body in declared.items() if "default" not in body}
        given = set(call) - {"source", "count", "for_each", "depends_on", "providers"}
        assert required <= given <= set(declared), name


def test_every_module_output_used_exists():
    for name, call in named(TERRAFORM, "module").items():
        used = set(re.findall(rf"\bmodule\.{name}(?:\[0\])?\.(\w+)", text(TERRAFORM)))
        assert used == set(named(TERRAFORM / call["source"], "output")), name


def test_only_the_aws_provider_is_used_and_it_is_pinned():
    (settings,) = blocks(TERRAFORM, "terraform")
    assert settings["required_providers"] == [{"aws": {"source": "hashicorp/aws", "version": "~> 5.100"}}]
    for folder in FOLDERS:
        for kind in ("resource", "data", "ephemeral"):
            # terraform_data is built into Terraform.
            names = {name for block in blocks(folder, kind) for name in block} - {"terraform_data"}
            assert all(name.startswith("aws_") for name in names)


def ingress(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from resources(folder, "aws_vpc_security_group_ingress_rule").items()


def test_the_internet_reaches_only_the_load_balancer_on_80_and_443():
    opened = {
        name: rule for folder in FOLDERS for name, rule in ingress(folder) if "cidr_ipv4" in rule or "cidr_ipv6" in rule
    }
    assert set(opened) == {"public"}
    rule = opened["public"]
    assert rule["security_group_id"] == '${aws_security_group.this["balancer"].id}'
    assert rule["for_each"] == {"http": 80, "https": 443}
    assert rule["from_port"] == rule["to_port"] == "${each.value}"
    # Rules have one form here; the older forms would escape this check.
    for folder in FOLDERS:
        assert not resources(folder, "aws_security_group_rule")
        for group in resources(folder, "aws_security_group").values():
            assert not {"ingress", "egress"} & set(group)


def test_machines_are_private_and_answer_metadata_by_token_only():
    for subnet in resources(module("network"), "aws_subnet").values():
        assert subnet["map_public_ip_on_launch"] is False
    machines = [
        *resources(module("database"), "aws_instance").values(),
        *resources(module("workers"), "aws_launch_template").values(),
    ]
    assert len(machines) == 2
    for machine in machines:
        (options,) = machine["metadata_options"]
        assert options["http_tokens"] == "required"
        assert options["http_put_response_hop_limit"] == 1
        assert "associate_public_ip_address" not in str(machine)
        assert "key_name" not in machine
    assert "module.network.private_subnet_ids" in str(named(TERRAFORM, "module")["workers"]["subnet_ids"])
    assert "module.network.private_subnet_ids" in str(named(TERRAFORM, "module")["database"]["subnet_ids"])


def test_the_bucket_is_private_encrypted_and_tls_only():
    storage = module("storage")
    (block,) = resources(storage, "aws_s3_bucket_public_access_block").values()
    for rule in ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"):
        assert block[rule] is True, rule
    (encryption,) = resources(storage, "aws_s3_bucket_server_side_encryption_configuration").values()
    assert encryption["rule"][0]["apply_server_side_encryption_by_default"][0]["sse_algorithm"] == "aws:kms"
    (policy,) = (
        body["media"]
        for body in (
            block["aws_iam_policy_document"] for block in blocks(storage, "data") if "aws_iam_policy_document" in block
        )
    )
    (statement,) = policy["statement"]
    assert statement["effect"] == "Deny"
    assert statement["actions"] == ["s3:*"]
    assert statement["condition"] == [{"test": "Bool", "variable": "aws:SecureTransport", "values": ["false"]}]
    (attached,) = resources(storage, "aws_s3_bucket_policy").values()
    assert attached["policy"] == "${data.aws_iam_policy_document.media.json}"


def test_the_bucket_drops_unfinished_uploads_and_shows_part_checksums():
    storage = module("storage")
    (lifecycle,) = resources(storage, "aws_s3_bucket_lifecycle_configuration").values()
    rule, ledger = lifecycle["rule"]
    assert (ledger["filter"], ledger["expiration"]) == ([{"prefix": "deletions/"}], [{"days": 90}])
    assert rule["status"] == "Enabled"
    assert rule["abort_incomplete_multipart_upload"] == [{"days_after_initiation": 2}]
    (cors,) = resources(storage, "aws_s3_bucket_cors_configuration").values()
    exposed = cors["cors_rule"][0]["expose_headers"]
    assert "ETag" in exposed
    assert "x-amz-checksum-sha256" in exposed
    assert cors["cors_rule"][0]["allowed_origins"] == "${var.allowed_origins}"
    assert cors["cors_rule"][1]["allowed_origins"] == ["${var.console_origin}"]
    assert cors["cors_rule"][1]["allowed_methods"] == ["GET", "HEAD"]


def test_the_data_volume_is_encrypted_kept_and_snapshotted():
    (volume,) = resources(module("database"), "aws_ebs_volume").values()
    assert volume["encrypted"] is True
    assert volume["lifecycle"] == [{"prevent_destroy": True}]
    (policy,) = resources(module("database"), "aws_dlm_lifecycle_policy").values()
    details = policy["policy_details"][0]
    assert policy["state"] == "ENABLED"
    assert details["target_tags"]["backup"] == volume["tags"]["backup"]
    assert [schedule["create_rule"][0]["interval"] for schedule in details["schedule"]] == [1, 24]


def test_the_archive_is_private_encrypted_and_kept():
    database = module("database")
    (block,) = resources(database, "aws_s3_bucket_public_access_block").values()
    for rule in ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"):
        assert block[rule] is True, rule
    (encryption,) = resources(database, "aws_s3_bucket_server_side_encryption_configuration").values()
    assert encryption["rule"][0]["apply_server_side_encryption_by_default"][0]["sse_algorithm"] == "aws:kms"
    (bucket,) = resources(database, "aws_s3_bucket").values()
    assert bucket["lifecycle"] == [{"prevent_destroy": True}]
    (versions,) = resources(database, "aws_s3_bucket_versioning").values()
    assert versions["versioning_configuration"] == [{"status": "Enabled"}]
    policy = (database / "iam.tf").read_text()
    assert '"${aws_s3_bucket.archive.arn}/log/*"' in policy
    assert 'archive_url         = "s3://${aws_s3_bucket.archive.bucket}/log"' in (database / "main.tf").read_text()


def test_metrics_of_the_database_are_those_that_its_machines_publish():
    alarms = resources(module("database"), "aws_cloudwatch_metric_alarm")
    script = (module("database") / "user_data.sh.tftpl").read_text()
    assert {alarm["metric_name"] for alarm in alarms.values()} == set(re.findall(r"MetricName=(\w+)", script))
    for name, alarm in alarms.items():
        # A database that reports nothing may archive nothing.
        assert alarm["treat_missing_data"] == "breaching", name


def test_each_database_machine_has_a_zone_an_address_and_a_disk_of_its_own():
    for kind in ("aws_instance", "aws_network_interface", "aws_ebs_volume", "aws_volume_attachment"):
        (resource,) = resources(module("database"), kind).values()
        assert resource["for_each"] == "${local.machines}", kind
    (record,) = resources(module("database"), "aws_route53_record").values()
    assert record["records"] == ["${aws_network_interface.this[var.primary].private_ip}"]
    assert record["ttl"] <= 10


def test_the_broker_is_encrypted_and_never_evicts():
    (group,) = resources(module("cache"), "aws_elasticache_replication_group").values()
    assert group["engine"] == "valkey"
    assert group["transit_encryption_enabled"] is True
    assert group["at_rest_encryption_enabled"] is True
    (parameters,) = resources(module("cache"), "aws_elasticache_parameter_group").values()
    assert {"name": "maxmemory-policy", "value": "noeviction"} in parameters["parameter"]


def test_https_is_modern_and_http_only_redirects():
    listeners = resources(module("load_balancer"), "aws_lb_listener")
    assert listeners["https"]["protocol"] == "HTTPS"
    assert listeners["https"]["ssl_policy"].startswith("ELBSecurityPolicy-TLS13")
    assert listeners["http"]["default_action"][0]["type"] == "redirect"


def test_generated_passwords_stay_out_of_the_state():
    versions = resources(module("secrets"), "aws_secretsmanager_secret_version")
    assert "secret_string" not in versions["database"]
    assert "secret_string_wo" in versions["database"]
    assert "secret_string" not in versions["generated"]
    assert "secret_string_wo" in versions["generated"]
    # The one exception, because the provider cannot write the broker's token in another way.
    assert {name for name, body in versions.items() if "secret_string" in body} == {"cache"}


def test_every_queue_is_consumed_by_exactly_one_group_that_scales_on_it():
    source = text(TERRAFORM)
    consumed = [queue for queues in re.findall(r"--queues (\S+) ", source) for queue in queues.split(",")]
    # The sender of webhooks claims its class itself.
    assert sorted([*consumed, "io.webhook"]) == sorted(QUEUES)
    assert "manage.py send_webhooks" in source
    scaled = [
        queue for queues in re.findall(r"queues\s+= \[([^\]]*)\]", source) for queue in re.findall(r'"([^"]+)"', queues)
    ]
    assert sorted(scaled) == sorted(QUEUES)
    scaling = (module("workers") / "scaling.tf").read_text()
    assert scaling.count('metric_name = "OldestRunnableAge"') == 2  # one alarm to grow, one to shrink


def test_a_machine_that_cannot_serve_gets_no_requests_and_is_not_replaced():
    """The balancer asks a port without customers; while the database is away, no machine is ended for it."""
    checked = (TERRAFORM / "modules/load_balancer/main.tf").read_text()
    assert re.search(r'port\s+= "8001"\n\s+path\s+= "/readyz"', checked)
    assert 'health_check_type         = "EC2"' in (TERRAFORM / "modules/workers/main.tf").read_text()


def test_a_tenant_cannot_fill_a_class_of_workers():
    slots = dict(re.findall(r"--queues (\S+) .*?--concurrency (\d+)", text(TERRAFORM)))
    for queue in ("cpu.probe", "cpu.render", "io.fetch", "system.delete"):
        assert jobs_per_tenant()[queue] < int(slots[queue]), queue


def test_the_owner_and_superuser_passwords_never_leave_the_database_host():
    main = (TERRAFORM / "main.tf").read_text()
    lists = re.findall(r"(?:secrets|_secrets)\s+= (.*)", main)
    assert len(lists) >= 8
    for listed in lists:
        assert "DATABASE_OWNER_URL" not in listed
        assert "DATABASE_SUPERUSER_URL" not in listed
    # The console's two roles and its key are the console's, the customers' role and the other key are the API's.
    own = {"DATABASE_CONSOLE_URL", "DATABASE_STAFF_URL", "AVA_CONSOLE_SECRET_KEY"}
    for variables in (own, {"DATABASE_PEOPLE_URL", "AVA_SECRET_KEY"}):
        (holder,) = (listed for listed in lists if any(variable in listed for variable in variables))
        assert all(f'"{variable}"' in holder for variable in variables)


def test_roles_are_confined():
    policy = (module("workers") / "iam.tf").read_text()
    assert '"${var.bucket_arn}/t/*"' in policy
    for folder in FOLDERS:
        # The one wildcard is in a bucket's denial of plain http.
        assert re.findall(r'"([a-z0-9]+:[A-Za-z]*\*)"', text(folder)) == (
            ["s3:*"] if folder.name in ("storage", "database") else []
        )
    # Actions that AWS cannot confine by resource; the metric is confined by its namespace.
    wide = re.findall(r'actions\s+= \["([^"]+)"\]\s+resources = \["\*"\]', policy)
    assert wide == ["ecr:GetAuthorizationToken", "cloudwatch:PutMetricData"]
    assert 'variable = "cloudwatch:namespace"' in policy


def test_every_alarm_has_an_action():
    alarms = {
        name: body for folder in FOLDERS for name, body in resources(folder, "aws_cloudwatch_metric_alarm").items()
    }
    assert len(alarms) >= 7
    for name, body in alarms.items():
        assert body.get("alarm_actions"), name
    paging = {name for name, body in alarms.items() if "topic" in str(body["alarm_actions"])}
    assert paging == set(alarms) - {"late", "idle", "crowded", "spare"}  # these buy and return machines


def test_each_alarm_that_scales_changes_its_own_group():
    alarms, policies = (
        resources(module("workers"), f"aws_{kind}") for kind in ("cloudwatch_metric_alarm", "autoscaling_policy")
    )
    for name, policy, step in (
        ("late", "out", 1),
        ("idle", "in", -1),
        ("crowded", "model_out", 1),
        ("spare", "model_in", -1),
    ):
        assert alarms[name]["alarm_actions"] == [f"${{aws_autoscaling_policy.{policy}[each.key].arn}}"]
        assert alarms[name]["for_each"] == policies[policy]["for_each"]
        assert policies[policy]["autoscaling_group_name"] == "${aws_autoscaling_group.this[each.key].name}"
        adjustments = [int(adjustment["scaling_adjustment"]) for adjustment in policies[policy]["step_adjustment"]]
        assert adjustments[0] == step
        # No data is an outage of the relay or of a server, and no reason to buy or to return a machine.
        assert alarms[name]["treat_missing_data"] == "notBreaching"


def test_scaling_reads_the_metrics_that_the_relay_publishes():
    scaling = text(module("workers"))
    of_queues = re.findall(r'^[A-Z_]+ = "(\w+)"$', QUEUE_METRICS.read_text(), flags=re.M)
    published = {*of_queues, *server_metrics.SOURCES} - {"InvariantsAgeSeconds"}
    assert len(published) == 4
    assert set(re.findall(r'metric_name\s+= "(\w+)"', scaling)) == published


def test_operators_are_called_for_what_is_away_for_dead_jobs_and_for_money():
    (values,) = blocks(module("alarms"), "locals")
    alarms = values["published"].values()
    (of_each,) = (
        alarm
        for alarm in resources(module("alarms"), "aws_cloudwatch_metric_alarm").values()
        if alarm.get("for_each") == "${local.published}"
    )
    assert (of_each["metric_name"], of_each["threshold"]) == ("${each.value.metric}", "${each.value.above}")
    published = re.search(r"^ALARMING = (.+)$", QUEUE_METRICS.read_text(), flags=re.M)
    assert published is not None
    named = {*ast.literal_eval(published[1]), "InvariantsAgeSeconds"}
    thresholds = {alarm["metric"]: alarm["above"] for alarm in alarms}
    assert named >= {"InvariantViolations", "MoneyFindings"}
    assert {name: thresholds.get(name) for name in named} == {
        name: 172_800 if name == "InvariantsAgeSeconds" else 0 for name in named
    }


def test_the_bucket_itself_may_be_listed():
    """HeadBucket carries no prefix, so a condition on the prefix would refuse the readiness check."""
    statements = [
        content
        for block in blocks(module("workers"), "data")
        for policy in block.get("aws_iam_policy_document", {}).values()
        for dynamic in policy.get("dynamic", [])
        for content in dynamic["statement"]["content"]
        if "s3:ListBucket" in content["actions"]
    ]
    assert len(statements) == 1
    assert statements[0]["resources"] == ["${var.bucket_arn}"]
    assert "condition" not in statements[0]


def local(name: str) -> Any:
    return next(block[name] for block in blocks(TERRAFORM, "locals") if name in block)


@pytest.mark.parametrize("preset", model_table.table().presets.values(), ids=lambda preset: preset.name)
def test_every_preset_has_ports_and_machines(preset: model_table.Preset):
    assert set(preset.servers) <= set(local("server_ports"))
    for card in {server.gpu for server in preset.servers.values()}:
        sharing = [server for server in preset.servers.values() if server.gpu == card]
        widest = max(server.tensor_parallel for server in sharing)
        machine = local("gpu_machines")[f"{widest}x{preset.gpu_gib[card]:g}"]
        assert machine["gpus"] >= widest
        # A server over several cards takes all of its machine, so it shares the machine with none.
        assert widest == 1 or len(sharing) == 1
        others = {index for server in preset.servers.values() if server.gpu != card for index in server.gpus}
        assert card not in others


def test_settings_of_the_application_are_given():
    settings = (ROOT / "backend" / "settings.py").read_text()
    needed = set(re.findall(r'env\.(?:text|database|numbered_secrets)\("([A-Z0-9_]+)"\)', settings))
    given = set(re.findall(r"^\s+([A-Z][A-Z0-9_]+)\s+=", text(TERRAFORM), flags=re.M)) | set(
        re.findall(r'"([A-Z][A-Z0-9_]+)"', text(TERRAFORM))
    )
    assert needed
    assert needed <= given


def programs(script: str) -> list[str]:
    """Return a start script and the programs that it writes, which are quoted text to the shell."""
    return [script, *re.findall(r"^cat > /usr/local/sbin/\S+ <<'EOF'\n(.*?)^EOF$", script, flags=re.M | re.S)]


@pytest.mark.parametrize("name", ["database", "workers"])
def test_start_scripts_are_valid_shell(name: str):
    script = (module(name) / "user_data.sh.tftpl").read_text()
    script = re.sub(r"^%\{.*~\}$\n?", "", script, flags=re.M)  # directives on lines of their own
    script = re.sub(r"%\{[^}]*\}", "", script)
    script = re.sub(r"\$\{[^}]*\}", "value", script)
    assert len(programs(script)) > 1
    for program in programs(script):
        assert program.startswith("#!/bin/bash")
        result = subprocess.run(["bash", "-n"], input=program, capture_output=True, text=True, timeout=10)
        assert result.returncode == 0, result.stderr


# --- with the terraform binary ---------------------------------------------------------------------------------------


def provider_mirror() -> Path | None:
    """Return a file-system mirror that holds the aws provider: AVA_TERRAFORM_MIRROR, or a usual folder."""
    named_mirror = os.environ.get("AVA_TERRAFORM_MIRROR")
    places = (
        [Path(named_mirror)]
        if named_mirror
        else [Path("/usr/local/share/terraform/plugins"), Path("/usr/share/terraform/plugins"), *Path("/opt").glob("*")]
    )
    return next((place for place in places if (place / "registry.terraform.io" / "hashicorp" / "aws").is_dir()), None)


@pytest.fixture(scope="module")
def terraform(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run terraform in a copy of the tree, offline."""
    binary = shutil.which("terraform")
    if binary is None:
        pytest.skip("no terraform binary on this machine")
    mirror = provider_mirror()
    if mirror is None:
        pytest.skip("no offline mirror of the aws provider on this machine (AVA_TERRAFORM_MIRROR names one)")
    place = tmp_path_factory.mktemp("terraform")
    tree = place / "terraform"
    shutil.copytree(TERRAFORM, tree, ignore=shutil.ignore_patterns(".terraform*"))
    # The configuration reads the product's model table.
    table = MODEL_TABLE.relative_to(ROOT)
    (place / table).parent.mkdir(parents=True)
    shutil.copy(MODEL_TABLE, place / table)
    (tree / "tests").mkdir()
    shutil.copy(Path(__file__).with_name("plan.tftest.hcl"), tree / "tests")
    cli = place / "cli.tfrc"
    cli.write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n')
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "TF_CLI_CONFIG_FILE": str(cli),
        "CHECKPOINT_DISABLE": "1",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [binary, *arguments], cwd=tree, env=environment, capture_output=True, text=True, timeout=540
        )

    run.tree = tree  # type: ignore[attr-defined]
    started = run("init", "-backend=false", "-input=false", "-no-color")
    assert started.returncode == 0, started.stderr
    return run


def test_terraform_formats_nothing_and_finds_it_valid(terraform: Any):
    formatted = terraform("fmt", "-check", "-recursive", "-diff")
    assert formatted.returncode == 0, formatted.stdout
    valid = terraform("validate", "-no-color")
    assert valid.returncode == 0, valid.stderr


def test_the_small_size_has_every_group_and_no_larger_one():
    with (TERRAFORM / "small.tfvars").open() as file:
        small = hcl2.load(file)["sizes"]
    usual = named(TERRAFORM, "variable")["sizes"]["default"]
    assert set(small) == set(usual)
    assert all(small[group]["least"] <= usual[group]["least"] for group in usual)
    assert all(small[group]["most"] <= usual[group]["most"] for group in usual)


@contextmanager
def scripted_secrets(terraform: Any) -> Iterator[None]:
    """Scripted providers support no ephemeral resources; in this copy the generated passwords are ordinary data."""
    secrets = terraform.tree / "modules" / "secrets" / "main.tf"
    source = secrets.read_text()
    assert 'ephemeral "aws_' in source
    secrets.write_text(source.replace('ephemeral "aws_', 'data "aws_').replace("ephemeral.aws_", "data.aws_"))
    try:
        yield
    finally:
        secrets.write_text(source)


@pytest.mark.long
def test_terraform_plans_every_shape_against_a_scripted_provider(terraform: Any):
    with scripted_secrets(terraform):
        planned = terraform("test", "-no-color", "-filter=tests/plan.tftest.hcl")
    assert planned.returncode == 0, planned.stdout + planned.stderr
    runs = (Path(__file__).with_name("plan.tftest.hcl")).read_text().count('\nrun "')
    assert f"{runs} passed, 0 failed" in planned.stdout


SMALL = """
run "small" {
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
    condition     = length(output.group_names) == 7 && length(output.scaling) == 7
    error_message = "A small installation has every group."
  }
}
"""


@pytest.mark.long
def test_terraform_plans_the_small_size(terraform: Any):
    shapes = Path(__file__).with_name("plan.tftest.hcl").read_text()
    (terraform.tree / "tests" / "small.tftest.hcl").write_text(shapes.partition('\nrun "')[0] + SMALL)
    with scripted_secrets(terraform):
        planned = terraform("test", "-no-color", "-filter=tests/small.tftest.hcl", "-var-file=small.tfvars")
    assert planned.returncode == 0, planned.stdout + planned.stderr
    assert "1 passed, 0 failed" in planned.stdout


def start_script(folder: Path, **given: Any) -> str:
    """Return the start script of a worker machine as terraform renders it."""
    binary = shutil.which("terraform")
    if binary is None:
        pytest.skip("no terraform binary on this machine")
    shutil.copy(module("workers") / "user_data.sh.tftpl", folder)
    values = {"group": "g", "region": "r", "registry_host": "h", "secret_prefix": "p", "log_group": "l", "gpu": False}
    values |= {"secrets": [], "environment": {"A": "1"}, "drained": [], "finish": 900, "scaling_group": "ava-prod-g"}
    values |= {"leaves": False, "uses_role": True, "certificate": ""}
    (folder / "values.json").write_text(json.dumps(values | given))
    rendered = subprocess.run(
        [binary, "console", "-no-color"],
        input='templatefile("user_data.sh.tftpl", jsondecode(file("values.json")))',
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert rendered.returncode == 0, rendered.stderr
    return rendered.stdout.partition("\n")[2].rpartition("EOT")[0]


def test_a_machine_verifies_the_database_by_what_the_primary_publishes(tmp_path: Path):
    spec = {"image": "registry/api:1", "entrypoint": "", "read_only": True, "secrets": {}, "memory": "", "pids": 9}
    spec |= {"cpu_shares": 1024}
    spec |= {"arguments": "", "environment": {}, "after": [], "health": "", "metrics_port": 9464}
    script = start_script(tmp_path, containers={"api": spec}, certificate="/ava-prod/database-certificate")
    fetched = script.index("--name /ava-prod/database-certificate")
    assert fetched < script.index("docker image inspect")
    assert "--volume /run/ava/api.crt:/etc/ava/database.crt:ro" in script
    without = start_script(tmp_path, containers={"api": spec})
    assert "database.crt" not in without

    source = text(TERRAFORM)
    assert 'PGSSLMODE            = "verify-full"' in source
    assert 'PGSSLROOTCERT        = "/etc/ava/database.crt"' in source
    assert "sslmode=require" not in (module("database") / "user_data.sh.tftpl").read_text()
    # Only machines of the database may write what all others trust.
    writers = [path.parent.name for path in TERRAFORM.rglob("*.tf") if "ssm:PutParameter" in path.read_text()]
    assert writers == ["database"]


def test_a_machine_starts_its_servers_one_after_the_other(tmp_path: Path):
    spec = {"image": "registry/vllm:1", "entrypoint": "", "read_only": False, "secrets": {}, "memory": "", "pids": 9}
    spec |= {"cpu_shares": 1024}
    first = {**spec, "arguments": "--server vlm", "environment": {"MODEL_SERVER_PORT": "8001"}, "after": []}
    second = {**spec, "arguments": "--server llm", "environment": {"MODEL_SERVER_PORT": "8002"}, "after": [8001]}
    containers = {"vllm-vlm": {**first, "health": "ava-health 8 true"}, "vllm-llm": {**second, "health": ""}}
    script = start_script(tmp_path, group="models-0", secrets=["MODEL_API_KEY"], gpu=True, containers=containers)
    units = dict(re.findall(r"^cat > /etc/systemd/system/(\S+) <<'EOF'\n(.*?)^EOF$", script, flags=re.M | re.S))
    assert set(units) == {"ava-vllm-vlm.service", "ava-vllm-llm.service"}
    assert "ava-answers" not in units["ava-vllm-vlm.service"]
    assert "ExecStartPre=/usr/local/sbin/ava-answers 8001\n" in units["ava-vllm-llm.service"]
    for name, port in (("vlm", "8001"), ("llm", "8002")):
        unit = units[f"ava-vllm-{name}.service"].replace("\\\n", " ")
        (command,) = re.findall(r"^ExecStart=(.*)$", unit, flags=re.M)
        words = shlex.split(command)
        assert words[-3:] == ["registry/vllm:1", "--server", name]
        assert {"--init", "--gpus", f"MODEL_SERVER_PORT={port}"} <= set(words)
        assert ("--health-cmd" in words) == (name == "vlm")
    for program in programs(script):
        assert subprocess.run(["bash", "-n"], input=program, text=True, timeout=10).returncode == 0


WORKER = {"image": "registry/worker:1", "entrypoint": "", "read_only": True, "arguments": "", "health": ""}
WORKER |= {"after": [], "metrics_port": 9100, "secrets": {}, "memory": "2g", "cpu_shares": 64, "pids": 1024}
METADATA = """#!/bin/bash
# The machine's metadata service: the answer to a path is a file of that name.
path=${@: -1}
[ "$path" = http://169.254.169.254/latest/api/token ] && { echo token; exit; }
exec cat "$SCRIPT/${path##*/}" 2> /dev/null
"""
RECORDED = """#!/bin/bash
echo "${0##*/} $*" >> "$SCRIPT/calls"
%s
"""


@pytest.mark.parametrize("uses_role", [False, True])
def test_a_container_gets_its_own_secret_and_only_root_the_role_of_a_machine(tmp_path: Path, uses_role: bool):
    spec = {**WORKER, "environment": {}, "secrets": {"AVA_SIGNER_KEY": "AVA_SIGNER_KEY_PROBE"}}
    script = start_script(tmp_path, uses_role=uses_role, secrets=["REDIS_URL"], containers={"probe": spec})
    (unit,) = re.findall(r"^cat > /etc/systemd/system/ava-probe.service <<'EOF'\n(.*?)^EOF$", script, flags=re.M | re.S)
    (prepare,) = re.findall(r"^ExecStartPre=\S+/ava-prepare (.*)$", unit, flags=re.M)
    assert prepare == "probe registry/worker:1 AVA_SIGNER_KEY=AVA_SIGNER_KEY_PROBE"
    (command,) = re.findall(r"^ExecStart=(.*)$", unit.replace("\\\n", " "), flags=re.M)
    words = shlex.split(command)
    assert (words[words.index("--memory") + 1], words[words.index("--pids-limit") + 1]) == ("2g", "1024")
    assert words[words.index("--cpu-shares") + 1] == "64"

    (program,) = re.findall(r"^cat > /usr/local/sbin/ava-prepare <<'EOF'\n(.*?)^EOF$", script, flags=re.M | re.S)
    place = tmp_path / "machine"
    (place / "bin").mkdir(parents=True)
    (place / "settings").write_text("A=1\nREDIS_URL=none\n")
    commands = {"docker": "", "iptables": '[ "$1" != --check ]', "aws": "printf 'value of %s' \"${6#p/}\""}
    for name, source in commands.items():
        (place / "bin" / name).write_text(RECORDED % source)
        (place / "bin" / name).chmod(0o755)
    program = program.replace("/run/ava", str(place / "run")).replace("/etc/ava", str(place))
    environment = {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "SCRIPT": str(place)}
    subprocess.run(["bash", "-c", program, "ava-prepare", *prepare.split()], env=environment, check=True, timeout=60)
    lines = (place / "run" / "probe").read_text().splitlines()
    assert lines == ["A=1", "REDIS_URL=value of REDIS_URL", "AVA_SIGNER_KEY=value of AVA_SIGNER_KEY_PROBE"]
    rules = [line for line in (place / "calls").read_text().splitlines() if line.startswith("iptables --insert")]
    closed = "OUTPUT --destination 169.254.169.254 --match owner ! --uid-owner 0 --jump REJECT"
    assert rules == ([] if uses_role else [f"iptables --insert {closed}"])


def test_only_machines_without_media_use_the_bucket_by_their_role():
    groups = local("service_groups")
    entitled = {name for name, group in groups.items() if group["object_actions"] != []}
    assert entitled == {"api", "console", "objects"}
    assert set(groups["objects"]["containers"]) == {"signer", "delete", "sweep"}
    assert groups["objects"]["target_group_arns"] == ["${module.signer_balancer.target_group_arn}"]
    limits = re.findall(r"--memory \S+", (module("workers") / "user_data.sh.tftpl").read_text())
    assert len(limits) == 1


@pytest.mark.parametrize("notice", ["scale-in", "spot", "spot-during-scale-in"])
def test_a_machine_that_goes_finishes_its_jobs_or_hands_them_back(tmp_path: Path, notice: str):
    relay = {**WORKER, "entrypoint": "python"}
    containers = {name: {**spec, "environment": {}} for name, spec in {"relay": relay, "worker": WORKER}.items()}
    script = start_script(tmp_path, leaves=True, drained=["worker"], containers=containers)
    (leave,) = re.findall(r"^cat > /usr/local/sbin/ava-leave <<'EOF'\n(.*?)^EOF$", script, flags=re.M | re.S)
    answers = {"instance-id": "i-1"}
    if notice != "spot":
        answers["target-lifecycle-state"] = "Terminated"
    if notice == "spot":
        answers["instance-action"] = "{}"
    for name, answer in answers.items():
        (tmp_path / name).write_text(answer)
    # The spot notice comes while the drain waits for a job that does not end.
    endless = 'echo $$ > "$SCRIPT/pid"; echo "{}" > "$SCRIPT/instance-action"; exec tail -f /dev/null'
    draining = endless if notice == "spot-during-scale-in" else ""
    programs = {"curl": METADATA, "logger": "#!/bin/bash\n", "sleep": "#!/bin/bash\nexec /bin/sleep 0.1\n"}
    programs |= dict.fromkeys(("systemctl", "aws"), RECORDED % "") | {"docker": RECORDED % draining}
    for name, source in programs.items():
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(source)
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "SCRIPT": str(tmp_path)}
    left = subprocess.run(["bash", "-c", leave], env=environment, timeout=60)
    if draining:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert left.returncode == 0
    calls = (tmp_path / "calls").read_text().splitlines()
    drained = ["docker exec ava-worker python manage.py drain --finish-seconds 900"] if notice != "spot" else []
    assert calls == [
        *drained,
        "systemctl stop ava-relay.service ava-worker.service",
        "aws autoscaling complete-lifecycle-action --region r --auto-scaling-group-name ava-prod-g "
        "--lifecycle-hook-name drain --instance-id i-1 --lifecycle-action-result CONTINUE",
    ]


def test_a_group_that_works_lets_a_machine_go_only_after_its_drain():
    group = resources(module("workers"), "aws_autoscaling_group")["this"]
    (hook,) = group["dynamic"]
    content = hook["initial_lifecycle_hook"]["content"][0]
    assert content["lifecycle_transition"] == "autoscaling:EC2_INSTANCE_TERMINATING"
    assert content["default_result"] == "CONTINUE"
    assert "length(each.value.queues) > 0" in hook["initial_lifecycle_hook"]["for_each"]
    finish = int(re.findall(r"finish_seconds = (\d+)", (module("workers") / "variables.tf").read_text())[0])
    task = re.findall(r'"AVA_TASK_SECONDS", (\d+)', (ROOT / "backend" / "settings.py").read_text())[0]
    assert finish > int(task), "a machine that is returned finishes the longest job"


def test_postgresql_takes_every_session_that_the_largest_scale_opens():
    """Requests and workers share the sessions of the pooler, whatever their number; the others are added up here."""
    sizes = named(TERRAFORM, "variable")["sizes"]["default"]
    boot = (module("database") / "user_data.sh.tftpl").read_text()
    images = ROOT / "infra" / "images"
    pooler = (images / "pooler-entrypoint.sh").read_text()
    allowed = int(re.search(r"max_connections=(\d+)", boot)[1])
    pooled = int(re.search(r"max_db_connections = \$\{POOLER_SESSIONS:-(\d+)\}", pooler)[1])
    processes = int(re.search(r'"--workers", "(\d+)"', (images / "api.Dockerfile").read_text())[1])
    # One for each process of the API and of the console: notices need a session of their own.
    listening = processes * (sizes["api"]["most"] + sizes["console"]["most"])
    # Migrations, the signs of life, a person with psql, and those that PostgreSQL keeps for its superuser.
    by_hand, reserved = 10, 3

    assert "pool_mode = transaction\n" in pooler
    assert "POOLER_SESSIONS" not in boot, "the host of the database takes the number of the image"
    assert allowed > pooled + listening + by_hand + reserved
    direct = {
        name
        for path in sorted(TERRAFORM.rglob("*.tf"))
        for name, port in re.findall(r"(DATABASE_\w+_URL)\s*=\s*\"postgresql://[^\"]*:(\d+)/", path.read_text())
        if port == "5432"
    }
    assert direct == {"DATABASE_OWNER_URL", "DATABASE_LISTEN_URL"}, "only these pass the pooler by"
