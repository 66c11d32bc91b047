#!/usr/bin/env python3
"""Write a wheel and a source distribution; hooks of pyproject.toml for pip (PEP 517).

  python/packages.py wheel BUILD VERSION [FOLDER]      after `make python`; prints the path of the wheel, in FOLDER or BUILD
  python/packages.py sdist BUILD VERSION [FOLDER]      the same of the sources, with the report page of BUILD: it builds without npm
  python/packages.py metadata BUILD VERSION FOLDER     FOLDER/sluice-VERSION.dist-info with the metadata alone

The wheel has the Python package, and within it the command, its libraries, data and programs. It serves every CPython from 3.8 on
(the extension modules have the stable ABI) on every Linux with the glibc that its tag names: libraries that the manylinux tags
(PEP 600) do not take for granted are in it, under names of their own.
"""
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
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
BUILT = ("report.html", "paper.mjs")  # what npm makes, web/room.mk
# Libraries that every system with a manylinux tag has.
EVERYWHERE = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz|ld-linux-[\w-]+)\.so\.\d+$")
# The glibc of the first distributions with a version of libstdc++.
GLIBCXX = ((28, 31), (29, 34), (30, 35))


def output(*words):
    """What a tool prints."""
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def metadata(version):
    """The text of METADATA and PKG-INFO."""
    return METADATA.format(version=version) + (ROOT / "docs/how-to/python.md").read_text()


# ---- the wheel ----


def is_elf(path):
    with path.open("rb") as f:
        return f.read(4) == b"\x7fELF"


def lay_out(build, stage):
    """The files of the wheel below a folder: the package, and the installation below it. Returns the binaries."""
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([ROOT / "tools/install.sh", build, tmp], check=True, stdout=subprocess.DEVNULL)
        shutil.copytree(f"{tmp}/lib/sluice", stage / "sluice/installed")  # links become files
    (stage / "sluice/installed/lib/libsluice.so").unlink()  # for linking only
    for path in sorted((build / "python/sluice").iterdir()):
        if path.suffix in (".py", ".typed", ".so"):
            shutil.copy(path, stage / "sluice")
    binaries = [p for p in sorted(stage.rglob("*")) if p.is_file() and is_elf(p)]
    for path in binaries:
        subprocess.run(["strip", "--strip-debug", path], check=True)
    return binaries


def graft(binaries, lib):
    """Put libraries of this system that the binaries need, and others may lack, into a folder, with a hash in their names."""
    own = {p.name for p in binaries}
    grafted = {}  # from the name of a library to that of its copy
    queue = list(binaries)
    while queue:
        path = queue.pop(0)
        if "no dynamic section" in output("readelf", "-dW", path):
            continue
        needed = [n for n in output("patchelf", "--print-needed", path).split() if n not in own and not EVERYWHERE.match(n)]
        for name in needed:
            if name not in grafted:
                at = pathlib.Path(re.search(rf"^\s*{re.escape(name)} => (/\S+)", output("ldd", path), re.M)[1])
                stem, dot, rest = name.partition(".so")
                copy = lib / f"{stem}-{hashlib.sha256(at.read_bytes()).hexdigest()[:8]}{dot}{rest}"
                shutil.copy(at.resolve(), copy)
                subprocess.run(["patchelf", "--set-soname", copy.name, copy], check=True)
                grafted[name] = copy.name
                queue.append(copy)
            subprocess.run(["patchelf", "--replace-needed", name, grafted[name], path], check=True)
        if path.parent == lib and needed:
            subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", path], check=True)
        elif path.parent.name == "sluice" and path.suffix == ".so":
            subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/installed/lib", path], check=True)
    return [lib / name for name in sorted(grafted.values())]


def tag(binaries):
    """CPython's stable ABI, and the least glibc that has the symbols of the binaries."""
    symbols = "".join(output("objdump", "-T", p) for p in binaries if "no dynamic section" not in output("readelf", "-dW", p))
    minor = max(int(v) for v in re.findall(r"\bGLIBC_2\.(\d+)", symbols))
    cxx = max((int(v) for v in re.findall(r"\bGLIBCXX_3\.4\.(\d+)", symbols)), default=0)
    minor = max([minor, 17, *(glibc for version, glibc in GLIBCXX if cxx >= version)])
    machine = re.sub(r"[-.]", "_", sysconfig.get_platform().split("-", 1)[1])
    return f"cp38-abi3-manylinux_2_{minor}_{machine}"


