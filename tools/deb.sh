#!/bin/bash
# Make the Debian packages of a build: tools/deb.sh BUILD VERSION [FOLDER]
#   sluice           the command, the CUDA runtimes, bundled programs, data, manual page, completions
#   libsluice1       libsluice.so.1, and the GPUs that it reads
#   libsluice-dev    sluice.h, libsluice.so, libsluice.pc, the guide of embedding and its example
#   python3-sluice   the Python package, after `make python`; left out where BUILD has none
# Prints their paths, FOLDER/NAME_VERSION_ARCH.deb, with BUILD as the default of FOLDER. tools/debian/control describes
# them; dpkg-shlibdeps finds dependencies from the binaries. The same build of the same commit gives the same bytes.
set -euo pipefail
build=$(realpath "$1") version=$2 out=$(realpath "${3:-$1}")
cd "$(dirname "$0")/.."
for tool in dpkg-deb dpkg-shlibdeps strip patchelf; do
  command -v $tool >/dev/null || { echo "deb.sh: no $tool here; 'make setup' installs it" >&2; exit 2; }
done
arch=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debian"
sluice=$work/debian/sluice lib=$work/debian/libsluice1 dev=$work/debian/libsluice-dev python=$work/debian/python3-sluice

# move PACKAGE NAME TO: a file of the whole installation to another package, into the folder TO.
move() { mkdir -p "$1/$3" && mv "$sluice/$2" "$1/$3/"; }
tools/install.sh "$build" "$sluice/usr" "$version" >/dev/null
move "$lib" usr/lib/sluice/lib/libsluice.so.1 usr/lib/sluice/lib
move "$lib" usr/lib/sluice/share/sluice/configs usr/lib/sluice/share/sluice
mkdir -p "$lib/usr/lib/$triplet"
ln -s ../sluice/lib/libsluice.so.1 "$lib/usr/lib/$triplet/"
move "$dev" usr/include/sluice.h usr/include
move "$dev" usr/share/doc/sluice/examples usr/share/doc/libsluice-dev
install -D -m 644 docs/how-to/embed.md "$dev/usr/share/doc/libsluice-dev/embed.md"
mkdir -p "$dev/usr/lib/$triplet/pkgconfig"
ln -s libsluice.so.1 "$dev/usr/lib/$triplet/libsluice.so"
sed "s,^prefix=.*,prefix=/usr,; s,^libdir=.*,libdir=\${prefix}/lib/$triplet,; s, -Wl.-rpath.*,," \
  "$sluice/usr/lib/pkgconfig/libsluice.pc" >"$dev/usr/lib/$triplet/pkgconfig/libsluice.pc"
rm -r "$sluice/usr/lib/pkgconfig" "$sluice"/usr/lib/libsluice.so* "$sluice/usr/lib/sluice/lib/libsluice.so"

# Shell and manual as Debian's policy has them.
doc=$sluice/usr/share/doc/sluice
install -D -m 644 README.md "$doc/README.md"
git ls-files -z docs 2>/dev/null | grep -qz . && pages=$(git ls-files docs) || pages=$(find docs -type f)
while read -r page; do install -D -m 644 "$page" "$doc/$page"; done <<<"$pages"
gzip -9n "$sluice/usr/share/man/man1/sluice.1"
mkdir -p "$sluice/usr/share/zsh/vendor-completions"
mv "$sluice/usr/share/zsh/site-functions/_sluice" "$sluice/usr/share/zsh/vendor-completions/"
rmdir "$sluice/usr/share/zsh/site-functions"

