# Formats the output of `go test -bench` of pkg/store/dynamostore as a table: the cost of each call per timer, and the
# minimum of any design.
BEGIN {
	printf "%-44s %9s %6s %8s %6s %8s %6s %9s\n", "the engine's calls, per timer", "requests", "least", "RRU", "least", "WRU", "least", "$/million"
}
/^Benchmark/ {
	sub(/^Benchmark/, "", $1); sub(/-[0-9]+$/, "", $1)
	split("", has)
	for (i = 3; i < NF; i += 2) { name = $(i + 1); sub(/\/.*/, "", name); has[name] = $i }
	printf "%-44s %9.2f %6.2f %8.2f %6.2f %8.2f %6.2f %9.2f\n", $1, has["requests"], has["least-requests"], has["RRU"], has["least-RRU"], has["WRU"], has["least-WRU"], has["$"]
	next
}
!/^(goos|goarch|cpu|pkg|PASS|ok)/ { print }
