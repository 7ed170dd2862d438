"""Every place that builds a URL, a path, a header, a command or SQL out of values is known, with what it builds of.

A new place makes this fail. Let it use a builder that quotes its values (built_strings.BUILDERS), or bind them. If
neither is possible, add it here with the reason why no text of a request gets there.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.infra.built_strings import Place, places, places_in

KNOWN: dict[tuple[str, str], tuple[int, str]] = {
    ("command", "infra/api_changes.py"): (1, "a commit that the developer names"),
    ("command", "infra/local/postgres.py"): (1, "folders and ports of the local stack"),
    ("command", "infra/local/supervisor.py"): (1, "names of our own commands"),
    ("command", "infra/rehearsal/run.py"): (1, "addresses of the rehearsal"),
    ("command", "infra/vendored.py"): (1, "names and versions that the lock of vendored files names"),
    ("command", "infra/vllm/servers.py"): (1, "names of the model table"),
    ("header", "backend/api/contract/openapi.py"): (3, "names of the document, no reply"),
    ("header", "backend/billing/api/csv.py"): (1, "one of two names of ours"),
    ("header", "backend/billing/exports/sinks.py"): (1, "the operator's key"),
    ("header", "backend/billing/exports/stripe.py"): (5, "idempotency keys out of ids of ours"),
    ("header", "backend/people/services/invitations.py"): (1, "a name made one line"),
    ("header", "backend/playback/api/renditions.py"): (2, "a number"),
    ("header", "backend/questions/waiting.py"): (1, "a number"),
    ("header", "backend/webhooks/recipients.py"): (1, "the builder of mails: one line of each subject"),
    ("header", "gpu_workers/engine/indexing/box/supply.py"): (1, "a number"),
    ("header", "gpu_workers/engine/models/served/vllm_server.py"): (1, "a key of ours"),
    ("header", "infra/local/demo/client.py"): (1, "the caller's own key"),
    ("header", "infra/vllm/servers.py"): (1, "a key of ours"),
    ("command", "infra/backups/database.py"): (2, "the name of the installation's database"),
    ("path", "backend/api/guides.py"): (1, "a name out of the list of guides"),
    ("path", "backend/archives/importing.py"): (1, "a member inside an archive, no file"),
    ("path", "backend/webhooks/document.py"): (1, "types of events, which are ours"),
    ("path", "gpu_workers/engine/models/host_occupancy.py"): (1, "the name of a device"),
    ("path", "gpu_workers/engine/models/local/conse.py"): (1, "a digest"),
    ("path", "gpu_workers/engine/models/weights.py"): (2, "names and digests of the model table"),
    ("path", "gpu_workers/engine/prompts/__init__.py"): (1, "names of prompts, which are ours"),
    ("path", "infra/backups/backup.py"): (3, "a time, digests and names of ours"),
    ("path", "infra/image_locks.py"): (1, "names of images, which are ours"),
    ("path", "infra/installation/composing.py"): (2, "names of presets, which are ours"),
    ("path", "infra/local/child_process.py"): (1, "a number"),
    ("path", "infra/local/demo/run.py"): (1, "numbers, below the folder of the caller"),
    ("path", "infra/local/postgres_installation.py"): (1, "a version of PostgreSQL"),
    ("path", "infra/local/server.py"): (1, "names of our own processes"),
    ("path", "infra/presets/__main__.py"): (1, "names of presets, which are ours"),
    ("path", "infra/rehearsal/chart.py"): (2, "names of files of values and of images, which are ours"),
    ("path", "infra/rehearsal/cluster.py"): (1, "names of images, which are ours"),
    ("path", "infra/rehearsal/containers.py"): (1, "names of the deployment"),
    ("path", "infra/rehearsal/images.py"): (1, "names of the deployment"),
    ("path", "infra/rehearsal/machines.py"): (1, "names of the deployment"),
    ("path", "infra/rehearsal/network.py"): (1, "a number"),
    ("path", "infra/rehearsal/plan.py"): (1, "names of presets, which are ours"),
    ("path", "infra/rehearsal/run.py"): (1, "the ending of a file of ours"),
    ("path", "infra/supply_chain.py"): (1, "names of images, which are ours"),
    ("path", "infra/vllm/environment.py"): (3, "a version and a digest"),
    ("path", "infra/vllm/servers.py"): (1, "names of the model table"),
    ("path", "workers/liveness.py"): (4, "the builder of these files: numbers of processes"),
    ("sql", "backend/archives/people_rows.py"): (1, "identifiers by psycopg"),
    ("sql", "backend/archives/tenant_graph.py"): (2, "identifiers by psycopg, and constants"),
    ("sql", "backend/billing/queries/usage.py"): (1, "names of columns, which are ours; values are bound"),
    ("sql", "backend/billing/services/usage/shown_charges.py"): (
        1,
        "a statement that Django compiled; values are bound",
    ),
    ("sql", "backend/console/migrations/0001_grants.py"): (1, "names of tables, which are ours"),
    ("sql", "backend/console/migrations/0002_indexes.py"): (1, "names of tables, which are ours"),
    ("sql", "backend/ekg/graph_store.py"): (7, "the one door to Cypher: labels are ours, values are bound"),
    ("sql", "backend/jobs/dispatching.py"): (1, "a constant; values are bound"),
    ("sql", "backend/tenancy/ddl.py"): (7, "the builder of policies and grants: names in migrations"),
    ("sql", "backend/tenancy/management/commands/provision.py"): (1, "names out of the catalog of the database"),
    ("sql", "backend/tenancy/months.py"): (3, "names of partitions, which are ours"),
    ("sql", "gpu_workers/engine/answering/agent/object_tools.py"): (1, "names of tables in memory; values are bound"),
    ("url", "backend/console/access/gate.py"): (1, "a path of ours with a quoted query"),
    ("url", "backend/console/access/second_factor.py"): (1, "a path of ours with a quoted query"),
    ("url", "backend/console/acting/actions.py"): (1, "a path of ours with a quoted id"),
    ("url", "backend/console/site.py"): (1, "the page's own path"),
    ("url", "gpu_workers/engine/models/package_index.py"): (1, "the operator's package index"),
    ("sql", "infra/installation/composing.py"): (1, "a file of settings, and no statement"),
    ("url", "gpu_workers/engine/models/served/llama_server.py"): (1, "its own address"),
    ("url", "gpu_workers/engine/models/served/vllm_server.py"): (1, "its own address"),
    ("url", "infra/local/demo/running_service.py"): (1, "the caller's own service"),
    ("url", "infra/local/llama.py"): (1, "its own address"),
    ("url", "infra/local/supervisor.py"): (1, "its own address"),
    ("url", "infra/vllm/servers.py"): (1, "its own address"),
    ("url", "workers/metrics/server_metrics.py"): (1, "the operator's model servers"),
}
"""Number of functions that build strings of a kind in a file, and what they build them of."""


def test_strings_that_leave_the_product_are_built_in_known_places() -> None:
    found = Counter((place.kind, place.file) for place in places())
    known = {key: number for key, (number, _) in KNOWN.items()}
    assert {key: number for key, number in found.items() if known.get(key) != number} == {}
    assert set(known) - set(found) == set(), "no entry is stale"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        # The router that sent the target of a request anywhere.
        ("url", "httpx.get('http://' + request.path)"),
        ("url", "client.request('GET', f'{base}{path}')"),
        ("url", "urlopen(urljoin(base, request.path))"),
        ("url", "redirect('/next/%s' % request.GET['next'])"),
        ("url", "HttpResponseRedirect('{}'.format(wanted))"),
        ("url", "target = base + '/x'\n    client.stream('GET', target)"),
        ("path", "open(folder + '/' + name)"),
        ("path", "Path(f'/data/{name}')"),
        ("path", "root / f'{name}.jpg'"),
        ("header", "response.headers['Location'] = '/v1/' + name"),
        ("header", "response['X-Name'] = f'{name}'"),
        ("header", "EmailMessage(subject=f'About {name}')"),
        ("command", "subprocess.run(['git', 'show', f'{commit}:file'])"),
        ("command", "os.system('ls ' + folder)"),
        ("sql", "cursor.execute(f'SELECT * FROM t WHERE id = {id}')"),
        ("sql", "cursor.execute('SELECT %s' % name)"),
        ("sql", "Video.objects.raw('SELECT ' + ', '.join(names))"),
        ("sql", "graph.cypher('MATCH (n) WHERE n.uid = ' + uid + '')"),
    ],
)
def test_a_new_place_is_found(kind: str, line: str) -> None:
    assert places_in(f"def act(request):\n    {line}\n", "new.py") == {Place(kind, "new.py", "act")}


@pytest.mark.parametrize(
    "line",
    [
        "HttpResponseRedirect(f\"{reverse('home')}?{urlencode({'next': wanted})}\")",
        "reply.headers['Location'] = f\"/v1/shares/{encode('shr', share.id)}\"",
        "client.get(path_of('v1', 'invoices', invoice))",
        "cursor.execute('SELECT 1 WHERE id = %s', [f'{name}'])",
        "cursor.execute(sql.SQL('SELECT FROM {}').format(sql.Identifier(table)))",
        "subprocess.run(['git', 'show', commit])",
        "root / name",
    ],
)
def test_quoted_and_bound_values_are_harmless(line: str) -> None:
    assert places_in(f"def act(request):\n    {line}\n", "new.py") == set()
