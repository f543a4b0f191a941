#!/usr/bin/env python3
"""Packs the module that `cargo build --workspace` has built, and the Python sources, as a
wheel: pack.py LIBRARY FOLDER. What `maturin build` does, without building the
dependencies a second time with the features that this package alone would ask for."""

from __future__ import annotations

import base64
import hashlib
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

try:
    import tomllib
except ImportError:  # before Python 3.11
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

HERE = pathlib.Path(__file__).resolve().parent
ABI = "cp39-abi3"


def metadata(project: dict, version: str) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"Classifier: {one}" for one in project["classifiers"]]
    for extra, needs in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {need}; extra == '{extra}'" for need in needs]
    return "\n".join(lines) + "\n"


def without_debug_lines(library: pathlib.Path, folder: str) -> pathlib.Path:
    """The library as users get it; as it is where there is no `strip`."""
    small = pathlib.Path(folder) / "_freestone.abi3.so"
    strip = shutil.which("strip")
    if strip:
        subprocess.run([strip, "--strip-debug", "-o", str(small), str(library)], check=True)
        return small
    return library


def pack(library: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    workspace = tomllib.loads((HERE.parents[1] / "Cargo.toml").read_text())
    version = workspace["workspace"]["package"]["version"]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"{ABI}-{platform}"
    info = f"freestone-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"freestone-{version}-{tag}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:

        def add(name: str, content: bytes) -> None:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
            record.append(f"{name},sha256={digest.rstrip(b'=').decode()},{len(content)}")
            archive.writestr(name, content)

        for source in sorted((HERE / "python").rglob("*")):
            if source.suffix in (".py", ".pyi", ".typed"):
                add(str(source.relative_to(HERE / "python")), source.read_bytes())
        with tempfile.TemporaryDirectory() as temporary:
            small = without_debug_lines(library, temporary)
            add("freestone/_freestone.abi3.so", small.read_bytes())
        add(f"{info}/METADATA", metadata(project, version).encode())
        generator = "Wheel-Version: 1.0\nGenerator: freestone-pack\nRoot-Is-Purelib: false\n"
        add(f"{info}/WHEEL", f"{generator}Tag: {tag}\n".encode())
        record.append(f"{info}/RECORD,,")
        archive.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return wheel


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: pack.py LIBRARY FOLDER")
    built = pathlib.Path(sys.argv[1])
    if not built.exists():
        sys.exit(f"there is no {built}: cargo build --release --workspace makes it")
    print(pack(built, pathlib.Path(sys.argv[2])))
