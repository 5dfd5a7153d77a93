package main

import (
	"strings"
	"testing"
)

func TestARoleSaysWhatItNeeds(t *testing.T) {
	hermetic(t)
	for args, want := range map[string]string{
		"scheduler":                          "--store is missing: a role of its own shares a database with the others",
		"dispatcher --store postgres://h/db": "--bus is missing: a role of its own shares a bus with the others",
		"ingest --data x":                    "unknown flag: --data",
		"scheduler --store sqlite:x --bus nats://127.0.0.1:4222":    "--store sqlite: belongs to one process at a time; a role of its own shares it with the others",
		"scheduler --store postgres://h/db --bus embedded:x":        "--bus embedded: belongs to one process at a time; a role of its own shares it with the others",
		"scheduler --store memory: --bus nats://127.0.0.1:4222":     "--store memory: belongs to one process at a time",
		"ingest --listen 0.0.0.0:8080 --store x --bus y":            "--listen 0.0.0.0:8080: others could reach the API without a token",
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
