#!/bin/sh
# Make a Debian package of a build: tools/deb.sh BUILD VERSION [OUTPUT.deb]
# Prints the name of the package, BUILD/sluice_VERSION_ARCH.deb by default. Its dependencies are found by dpkg-shlibdeps
# from the libraries of the binaries.
set -eu
build=$(realpath "$1") version=$2
cd "$(dirname "$0")/.."
for tool in dpkg-deb dpkg-shlibdeps strip; do
  command -v $tool >/dev/null || { echo "deb.sh: no $tool here; 'make setup' installs it" >&2; exit 2; }
done
arch=$(dpkg --print-architecture)
out=${3:-$build/sluice_${version}_$arch.deb}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/debian/sluice
tools/install.sh "$build" "$stage/usr" "$version" >/dev/null

doc=$stage/usr/share/doc/sluice
install -D -m 644 LICENSE "$doc/copyright"
install -m 644 README.md "$doc/"
find docs -type f | while read -r page; do install -D -m 644 "$page" "$doc/$page"; done
gzip -9n "$stage/usr/share/man/man1/sluice.1"
# Debian's folder for zsh functions of packages.
mkdir -p "$stage/usr/share/zsh/vendor-completions"
mv "$stage/usr/share/zsh/site-functions/_sluice" "$stage/usr/share/zsh/vendor-completions/"
rmdir "$stage/usr/share/zsh/site-functions"

find "$stage/usr/lib/sluice" -type f -perm -u+x >"$work/executables"
elf=
while read -r f; do
  if [ "$(head -c 4 "$f" | tail -c 3)" = ELF ]; then
    strip --strip-debug "$f"
    elf="$elf -e$f"
  fi
done <"$work/executables"

cat >"$work/debian/control" <<'CONTROL'
Source: sluice

Package: sluice
Architecture: any
CONTROL
# Our own libraries are found in the package; nothing provides dependency information about them, nor need it.
# shellcheck disable=SC2086
depends=$(cd "$work" &&
  dpkg-shlibdeps -O --ignore-missing-info -xsluice -l"$stage/usr/lib/sluice/lib" $elf 2>"$work/log" |
  sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { cat "$work/log" >&2; exit 1; }

mkdir -p "$stage/DEBIAN"
cat >"$stage/DEBIAN/control" <<CONTROL
Package: sluice
Version: $version
Architecture: $arch
Maintainer: The Sluice authors <sluice@localhost>
Installed-Size: $(du -sk --apparent-size "$stage/usr" | cut -f1)
Depends: $depends
Recommends: clang-14, libclc-14, pkgconf
Suggests: librsvg2-bin, sqlite3, slurm-client
Section: science
Priority: optional
Description: GPU memory-system simulator that runs CUDA programs without a GPU
 Sluice executes an unchanged CUDA binary, sends every memory access through
 a cycle-level model of coalescer, caches, interconnect and DRAM, and lets
 cache-management schemes be put into that machine and compared.
 .
 The package has the command, bundled CUDA programs, the library libsluice
 with its header and pkg-config file, the manual page and shell completions.
CONTROL
(cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
printf 'activate-noawait ldconfig\n' >"$stage/DEBIAN/triggers"
find "$stage" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group -Zxz -z1 --build "$stage" "$out" >/dev/null
echo "$out"