def write_wheel(build, version, folder):
    """Write the wheel; returns its path."""
    info = f"sluice-{version}.dist-info"
    record = []
    with tempfile.TemporaryDirectory() as tmp:
        stage = pathlib.Path(tmp)
        binaries = lay_out(build, stage)
        mine = tag(binaries + graft(binaries, stage / "sluice/installed/lib"))
        out = folder / f"sluice-{version}-{mine}.whl"
        with zipfile.ZipFile(f"{out}.part", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as z:

            def put(name, data, mode=0o644):
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same bytes whenever it is made
                entry.external_attr = (0o100000 | mode) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                z.writestr(entry, data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{name},sha256={digest},{len(data)}")

            for path in sorted(p for p in stage.rglob("*") if p.is_file()):
                put(str(path.relative_to(stage)), path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
            put(f"{info}/METADATA", metadata(version).encode())
            put(f"{info}/WHEEL", WHEEL.format(tag=mine).encode())
            put(f"{info}/entry_points.txt", ENTRY.encode())
            put(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
            put(f"{info}/RECORD", "".join(line + "\n" for line in [*record, f"{info}/RECORD,,"]).encode())
    os.replace(f"{out}.part", out)
    return out


# ---- the source distribution ----


def sources():
    """Names of the files of the sources: what git tracks, in an unpacked source distribution what its list names."""
    listed = ROOT / "SOURCES.txt"
    names = listed.read_text() if listed.exists() else output("git", "-C", str(ROOT), "ls-files")
    return sorted(n for n in names.splitlines() if (ROOT / n).is_file() and not n.startswith("web/built/"))


def write_sdist(build, version, folder):
    """Write the source distribution; returns its path."""
    out = folder / f"sluice-{version}.tar.gz"
    names = sources()
    with open(f"{out}.part", "wb") as raw, gzip.GzipFile("", "wb", 6, raw, 0) as z, tarfile.open(fileobj=z, mode="w") as tar:

        def put(name, data, mode=0o644):
            entry = tarfile.TarInfo(f"sluice-{version}/{name}")  # the same bytes whenever it is made
            entry.size, entry.mode, entry.mtime = len(data), mode, 315532800
            tar.addfile(entry, io.BytesIO(data))

        for name in names:
            put(name, (ROOT / name).read_bytes(), 0o755 if os.access(ROOT / name, os.X_OK) else 0o644)
        for name in BUILT:
            put(f"web/built/{name}", (build / "share/sluice" / name).read_bytes())
        put("SOURCES.txt", "".join(n + "\n" for n in names).encode())
        put("PKG-INFO", metadata(version).encode())
    os.replace(f"{out}.part", out)
    return out


# ---- hooks for pip ----


def version_here():
    """Of an unpacked source distribution, else of the source tree."""
    return output("make", "-sC", str(ROOT), "version").strip()


def make_package():
    """Build the package with the interpreter that asked; returns the build folder."""
    words = ["make", "--no-print-directory", f"-j{len(os.sched_getaffinity(0))}", f"PYTHON={sys.executable}", "B=build", "python"]
    subprocess.run(words, cwd=ROOT, check=True)
    return ROOT / "build"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    return write_wheel(make_package(), version_here(), pathlib.Path(wheel_directory)).name


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517."""
    return write_sdist(make_package(), version_here(), pathlib.Path(sdist_directory)).name


def main():
    what, build, version = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    folder = pathlib.Path(sys.argv[4]).resolve() if len(sys.argv) > 4 else build
    if what == "metadata":
        info = folder / f"sluice-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(metadata(version))
        return 0
    for tool in ("patchelf", "strip", "objdump"):
        if not shutil.which(tool):
            sys.exit(f"packages.py: no {tool} here; 'make setup' installs it")
    print({"wheel": write_wheel, "sdist": write_sdist}[what](build, version, folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
