#!/usr/bin/env bash
# Finds the ralph that the action runs, and gives its path as the output "path". In this order: the input ralph_path; a build from this source,
# when the input build asks for it; the program of the release that this action belongs to, whose checksum lies beside this script in release.txt.
# Whatever does not hold ends the step with one sentence.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=ralph-loop/ralph
work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/ralph-binary.XXXXXX")

fail() {
	rm -rf "$work/download"
	echo "::error::$1"
	exit 2
}

found() {
	printf 'path=%s\n' "$1" >>"$GITHUB_OUTPUT"
	exit 0
}

if [ -n "${RALPH_PATH:-}" ]; then
	if ! [ -f "$RALPH_PATH" ] || ! [ -x "$RALPH_PATH" ]; then
		fail "input ralph_path is \"$RALPH_PATH\", which is no program; give the path of a ralph binary, or leave it empty."
	fi
	found "$(realpath "$RALPH_PATH")"
fi

case ${BUILD:-false} in
true)
	command -v go >/dev/null || fail "input build is true, and Go is not on this runner: run actions/setup-go before, or leave build out to take a released ralph."
	cd "$here/.."
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=${VERSION:-dev}" -o "$work/ralph" ./cmd/ralph
	found "$work/ralph"
	;;
false) ;;
*) fail "input build is \"$BUILD\"; allowed: true, false." ;;
esac

# release.txt: the version, then a line for each archive as sha256sum prints them. Only the commit of a release has it.
list=$here/release.txt
[ -f "$list" ] || fail "this commit of ralph is no release, so there is no program to fetch: use a released version such as $repository/host@v0, or set build: 'true' after actions/setup-go."
version=$(sed -n '1s/^# //p' "$list")

system=${RUNNER_OS:-$(uname -s)} machine=${RUNNER_ARCH:-$(uname -m)}
case $system in
Linux) system=linux ;;
macOS | Darwin) system=darwin ;;
Windows | MINGW* | MSYS*) system=windows ;;
esac
case $machine in
X64 | x86_64) machine=amd64 ;;
ARM64 | aarch64 | arm64) machine=arm64 ;;
esac
end=tar.gz
[ "$system" = windows ] && end=zip
asset=ralph_${system}_$machine.$end
wanted=$(awk -v name="$asset" '$2 == name { print $1 }' "$list")
[ -n "$wanted" ] || fail "ralph $version has no program for $system on $machine: it has linux, darwin and windows on amd64 and arm64; build it with build: 'true'."

checksum() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# fetch NAME: into $work/download.
base=${RELEASE_URL:-https://github.com/$repository/releases/download}
protocol='=https'
case $base in http://*) protocol='=http,https' ;; esac # a mirror of one's own; what it gives is held to the checksum
fetch() {
	local address=$base/$version/$1 status code try saying=$work/curl
	for try in 1 2; do # curl itself tries again what a server refuses for now, but not what was cut off
		code=0
		status=$(curl --proto "$protocol" --fail --location --silent --show-error --retry 2 --retry-delay 1 --connect-timeout 10 --max-time 120 \
			--output "$work/download" --write-out '%{http_code}' "$address" 2>"$saying") || code=$?
		case $code in 18 | 56 | 92) ;; *) break ;; esac
	done
	case $code/$status in
	0/*) return ;;
	22/404) fail "$1 is not among the files of the release $version ($address answers 404): the release is not published, or its files are gone." ;;
	22/407) fail "the proxy wants a login to fetch $address (407): put one into https_proxy, or name a mirror with release_url." ;;
	22/*) fail "$address answers $status: try again later, or name a mirror with release_url." ;;
	18/* | 56/* | 92/*) fail "the download of $address was cut off: run the job again." ;;
	28/*) fail "the download of $address took longer than it may: run the job again, or name a mirror with release_url." ;;
	5/* | 97/*) fail "the proxy of this runner cannot be reached ($(tail -n 1 "$saying")): look at http_proxy and https_proxy." ;;
	esac
	local proxy=${https_proxy:-${HTTPS_PROXY:-${http_proxy:-${ALL_PROXY:-}}}}
	fail "$address cannot be reached${proxy:+ through the proxy that this runner names} ($(tail -n 1 "$saying")): look at the network of this runner, or name a mirror with release_url."
}

kept=${RUNNER_TOOL_CACHE:-$work}/ralph/$version
archive=$kept/$asset
mkdir -p "$kept"
if ! [ -f "$archive" ] || [ "$(checksum "$archive")" != "$wanted" ]; then # what was kept may have been changed: it is fetched again
	rm -f "$archive" "$archive.attested"
	fetch "$asset"
	got=$(checksum "$work/download")
	[ "$got" = "$wanted" ] || fail "$base/$version/$asset is not the file that was released: its SHA-256 is $got, and $wanted is right. Nothing of it was run."
	mv "$work/download" "$archive"
fi

# The attestation says which workflow made the file. gh reads it; the checksum above holds without it.
case ${ATTESTATION:-auto} in
auto) command -v gh >/dev/null && gh attestation --help >/dev/null 2>&1 && attest=yes || attest=no ;;
require)
	command -v gh >/dev/null || fail "input attestation is require, and gh, which reads attestations, is not on this runner: install it, or set attestation: auto."
	attest=yes
	;;
off) attest=no ;;
*) fail "input attestation is \"$ATTESTATION\"; allowed: auto, require, off." ;;
esac
if [ "$attest" = yes ] && ! [ -f "$archive.attested" ]; then
	fetch ralph.attestation.jsonl
	gh attestation verify "$archive" --repo "$repository" --signer-workflow "$repository/.github/workflows/release.yml" \
		--bundle "$work/download" >"$work/gh" 2>&1 || {
		rm -f "$archive"
		fail "the attestation of $asset does not hold: $(tail -n 1 "$work/gh"). Nothing of it was run. Where this runner cannot reach sigstore, attestation: 'off' leaves the checksum alone to decide."
	}
	touch "$archive.attested"
fi

name=ralph
case $end in
tar.gz) tar -xzf "$archive" -C "$work" ralph ;;
zip) name=ralph.exe && unzip -q -o "$archive" ralph.exe -d "$work" ;;
esac
said=$("$work/$name" --version) || fail "ralph $version does not start on this runner ($system on $machine)."
[ "$said" = "$version" ] || fail "the program of the release $version calls itself \"$said\"."
found "$work/$name"
