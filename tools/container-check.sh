#!/bin/bash
# Execute the steps of Containerfile in clean chroots, one for each FROM with an image, where no container can be built.
#   tools/container-check.sh [FOLDER]     as root, with mmdebstrap; in FOLDER (default: a temporary one)
#   tools/container-check.sh --plan       print the steps and execute none; exit 1 if one cannot work
# COPY . . takes what is committed. Package sources and npm's registry are those of this machine. Ends with the output
# of CMD.
set -euo pipefail
cd "$(dirname "$0")/.."
stages=" " base='' plan='' folder='' own=''
[ "${1:-}" != --plan ] || { plan=1; shift; }
die() { echo "container-check: $1" >&2; exit "${2:-2}"; }

# ---- the file ----
# Lines "WORD REST" of Containerfile; each is checked before it is printed.
steps() {
  local word rest name
  while read -r word rest; do
    case $word in
    '' | '#'*) continue ;;
    FROM)
      base=${rest%% AS *} name=${rest##* AS }
      [[ $base == debian:12-slim || $stages == *" $base "* ]] || die "no rule for FROM $rest" 1
      [ "$name" = "$rest" ] || stages="$stages$name "
      ;;
    COPY)
      case $rest in
      --from=*) name=${rest%% *} && [[ $stages == *" ${name#--from=} "* ]] || die "no stage of COPY $rest" 1 ;;
      *) [ -e "${rest%% *}" ] || die "nothing there for COPY $rest" 1 ;;
      esac
      ;;
    RUN)
      for name in $(grep -oE '\btools/[a-z.-]+' <<<"$rest"); do [ -x "$name" ] || die "no $name for RUN $rest" 1; done
      for name in $(grep -oE '(^|&& )make( -j[^ ]*)? [a-z]+' <<<"$rest" | sed 's/.* //'); do
        grep -qE "^$name:" Makefile || die "make has no target $name for RUN $rest" 1
      done
      ;;
    WORKDIR | CMD) ;;
    *) die "no rule for $word" 1 ;;
    esac
    echo "$word $rest"
  done <Containerfile
}
all=$(steps)
[ -z "$plan" ] || { echo "$all"; exit 0; }

# ---- the chroots ----
command -v mmdebstrap >/dev/null || die "install mmdebstrap (Debian)"
[ "$(id -u)" = 0 ] || die "chroot needs root"
if [ -n "${1:-}" ]; then mkdir -p "$1" && folder=$(realpath "$1"); else folder=$(mktemp -d) own=1; fi
root='' at=/ number=0
declare -A named
leave() { [ -z "$root" ] || { umount -q "$root/proc" || true; }; }
trap 'leave; [ -z "$own" ] || rm -rf --one-file-system "$folder"' EXIT
trap 'exit 130' INT TERM
sources=()
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do [ ! -s "$f" ] || sources+=("$f"); done
network=()
if command -v npm >/dev/null; then network+=("npm_config_registry=$(npm config get registry 2>/dev/null)"); fi
inside() {
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${network[@]}" \
    DEBIAN_FRONTEND=noninteractive /bin/sh -c "mkdir -p '$at' && cd '$at' && $1"
}
begin() { # a chroot with Debian's smallest system and this machine's ways into the network
  leave
  number=$((number + 1)) root=$folder/$number at=/
  mmdebstrap --quiet --variant=minbase --mode=root bookworm "$root" "${sources[@]}"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  if [ -s "${NODE_EXTRA_CA_CERTS:-}" ]; then
    cp "$NODE_EXTRA_CA_CERTS" "$root/etc/npm-certificates.pem"
    network+=(NODE_EXTRA_CA_CERTS=/etc/npm-certificates.pem)
  fi
  mount -t proc proc "$root/proc"
}
copy() {
  local from to
  case $1 in
  ". .")
    git clone -q . "$folder/clone"
    mkdir -p "$root$at" && cp -a "$folder/clone/." "$root$at/" && rm -rf "$folder/clone"
    ;;
  --from=*)
    read -r from what to <<<"$1"
    cp -r "${named[${from#--from=}]}$what" "$root$to"
    ;;
  *)
    read -r from to <<<"$1"
    mkdir -p "$(dirname "$root$at/$to")" && cp "$from" "$root$at/$to"
    ;;
  esac
}
while read -r word rest; do
  echo "container-check: $word $rest ($SECONDS s)"
  case $word in
  FROM)
    base=${rest%% AS *}
    if [ -n "${named[$base]:-}" ]; then [ "$root" = "${named[$base]}" ] || die "FROM $base: only right after that stage"
    else begin; fi
    [ "$rest" = "$base" ] || named[${rest##* AS }]=$root
    ;;
  WORKDIR) at=$rest ;;
  COPY) copy "$rest" ;;
  RUN) inside "$rest" ;;
  CMD) inside "$(sed 's/[][",]/ /g' <<<"$rest")" ;;
  esac
done <<<"$all"
echo "container-check: every step done ($SECONDS s)"
