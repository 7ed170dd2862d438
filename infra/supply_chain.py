"""What the images install, as `make sbom` writes it down.

The bill of materials of an image is a CycloneDX document of each package in its lock: name, version, package URL and
the hashes of its files.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from pip_requirements_parser import InstallRequirement, RequirementsFile

from infra.image_locks import LOCKS, lock_of
from infra.local.bootstrap import PROJECT

IMAGES = PROJECT / "infra" / "images"
_FILES = "https://pypi.org/project/{name}/{version}/#files"


def bill(image: str) -> Bom:
    """Return the bill of materials of an image: a component per package of its lock."""
    bom = Bom()
    bom.metadata.component = Component(name=f"ava/{image}", type=ComponentType.CONTAINER, bom_ref=image)
    locked = [_component(each) for each in RequirementsFile.from_file(str(lock_of(image))).requirements]
    bom.components.update(locked)
    bom.register_dependency(bom.metadata.component, locked)
    return bom


def _component(requirement: InstallRequirement) -> Component:
    """Return a package of a lock, whose every line is name==version with the hashes of the files."""
    name, version = requirement.name, requirement.get_pinned_version
    url = PackageURL("pypi", name=name, version=version)
    hashes = [
        HashType(alg=HashAlgorithm.SHA_256, content=each.removeprefix("sha256:")) for each in requirement.hash_options
    ]
    files = ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(_FILES.format(name=name, version=version)),
        hashes=hashes,
        comment="one of these files is installed",
    )
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=str(url),
        purl=url,
        external_references=[files],
    )


def write_bills(folder: Path) -> list[Path]:
    """Write the bill of materials of each image, as IMAGE.cdx.json; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for image in LOCKS:
        path = folder / f"{image}.cdx.json"
        outputter = make_outputter(bill(image), OutputFormat.JSON, SchemaVersion.V1_6)
        outputter.output_to_file(str(path), allow_overwrite=True, indent=2)
        written.append(path)
    return written


def bases_by_tag(folder: Path = IMAGES) -> list[str]:
    """Return the base images that a Dockerfile of a folder names without a digest: a registry may change them."""
    found: set[str] = set()
    for path in folder.glob("*.Dockerfile"):
        stages: set[str] = set()
        for base, name in re.findall(r"^FROM (?:--platform=\S+ )?(\S+)(?: AS (\S+))?$", path.read_text(), flags=re.M):
            if base not in stages and "@sha256:" not in base:
                found.add(base)
            stages.add(name)
    return sorted(found)


def main() -> int:
    """Write the bills of materials, and name base images without a digest."""
    for path in write_bills(PROJECT / ".local" / "sbom"):
        print(path.relative_to(PROJECT))
    for base in bases_by_tag():
        print(f"warning: the base image {base} has no digest (docs/operations.md#pin-base-images)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
