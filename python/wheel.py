#!/usr/bin/env python3
"""Write a wheel of a build: the Python package, and the command with its libraries, data and programs within it.

  python/wheel.py BUILD VERSION [FOLDER]      after `make python`; prints the path of the wheel, in FOLDER or BUILD

The wheel serves every CPython from 3.8 on (the extension module has the stable ABI). Its tag is that of this machine: the
libraries that the binaries are linked with (libjansson4, libzstd1, libelf1) are the system's.
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
METADATA = """Metadata-Version: 2.1
Name: sluice
Version: {version}
Summary: GPU memory-system simulator that runs CUDA programs without a GPU
License: BSD-3-Clause
Classifier: Topic :: Scientific/Engineering
Requires-Python: >=3.8
Requires-Dist: numpy
Requires-Dist: cffi>=1.15
Provides-Extra: notebook
Requires-Dist: pandas; extra == "notebook"
Requires-Dist: matplotlib; extra == "notebook"
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: sluice\nRoot-Is-Purelib: false\nTag: {tag}\n"
ENTRY = "[console_scripts]\nsluice = sluice._command:main\n"


def tag():
    """CPython's stable ABI on the platform of the interpreter."""
    return "cp38-abi3-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def files_of(build, stage):
    """Pairs of a name within the wheel and a file: the package, then the installation below it."""
    subprocess.run([ROOT / "tools/install.sh", build, stage], check=True, stdout=subprocess.DEVNULL)
    for path in sorted((build / "python/sluice").iterdir()):
        if path.suffix in (".py", ".typed", ".so"):
            yield f"sluice/{path.name}", path
    base = stage / "lib/sluice"
    for path in sorted(base.rglob("*")):
        if path.is_file() and path.name != "libsluice.so":  # for linking only
            yield f"sluice/installed/{path.relative_to(base)}", path


def stripped(path, scratch):
    """The bytes of a file, of a binary without what debuggers need."""
    if path.open("rb").read(4) != b"\x7fELF":
        return path.read_bytes()
    subprocess.run(["strip", "--strip-debug", "-o", scratch, path], check=True)
    return scratch.read_bytes()


def write(build, version, folder):
    """Write the wheel; returns its path."""
    info = f"sluice-{version}.dist-info"
    out = folder / f"sluice-{version}-{tag()}.whl"
    readme = (ROOT / "docs/how-to/python.md").read_text()
    record = []
    with tempfile.TemporaryDirectory() as tmp, zipfile.ZipFile(f"{out}.part", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as z:

        def put(name, data, mode=0o644):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same bytes whenever it is made
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")

        for name, path in files_of(build, pathlib.Path(tmp) / "stage"):
            put(name, stripped(path, pathlib.Path(tmp) / "stripped"), 0o755 if os.access(path, os.X_OK) else 0o644)
        put(f"{info}/METADATA", (METADATA.format(version=version) + readme).encode())
        put(f"{info}/WHEEL", WHEEL.format(tag=tag()).encode())
        put(f"{info}/entry_points.txt", ENTRY.encode())
        put(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
        put(f"{info}/RECORD", "".join(line + "\n" for line in [*record, f"{info}/RECORD,,"]).encode())
    os.replace(f"{out}.part", out)
    return out


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    print(write(build, sys.argv[2], pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else build))
    return 0


if __name__ == "__main__":
    sys.exit(main())