packages="sluice libsluice1 libsluice-dev"
if [ -e "$build/python/sluice/_libsluice.abi3.so" ]; then
  packages="$packages python3-sluice"
  site=$python/usr/lib/python3/dist-packages
  mkdir -p "$site/sluice" "$python/usr/share/doc/python3-sluice/examples" "$python/DEBIAN"
  cp "$build"/python/sluice/{*.py,py.typed,*.so} "$site/sluice/"
  patchelf --remove-rpath "$site"/sluice/*.so # libsluice is in the system's folder
  python3 python/packages.py metadata "$build" "$version" "$site"
  cp -r examples/schemes "$python/usr/share/doc/python3-sluice/examples/"
  install -D -m 644 -t "$python/usr/share/doc/python3-sluice/examples/notebooks" examples/notebooks/*.ipynb
  install -m 644 docs/how-to/python.md "$python/usr/share/doc/python3-sluice/"
  find "$python" -name __pycache__ -exec rm -r {} +
  install -m 755 tools/debian/python3-sluice.{postinst,prerm} "$python/DEBIAN/"
  for script in "$python"/DEBIAN/*.*; do mv "$script" "$python/DEBIAN/${script##*.}"; done
fi

cp tools/debian/control "$work/debian/control"
# As a package of Debian's own it has one number: no revision.
maintainer=$(sed -n 's/^Maintainer: //p' tools/debian/control)
day=$(LC_ALL=C date -uR -d "@$SOURCE_DATE_EPOCH")
printf 'sluice (%s) unstable; urgency=medium\n\n  * Made from the source of this version.\n\n -- %s  %s\n' "$version" \
  "$maintainer" "$day" >"$work/debian/changelog"
# What is linked in from Debian's archives.
archives="libc6-dev libelf-dev libjansson-dev liblz4-dev liblzma-dev libmd-dev libprotobuf-c-dev libsqlite3-dev"
archives="$archives libyaml-dev libzstd-dev zlib1g-dev"
archives=$(dpkg-query -f '${source:Package} (= ${source:Version})\n' -W $archives 2>/dev/null | sort -u | paste -sd, |
  sed 's/,/, /g')

mkdir -p "$lib/DEBIAN"
echo "libsluice 1 libsluice1 (>= $version)" >"$lib/DEBIAN/shlibs"
printf 'activate-noawait ldconfig\n' >"$lib/DEBIAN/triggers"
for p in $packages; do
  stage=$work/debian/$p
  mkdir -p "$stage/DEBIAN"
  install -D -m 644 tools/debian/copyright "$stage/usr/share/doc/$p/copyright"
  gzip -9nc "$work/debian/changelog" >"$stage/usr/share/doc/$p/changelog.gz"
  [ ! -e "tools/debian/$p.lintian-overrides" ] ||
    install -D -m 644 "tools/debian/$p.lintian-overrides" "$stage/usr/share/lintian/overrides/$p"
  elf=()
  while read -r f; do
    if [ "$(head -c 4 "$f" | tail -c 3)" = ELF ]; then
      strip --strip-unneeded --remove-section=.comment --remove-section=.note "$f"
      elf+=("-e$f")
      case $f in *.so*) chmod 644 "$f" ;; esac
    fi
  done < <(find "$stage/usr" -type f \( -perm -u+x -o -name '*.so*' \))
  echo "static:Built-Using=$archives" >"$work/substvars"
  # Sluice's own libraries are named in the control file.
  [ ${#elf[@]} = 0 ] || (cd "$work" && dpkg-shlibdeps --ignore-missing-info -xsluice -xlibsluice1 -Tsubstvars \
    -l"$sluice/usr/lib/sluice/lib" -l"$lib/usr/lib/sluice/lib" "${elf[@]}" 2>log) || { cat "$work/log" >&2; exit 1; }
  find "$stage/usr" -type d -empty -delete
  find "$stage" -type d -exec chmod 755 {} +
  find "$stage/usr" -type f -perm /022 -exec chmod go-w {} +
  (cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
  (cd "$work" && dpkg-gencontrol -v"$version" -p"$p" -P"$stage" -Tsubstvars -fdebian/files 2>>log) ||
    { cat "$work/log" >&2; exit 1; }
  dpkg-deb --root-owner-group -Zxz -z1 --build "$stage" "$out/${p}_${version}_$arch.deb" >/dev/null
  echo "$out/${p}_${version}_$arch.deb"
done
