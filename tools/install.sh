#!/bin/sh
# Install a build: tools/install.sh BUILD PREFIX
set -eu
build=$1 prefix=$2
cd "$(dirname "$0")/.."
mkdir -p "$prefix/bin" "$prefix/lib/sluice/lib" "$prefix/lib/sluice/share"
# The command finds its libraries in lib/ beside itself, and its data in share/sluice beside lib/.
cp "$build/sluice" "$prefix/lib/sluice/sluice"
cp -P "$build"/lib/lib*.so* "$prefix/lib/sluice/lib/"
if [ -d "$build/workloads" ]; then cp -r "$build/workloads" "$prefix/lib/sluice/"; fi
cp -r "$build/share/sluice" "$prefix/lib/sluice/share/"
ln -sf ../lib/sluice/sluice "$prefix/bin/sluice"
"$build/sluice" docs man >"$build/sluice.1"
"$build/sluice" docs bash >"$build/sluice.bash"
"$build/sluice" docs zsh >"$build/_sluice"
"$build/sluice" docs fish >"$build/sluice.fish"
share=$prefix/share
install -D -m 644 "$build/sluice.1" "$share/man/man1/sluice.1"
install -D -m 644 "$build/sluice.bash" "$share/bash-completion/completions/sluice"
install -D -m 644 "$build/_sluice" "$share/zsh/site-functions/_sluice"
install -D -m 644 "$build/sluice.fish" "$share/fish/vendor_completions.d/sluice.fish"
echo "sluice: installed in $prefix"
