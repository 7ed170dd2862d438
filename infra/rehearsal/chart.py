"""Read what each pod of the Helm chart starts: helm's own library renders it, without a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import helm_python
import yaml

from infra.rehearsal.compose import PROJECT
from infra.rehearsal.dockerfile import Image, read

CHART = PROJECT / "infra" / "helm" / "ava"
VALUES = PROJECT / "infra" / "helm" / "values"
RELEASE = "ava"
"""Name of the release, with which all names begin."""
_CONTROLLERS = {"Deployment", "Job"}


@dataclass(frozen=True)
class PodMount:
    """One mount of a container. kind: "memory", "empty", "claim" or "secret"; files: of a secret, by their keys."""

    target: str
    kind: str
    source: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class PodProbe:
    """One probe: a command, or a path at a port of the pod, or a port alone. failures: in a row, until it counts."""

    command: tuple[str, ...]
    path: str
    port: int
    period_s: float
    timeout_s: float
    failures: int


@dataclass(frozen=True)
class Pod:
    """The pod of a Deployment or a Job. words: its command with arguments. secrets: variables with the key of each.

    waits: the commands of its init containers. weight: of a hook, None for other pods.
    """

    name: str
    kind: str
    image: str
    words: tuple[str, ...]
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    user: tuple[int, int]
    read_only: bool
    mounts: tuple[PodMount, ...]
    ports: Mapping[str, int]
    probes: Mapping[str, PodProbe]
    limits: Mapping[str, Any]
    replicas: int
    grace_s: float
    waits: tuple[tuple[str, ...], ...]
    weight: int | None


def render(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of the chart for values. Raises helm_python's errors if the chart or a value is wrong."""
    with helm_python.Chart.load(CHART) as chart:
        files = chart.render(dict(values), name=RELEASE, namespace=RELEASE)
    found = (each for path, text in files.items() if path.endswith(".yaml") for each in yaml.safe_load_all(text))
    return [each for each in found if each]


def values_of(*names: str) -> dict[str, Any]:
    """Return the values of files of infra/helm/values, a later file over an earlier one as helm merges them."""
    merged: dict[str, Any] = {}
    for name in names:
        merged = merge(merged, yaml.safe_load((VALUES / f"{name}.yaml").read_text()))
    return merged


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with those of another file on top."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        result[name] = merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def pods(objects: Sequence[Mapping[str, Any]]) -> dict[str, Pod]:
    """Return the pods by the part of their name after the release's; a prefetch Job's name ends before its digest."""
    return {pod.name: pod for each in objects if each["kind"] in _CONTROLLERS for pod in [_pod(each)]}


def templates(objects: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each Deployment and Job with the spec of its pod."""
    for each in objects:
        if each["kind"] in _CONTROLLERS:
            yield each["metadata"]["name"], each["spec"]["template"]["spec"]


@cache
def image_of(name: str) -> Image:
    """Return what a Dockerfile of the project describes."""
    return read(PROJECT / "infra" / "images" / f"{name}.Dockerfile")


def _pod(body: Mapping[str, Any]) -> Pod:
    spec = body["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    image = container["image"].rpartition("/")[2].partition(":")[0]
    built = image_of(image)
    command = container.get("command")
    words = (command or built.entrypoint, container.get("args") or (() if command else built.command))
    environment = container.get("env") or []
    user = spec["securityContext"]
    volumes = {each["name"]: each for each in spec.get("volumes") or []}
    hook = (body["metadata"].get("annotations") or {}).get("helm.sh/hook-weight")
    return Pod(
        name=body["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"],
        kind=body["kind"],
        image=image,
        words=tuple(word for part in words for word in part),
        environment={each["name"]: each["value"] for each in environment if "value" in each},
        secrets={each["name"]: each["valueFrom"]["secretKeyRef"]["key"] for each in environment if "valueFrom" in each},
        user=(user["runAsUser"], user["runAsGroup"]),
        read_only=container["securityContext"]["readOnlyRootFilesystem"],
        mounts=tuple(_mount(each, volumes[each["name"]]) for each in container.get("volumeMounts") or []),
        ports={each["name"]: each["containerPort"] for each in container.get("ports") or []},
        probes=dict(_probes(container)),
        limits=container["resources"]["limits"],
        replicas=body["spec"].get("replicas", 1),
        grace_s=spec.get("terminationGracePeriodSeconds", 30),
        waits=tuple(tuple(each["command"]) for each in spec.get("initContainers") or []),
        weight=None if hook is None else int(hook),
    )


def _mount(mount: Mapping[str, Any], volume: Mapping[str, Any]) -> PodMount:
    if "emptyDir" in volume:
        kind, source = ("memory" if volume["emptyDir"].get("medium") == "Memory" else "empty"), ""
    elif "persistentVolumeClaim" in volume:
        kind, source = "claim", volume["persistentVolumeClaim"]["claimName"]
    else:
        kind, source = "secret", volume["secret"]["secretName"]
    items = volume["secret"]["items"] if kind == "secret" else []
    return PodMount(mount["mountPath"], kind, source, {each["key"]: each["path"] for each in items})


def _probes(container: Mapping[str, Any]) -> Iterator[tuple[str, PodProbe]]:
    ports = {each["name"]: each["containerPort"] for each in container.get("ports") or []}
    for name in ("startup", "liveness", "readiness"):
        probe = container.get(f"{name}Probe")
        if probe is None:
            continue
        command = tuple((probe.get("exec") or {}).get("command") or ())
        place = probe.get("httpGet") or probe.get("tcpSocket") or {}
        yield (
            name,
            PodProbe(
                command,
                place.get("path", ""),
                ports[place["port"]] if place else 0,
                probe["periodSeconds"],
                probe["timeoutSeconds"],
                probe["failureThreshold"],
            ),
        )
