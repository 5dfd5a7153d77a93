package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/doctor"
)

// examine runs the doctor and returns its results by check.
func examine(t *testing.T, code int, args ...string) map[string]doctor.Result {
	t.Helper()
	got := command(t, append([]string{"doctor", "--json"}, args...)...)
	var answer struct {
		Healthy bool
		Results []doctor.Result
	}
	if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil || got.code != code || answer.Healthy != (code == exitOK) {
		t.Fatalf("exit code %d, want %d: %v\n%s%s", got.code, code, err, got.stdout, got.stderr)
	}
	results := map[string]doctor.Result{}
	for _, r := range answer.Results {
		results[r.Check] = r
	}
	return results
}

// TestDoctorOfADataFolder examines a folder before its first process, while a process uses it, and afterwards.
func TestDoctorOfADataFolder(t *testing.T) {
	hermetic(t)
	folder := filepath.Join(t.TempDir(), "data ?%#")
	expect := func(results map[string]doctor.Result, check string, status doctor.Status, found string) {
		t.Helper()
		if r := results[check]; r.Status != status || !strings.Contains(r.Found, found) {
			t.Errorf("%s is %+v, want %s with %q", check, r, status, found)
		}
	}
	none := examine(t, exitFailure, "--data", folder)
	expect(none, "store", doctor.Failed, "holds no database")
	expect(none, "shards", doctor.Skipped, "not opened")

	service, api := dev(t, folder)
	if got := command(t, "timer", "create", "late", "--in", "1h", "--callback-url", "http://127.0.0.1:1/", "--url", api); got.code != exitOK {
		t.Fatal(got.stderr)
	}
	for deadline := time.Now().Add(30 * time.Second); ; { // a scheduler that has just started claims its shards
		if command(t, "doctor", "--data", folder, "--url", api).code == exitOK || time.Now().After(deadline) {
			break
		}
	}
	used := examine(t, exitOK, "--data", folder, "--url", api)
	expect(used, "store", doctor.OK, "a process uses the data folder: asked its API at "+api+", which is ready")
	expect(used, "schema", doctor.OK, "version")
	expect(used, "store write", doctor.Skipped, "a process uses the database")
	expect(used, "shards", doctor.OK, "16, each with an owner")
	expect(used, "overdue", doctor.OK, "no timer is overdue")
	expect(used, "dead", doctor.OK, "none")
	// The listening address is that of the settings.
	used = examine(t, exitOK, "--data", folder, "--listen", strings.TrimPrefix(api, "http://"))
	expect(used, "store", doctor.OK, "asked its API at "+api)
	used = examine(t, exitFailure, "--data", folder, "--url", "http://127.0.0.1:1")
	expect(used, "store", doctor.Failed, "asked its API at http://127.0.0.1:1")
	if !strings.Contains(used["store"].Advice, "--url") {
		t.Errorf("the advice is %q", used["store"].Advice)
	}
	service.stop(t)

	free := examine(t, exitFailure, "--data", folder)
	expect(free, "store", doctor.OK, "opened in")
	expect(free, "store write", doctor.OK, "created and deleted")
	expect(free, "partitions", doctor.OK, "16")
	expect(free, "shards", doctor.Failed, "16 of 16 have no owner")
	expect(free, "bus", doctor.Skipped, "inside the process")
	free = examine(t, exitFailure, "--data", folder, "--partitions", "8")
	expect(free, "partitions", doctor.Failed, "the cluster has 16, the setting is 8")

	// The doctor has closed the database, and left nothing in it.
	_, api = dev(t, folder)
	if got := command(t, "timer", "list", "--json", "--url", api); strings.Count(got.stdout, `"timerId"`) != 1 {
		t.Errorf("timers after the examination:\n%s", got.stdout)
	}
}

func TestDoctorWithABusElsewhere(t *testing.T) {
	hermetic(t)
	results := examine(t, exitFailure, "--data", t.TempDir(), "--bus", "nats://me:hush@127.0.0.1:1", "--timeout", "3s")
	if r := results["bus"]; r.Status != doctor.Failed || !strings.Contains(r.Found, "127.0.0.1:1") || strings.Contains(r.Found, "hush") {
		t.Errorf("the bus is %+v", r)
	}
	results = examine(t, exitFailure, "--store", "postgres://me:hush@127.0.0.1:1/db", "--bus", "kafka://me:hush@127.0.0.1:1")
	for _, check := range []string{"store", "bus"} {
		if r := results[check]; r.Status != doctor.Failed || r.Advice == "" || strings.Contains(r.Found, "hush") {
			t.Errorf("%+v", r)
		}
	}
}

func TestDoctorThatCannotRun(t *testing.T) {
	hermetic(t)
	refuses(t, map[string]string{
		"doctor --store oracle://me:hush@h/db":             "postgres://USER:PASSWORD@HOST:PORT/DATABASE",
		"doctor --store memory:":                           "exists only inside its process",
		"doctor --store postgres://127.0.0.1:1/db --bus x": "nats://HOST:PORT",
		"doctor --timeout 0s":                              "--timeout 0s",
		"doctor --store sqlite:/x?cache=1":                 "sqlite:FOLDER",
		"doctor now":                                       "wants no argument",
	})
}
