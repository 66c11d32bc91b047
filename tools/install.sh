#!/bin/sh
# Install a build: tools/install.sh BUILD PREFIX [VERSION]
set -eu
build=$1 prefix=$2 version=${3:-0}
cd "$(dirname "$0")/.."
mkdir -p "$prefix/bin" "$prefix/lib/sluice/lib" "$prefix/lib/sluice/share"
# The command finds its libraries in lib/ beside itself, and its data in share/sluice beside lib/.
install -m 755 "$build/sluice" "$prefix/lib/sluice/sluice"
cp -P "$build"/lib/lib*.so* "$prefix/lib/sluice/lib/"
if [ -d "$build/workloads" ]; then cp -r "$build/workloads" "$prefix/lib/sluice/"; fi
cp -r "$build/share/sluice" "$prefix/lib/sluice/share/"
ln -sf ../lib/sluice/sluice "$prefix/bin/sluice"
share=$prefix/share
page() { # WHAT FILE
  mkdir -p "$share/$(dirname "$2")"
  "$build/sluice" docs "$1" >"$share/$2"
}
page man man/man1/sluice.1
page bash bash-completion/completions/sluice
page zsh zsh/site-functions/_sluice
page fish fish/vendor_completions.d/sluice.fish

# For programs that embed the simulator: libsluice, sluice.h, libsluice.pc.
ln -sf sluice/lib/libsluice.so.1 "$prefix/lib/libsluice.so.1"
ln -sf libsluice.so.1 "$prefix/lib/libsluice.so"
install -D -m 644 include/sluice.h "$prefix/include/sluice.h"
mkdir -p "$prefix/lib/pkgconfig"
# The folder of the .pc says where the installation lies, so that it can be moved.
cat >"$prefix/lib/pkgconfig/libsluice.pc" <<'PC'
prefix=${pcfiledir}/../..
libdir=${prefix}/lib
includedir=${prefix}/include

Name: libsluice
Description: GPU memory-system simulator
PC
printf 'Version: %s\n' "$version" >>"$prefix/lib/pkgconfig/libsluice.pc"
cat >>"$prefix/lib/pkgconfig/libsluice.pc" <<'PC'
Cflags: -I${includedir}
Libs: -L${libdir} -lsluice -Wl,-rpath,${libdir}
PC
install -D -m 644 examples/embed.c "$share/doc/sluice/examples/embed.c"
echo "sluice: installed in $prefix"
