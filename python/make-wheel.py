#!/usr/bin/env python3
"""Packs the Python package and the C library into a wheel: make-wheel.py FOLDER LIBRARY [SHARED LIBRARY…]. Called by Tools/wheel."""

import base64
import hashlib
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

here = Path(__file__).parent
out, libraries = Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
version = re.search(r'libraryVersion = "([^"]+)"', (here / "../Sources/CInterface/CText.swift").read_text())[1]

# The newest version of glibc that the library needs.
needed = subprocess.run(["objdump", "-T", *libraries], capture_output=True, text=True, check=True).stdout
minor = max(int(found) for found in re.findall(r"GLIBC_2\.(\d+)", needed))
tag = f"py3-none-manylinux_2_{minor}_{platform.machine()}"
info = f"firn-{version}.dist-info"

files: dict[str, bytes] = {
    f"firn/{path.name}": path.read_bytes() for path in sorted((here / "firn").iterdir()) if path.suffix in (".py", ".typed")
}
for library in libraries:
    files[f"firn/{library.name}"] = library.read_bytes()
# What pip installs for firn[NAME]. The package itself has no dependencies.
needed_by = {
    "arrow": ["pyarrow"],
    "pandas": ["pandas", "pyarrow"],
    "polars": ["polars", "pyarrow"],
    "duckdb": ["duckdb", "pyarrow"],
    "dask": ["dask[dataframe]", "pyarrow"],
    "ray": ["ray[data]", "pyarrow"],
    "spark": ["pyspark>=4.0", "pandas", "pyarrow"],
}
extras = "".join(
    f"Provides-Extra: {name}\n" + "".join(f'Requires-Dist: {package}; extra == "{name}"\n' for package in packages)
    for name, packages in needed_by.items()
)
description = (here / "README.md").read_text()
files[f"{info}/METADATA"] = f"""Metadata-Version: 2.1
Name: firn
Version: {version}
Summary: Reads and writes .firn files: compact, columnar, transactional tables
License: Apache-2.0
Requires-Python: >=3.10
{extras}Description-Content-Type: text/markdown

{description}""".encode()
files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: firn\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
files[f"{info}/licenses/LICENSE"] = (here / "../LICENSE").read_bytes()

record = []
path = out / f"firn-{version}-{tag}.whl"
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:

    def add(name: str, data: bytes) -> None:
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data)

    for name, data in files.items():
        add(name, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    add(f"{info}/RECORD", ("\n".join(record) + f"\n{info}/RECORD,,\n").encode())
print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
