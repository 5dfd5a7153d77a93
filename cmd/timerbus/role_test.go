package main

import (
	"strings"
	"testing"
)

func TestARoleSaysWhatItNeeds(t *testing.T) {
	hermetic(t)
	for args, want := range map[string]string{
		"scheduler":                          "--store is missing: separate roles share a database",
		"dispatcher --store postgres://h/db": "--bus is missing: separate roles share a bus",
		"ingest --data x":                    "unknown flag: --data",
		"scheduler --store sqlite:x --bus nats://127.0.0.1:4222":    "--store sqlite: can be used by one process at a time only; separate roles share it",
		"scheduler --store postgres://h/db --bus embedded:x":        "--bus embedded: can be used by one process at a time only; separate roles share it",
		"scheduler --store memory: --bus nats://127.0.0.1:4222":     "--store memory: can be used by one process at a time only",
		"ingest --listen 0.0.0.0:8080 --store x --bus y":            "--listen 0.0.0.0:8080: other machines could use the API without a token",
		"dev --debug-listen 0.0.0.0:6060":                           "debug-listen: \"0.0.0.0:6060\" is not accepted: want an address of this machine only, such as 127.0.0.1:6060",
		"dispatcher --store x --bus y --partitions 0":               "partitions: 0 is not accepted: want 1 to 1024",
		"scheduler --store postgres://h/db --bus nats://h:4222 now": "scheduler wants no argument",
	} {
		t.Run(args, func(t *testing.T) {
			got := command(t, strings.Fields(args)...)
			if got.code != exitUsage || !strings.Contains(got.stderr, want) {
				t.Errorf("exit code %d\n%s\nwant %d and %s", got.code, got.stderr, exitUsage, want)
			}
		})
	}
}
