#!/usr/bin/env python3
"""Write the C source of the extension module sluice._libsluice: cffi's wrapper of every function of sluice.h.

  python/build_library.py include/sluice.h OUT.c
"""
import contextlib
import io
import pathlib
import re
import sys

import cffi


def declarations(header: str) -> str:
    """The header as cffi reads C: without comments, #if blocks for C++ and includes."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    lines = [line for line in text.splitlines() if not line.startswith("#") or re.match(r"#define \w+ \d+$", line)]
    return "\n".join(lines)


def main() -> int:
    ffi = cffi.FFI()
    ffi.cdef(declarations(pathlib.Path(sys.argv[1]).read_text()))
    ffi.cdef('extern "Python" int sluice_python_watcher(void *, const struct sluice_progress *);')
    ffi.set_source("sluice._libsluice", "#include <sluice.h>", py_limited_api=True)
    pathlib.Path(sys.argv[2]).unlink(missing_ok=True)
    with contextlib.redirect_stdout(io.StringIO()):
        ffi.emit_c_code(sys.argv[2])
    return 0


sys.exit(main())
