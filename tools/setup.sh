#!/bin/sh
# Install the Debian packages that Sluice needs. Quiet when nothing is missing.
#   tools/setup.sh               what building, testing and packaging need (as root, else through sudo)
#   tools/setup.sh demo          only what building needs: that is all of `make demo`
#   tools/setup.sh package       that and what `make deb` and `make wheel` need
#   tools/setup.sh --check       only say what a build lacks; exit 1 if anything is missing
#   tools/setup.sh --check unit  the same for the unit tests
set -eu

# package:file that it provides. A file test is a hundred times faster than asking dpkg.
need_build='
gcc:/usr/bin/gcc
libc6-dev:/usr/include/stdio.h
make:/usr/bin/make
clang-14:/usr/bin/clang-14
libclc-14:/usr/lib/clc/nvptx64--nvidiacl.bc
libjansson-dev:/usr/include/jansson.h
libyaml-dev:/usr/include/yaml.h
libelf-dev:/usr/include/libelf.h
liblz4-dev:/usr/include/lz4.h
libzstd-dev:/usr/include/zstd.h
libsqlite3-dev:/usr/include/sqlite3.h
libprotobuf-c-dev:/usr/include/protobuf-c/protobuf-c.h
protobuf-c-compiler:/usr/bin/protoc-c
libmd-dev:/usr/include/sha256.h
liblzma-dev:/usr/include/lzma.h
ca-certificates:/etc/ssl/certs/ca-certificates.crt
'
# The unit tests.
need_unit='
libcmocka-dev:/usr/include/cmocka.h
libmpfr-dev:/usr/include/mpfr.h
'
need_test='
protobuf-compiler:/usr/bin/protoc
librsvg2-bin:/usr/bin/rsvg-convert
fonts-liberation:/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf
sqlite3:/usr/bin/sqlite3
xz-utils:/usr/bin/xz
clang-format-14:/usr/bin/clang-format-14
cppcheck:/usr/bin/cppcheck
python3:/usr/bin/python3
chromium:/usr/bin/chromium
fonts-dejavu-core:/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
'
# Only the tests of clusters need these: a build without them is whole.
need_cluster='
slurmctld:/usr/sbin/slurmctld
slurmd:/usr/sbin/slurmd
slurm-client:/usr/bin/sbatch
munge:/usr/sbin/munged
'
# Only the tests of programs that share memory with OpenGL and Vulkan need these; they draw without a graphics device.
need_graphics='
libegl-dev:/usr/include/EGL/egl.h
libgl-dev:/usr/include/GL/glext.h
libgl1-mesa-dri:/usr/lib/x86_64-linux-gnu/dri/swrast_dri.so
libvulkan-dev:/usr/include/vulkan/vulkan.h
mesa-vulkan-drivers:/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
'
# The Python package, the Debian packages and the wheel; the command needs none of them.
need_package='
dpkg-dev:/usr/bin/dpkg-shlibdeps
patchelf:/usr/bin/patchelf
python3-dev:/usr/include/python3.11/Python.h
python3-cffi:/usr/lib/python3/dist-packages/cffi/__init__.py
'
# Tests of packages and of the interface of the library.
need_packages_tests='
lintian:/usr/bin/lintian
python3-yaml:/usr/lib/python3/dist-packages/yaml/__init__.py
pkgconf:/usr/bin/pkg-config
g++:/usr/bin/g++
abigail-tools:/usr/bin/abidiff
zsh:/usr/bin/zsh
fish:/usr/bin/fish
'
# Tests of the Python package.
need_python='
python3-pip-whl:/usr/share/python-wheels/pip-23.0.1-py3-none-any.whl
python3-numpy:/usr/lib/python3/dist-packages/numpy/__init__.py
python3-pandas:/usr/lib/python3/dist-packages/pandas/__init__.py
python3-matplotlib:/usr/lib/python3/dist-packages/matplotlib/__init__.py
jupyter-nbconvert:/usr/bin/jupyter-nbconvert
python3-ipykernel:/usr/share/jupyter/kernels/python3/kernel.json
mypy:/usr/bin/mypy
flake8:/usr/bin/flake8
'
# The report page: a node from another source than Debian serves too.
need_report='
nodejs:/usr/bin/node
npm:/usr/bin/npm
'

missing() {
  for row in $1; do
    pkg=${row%%:*} file=${row#*:}
    [ -e "$file" ] || [ -e "$(echo "$file" | sed 's,^/usr/include/,/usr/include/x86_64-linux-gnu/,')" ] ||
      printf '%s ' "$pkg"
  done
}

report=
command -v npm >/dev/null 2>&1 || report=$need_report
check=
[ "${1:-}" = --check ] && check=1 && shift
all=$need_build$report$need_unit$need_test$need_cluster$need_graphics$need_package$need_packages_tests$need_python
case $check${1:-} in
1 | demo) need=$need_build$report ;;
package) need=$need_build$report$need_package ;;
1unit) need=$need_build$need_unit ;;
'') need=$all ;;
*) echo "usage: tools/setup.sh [demo | package | --check [unit]]" >&2 && exit 2 ;;
esac
m=$(missing "$need")
if [ -n "$check" ] && [ -n "$m" ]; then
  echo "sluice: these packages are missing: $m" >&2
  echo "sluice: run 'make setup' to install them (apt-get, with sudo if you are not root)" >&2
  exit 1
fi
[ -z "$m" ] && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  echo "sluice: no apt-get here; install the equivalents of: $m" >&2
  exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "sluice: not root and no sudo; as root run: apt-get install $m" >&2
    exit 1
  fi
  as_root=sudo
fi
echo "sluice: installing Debian packages: $m"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
try() {
  # shellcheck disable=SC2086
  $as_root apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install $m >"$log" 2>&1
}
if ! { $as_root apt-get -qq update >"$log" 2>&1 && try; }; then
  tail -n 20 "$log" >&2
  echo "sluice: apt-get failed (above); install these by hand and try again: $m" >&2
  exit 1
fi
echo "sluice: packages installed"
