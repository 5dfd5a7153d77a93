# Functions for the checks of the running service. They source this file with `set -euo pipefail` and the repository as $root.

fail() {
	echo "$*" >&2
	exit 1
}

# cached KIND NAME FILE… sets folder to the cache folder for these files, and returns 0 if the caller must fill it.
cached() {
	local kind=$1 name=$2
	shift 2
	folder=$root/.cache/$kind/$name-$(cat "$@" | sha256sum | cut -c1-16)
	[[ ! -e $folder/.installed ]] || return 1
	echo "installing the $name packages (once)"
	rm -rf "$folder"
	mkdir -p "$folder"
}

# install_python KIND NAME REQUIREMENTS sets folder to a folder with the packages, for PYTHONPATH.
install_python() {
	cached "$1" "$2" "$3" || return 0
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-warn-conflicts --target "$folder" -r "$3"
	touch "$folder/.installed"
}

# install_node KIND NAME DIRECTORY sets folder to a folder with the node_modules of the directory's package-lock.json.
install_node() {
	cached "$1" "$2" "$3"/package{,-lock}.json || return 0
	cp "$3"/package{,-lock}.json "$folder"
	(cd "$folder" && npm ci --silent --no-audit --no-fund --ignore-scripts)
	touch "$folder/.installed"
}

work=$(mktemp -d)
processes=()
stop() {
	for process in "${processes[@]}"; do
		kill "$process" 2>/dev/null || true
		wait "$process" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap stop EXIT

# start NAME PATTERN COMMAND… runs a process and sets url to the group that the pattern matches in its log.
start() {
	local log=$work/$1.log pattern=$2
	shift 2
	: >"$log"
	"$@" >"$log" 2>&1 &
	processes+=($!)
	for _ in {1..200}; do
		url=$(sed -n "s|$pattern|\1|p" "$log")
		[[ -z $url ]] || return 0
		kill -0 "${processes[-1]}" 2>/dev/null || break
		sleep 0.1
	done
	cat "$log" >&2
	fail "not started: $*"
}

# start_service ARGUMENT… runs `timerbus dev` on free ports and waits until it accepts requests; url is its address.
start_service() {
	start service '^ *HTTP API *\(http:[^ ]*\).*' bin/timerbus dev --data "$work/data" --listen 127.0.0.1:0 --nats-listen "" --log-format json "$@"
	for _ in {1..100}; do
		! TIMERBUS_URL=$url bin/timerbus namespace get default >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	cat "$work/service.log" >&2
	fail "the service does not accept requests"
}
