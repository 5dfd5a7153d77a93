package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// fakeAPI answers every request with the same body, and records the last request.
type fakeAPI struct {
	status            int
	answer            string
	path, body, token string
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	f.path, f.body, f.token = strings.TrimPrefix(r.URL.Path, "/api/v1/"), strings.TrimSpace(string(raw)), r.Header.Get("Authorization")
	w.WriteHeader(f.status)
	if err == nil && f.status != http.StatusNoContent {
		_, _ = io.WriteString(w, f.answer)
	}
}

const (
	aTimer = `{"namespace":"default","id":"order-17","timerId":"order-17","uuid":"u","status":"retrying",
		"executeAt":"2020-01-01T00:00:00.000Z","dueAt":"2020-01-01T00:00:30.000Z","deliver":"callback",
		"callbackUrl":"http://shop.example/\u001b[31m","callbackTimeout":"30s","payload":{"a":"b"},"generation":"7","attempts":1,
		"retryPolicy":{"maxAttempts":4,"initialInterval":"30s","backoffMultiplier":2,"maxInterval":"1h","maxAttemptsDuration":"0s"},
		"correlationId":"c","createdAt":"2020-01-01T00:00:00.000Z","updatedAt":"2020-01-01T00:00:00.000Z",
		"executedAt":"2020-01-01T00:00:00.000Z","lastStatusCode":503,"lastError":"503\nService Unavailable"}`
	aNamespace = `{"name":"n","numShards":16,"settings":{"callbackTimeout":"30s","historyRetention":"24h","deadRetention":"720h","hostConcurrency":64,
		"retryPolicy":{"maxAttempts":4,"initialInterval":"30s","backoffMultiplier":2,"maxInterval":"1h"}},
		"createdAt":"2020-01-01T00:00:00.000Z","updatedAt":"2020-01-01T00:00:00.000Z"}`
)

const aKey = `{"name":"ci","grants":[{"verbs":["read","write"],"namespaces":["billing","b-*"]},{"verbs":["read"],"namespaces":["*"]}],
	"tokens":[{"createdAt":"2026-01-01T00:00:00.000Z","expiresAt":"2030-01-01T00:00:00.000Z"},{"createdAt":"2025-01-01T00:00:00.000Z"}],
	"createdAt":"2025-01-01T00:00:00.000Z","createdBy":"token"}`

func TestCommandsAskTheAPI(t *testing.T) {
	hermetic(t)
	file := filepath.Join(t.TempDir(), "payload.json")
	if err := os.WriteFile(file, []byte(`{"from":"file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args         []string
		status       int
		answer       string
		path, body   string
		shows        []string // substrings of the output
		showsInError string
	}{
		"create": {
			[]string{"timer", "create", "order-17", "--in", "15m", "--callback-url", "http://x", "--payload", `{"a":1}`, "--max-attempts", "2", "--initial-interval", "1s"},
			200, aTimer, "timers/create",
			`{"callbackUrl":"http://x","executeIn":"15m","id":"order-17","namespace":"default","payload":{"a":1},"retryPolicy":{"initialInterval":"1s","maxAttempts":2}}`,
			[]string{"created order-17 in namespace default: fires 2020-01-01T00:00:00.000Z ("},
			"",
		},
		"create at a local time": {
			[]string{"timer", "create", "order-17", "--at-local", "2030-10-27T02:30:00", "--time-zone", "Europe/Berlin", "--gap", "skip", "--repeated", "second", "--window", "1h"},
			200, aTimer, "timers/create",
			`{"executeAtLocal":"2030-10-27T02:30:00","gap":"skip","id":"order-17","namespace":"default","repeated":"second","timeZone":"Europe/Berlin","window":"1h0m0s"}`,
			[]string{"created order-17 in namespace default: fires 2020-01-01T00:00:00.000Z ("},
			"",
		},
		"update to a local time": {
			[]string{"timer", "update", "order-17", "--at-local", "2030-10-27T02:30", "--time-zone", "UTC"},
			200, aTimer, "timers/update", `{"executeAtLocal":"2030-10-27T02:30","namespace":"default","timeZone":"UTC","timerId":"order-17"}`,
			[]string{"updated order-17"},
			"",
		},
		"get with a local time": {
			[]string{"timer", "get", "order-17"},
			200,
			strings.Replace(aTimer, `{`, `{"executeAtLocal":"2030-10-27T02:30","timeZone":"Europe/Berlin","repeated":"second",`, 1),
			"timers/get", `{"namespace":"default","timerId":"order-17"}`,
			[]string{"local time", "2030-10-27T02:30 in Europe/Berlin", "gap next, repeated second"},
			"",
		},
		"create a key": {
			[]string{"key", "create", "ci", "--grant", "read,write@billing,b-*", "--grant", "read@*", "--expires-in", "90d"},
			200, `{"token":"tb_ci_X","key":` + aKey + `}`, "keys/create",
			`{"expiresIn":"2160h","grants":[{"namespaces":["billing","b-*"],"verbs":["read","write"]},{"namespaces":["*"],"verbs":["read"]}],"name":"ci"}`,
			[]string{"tb_ci_X", "read,write@billing,b-* read@*", "2030-01-01T00:00:00.000Z", "cannot be shown again"},
			"",
		},
		"rotate a key": {
			[]string{"key", "rotate", "ci", "--overlap", "0s"},
			200, `{"token":"tb_ci_Y","key":` + aKey + `}`, "keys/rotate", `{"name":"ci","overlap":"0s"}`,
			[]string{"tb_ci_Y"},
			"",
		},
		"revoke a key": {
			[]string{"key", "revoke", "ci"}, 204, "", "keys/revoke", `{"name":"ci"}`, nil, "",
		},
		"list keys": {
			[]string{"key", "list"}, 200, `{"keys":[` + aKey + `]}`, "keys/list", `{}`, []string{"NAME", "ci ", "read@*", " 2 ", " token"}, "",
		},
		"create late": {
			[]string{"timer", "create", "order-17", "--at", "2020-01-01T01:00:00+01:00", "-n", "shop", "--deliver", "event", "--on-conflict", "keep", "--correlation-id", "c", "--callback-timeout", "5s", "--payload", "@" + file},
			202, aTimer, "timers/create",
			`{"callbackTimeout":"5s","correlationId":"c","deliver":"event","executeAt":"2020-01-01T00:00:00.000Z","id":"order-17","namespace":"shop","onConflict":"keep","payload":{"from":"file"}}`,
			[]string{"its earlier delivery may have gone out"},
			"",
		},
		"create as JSON": {
			[]string{"timer", "create", "order-17", "--in", "1s", "--json", "--payload", "-"},
			200, aTimer, "timers/create",
			`{"executeIn":"1s","id":"order-17","namespace":"default","payload":"from stdin"}`,
			[]string{`"generation": "7"`},
			"",
		},
		"update": {
			[]string{"timer", "update", "order-17", "--in", "1h", "--callback-url", "http://y", "--max-interval", "2h", "--backoff-multiplier", "1.5", "--if-generation", "7", "--clear", "payload,deliver"},
			200, aTimer, "timers/update",
			`{"callbackUrl":"http://y","deliver":null,"executeIn":"1h","ifGeneration":"7","namespace":"default","payload":null,"retryPolicy":{"backoffMultiplier":1.5,"maxInterval":"2h0m0s"},"timerId":"order-17"}`,
			[]string{"updated order-17"},
			"",
		},
		"update, clearing the rest": {
			[]string{"timer", "update", "order-17", "--clear", "callback-url,callback-timeout,correlation-id,retry"},
			200, aTimer, "timers/update",
			`{"callbackTimeout":null,"callbackUrl":null,"correlationId":null,"namespace":"default","retryPolicy":null,"timerId":"order-17"}`, nil, "",
		},
		"get": {
			[]string{"timer", "get", "order-17"},
			200, aTimer, "timers/get", `{"namespace":"default","timerId":"order-17"}`,
			[]string{"status          retrying\n", "http://shop.example/·[31m", "attempts        1 of 4\n", "last error      503·Service Unavailable\n"},
			"",
		},
		"get, not there": {
			[]string{"timer", "get", "x"},
			404, `{"error":"TIMER_NOT_FOUND","message":"there is no timer \"x\""}`, "timers/get", `{"namespace":"default","timerId":"x"}`,
			nil, `there is no timer "x" (TIMER_NOT_FOUND)`,
		},
		"delete": {
			[]string{"timer", "delete", "order-17"},
			204, "", "timers/delete", `{"namespace":"default","timerId":"order-17"}`,
			[]string{"deleted order-17 in namespace default: it does not fire\n"},
			"",
		},
		"delete late": {
			[]string{"timer", "delete", "order-17", "--if-generation", "7"},
			202, "{}", "timers/delete", `{"ifGeneration":"7","namespace":"default","timerId":"order-17"}`,
			[]string{"its delivery may have gone out\n"},
			"",
		},
		"delete by flag": {
			[]string{"timer", "delete", "--id", "-17"},
			204, "", "timers/delete", `{"namespace":"default","timerId":"-17"}`,
			[]string{"deleted -17"},
			"",
		},
		"delete as JSON": {
			[]string{"timer", "delete", "order-17", "--json"}, 204, "", "timers/delete", `{"namespace":"default","timerId":"order-17"}`, []string{`"inTime": true`}, "",
		},
		"list": {
			[]string{"timer", "list", "--status", "retrying", "--correlation-id", "c", "--limit", "5", "--due-from", "2020-01-01T00:00:00Z", "--due-before", "2021-01-01T00:00:00Z", "--cursor", "abc"},
			200, `{"timers":[` + aTimer + `],"nextCursor":"next"}`, "timers/list",
			`{"correlationId":"c","cursor":"abc","dueBefore":"2021-01-01T00:00:00.000Z","dueFrom":"2020-01-01T00:00:00.000Z","limit":5,"namespace":"default","status":"retrying"}`,
			[]string{"ID        STATUS    DUE", "order-17  retrying  2020-01-01T00:00:30.000Z ("},
			"there are more timers: add --all, or --cursor next",
		},
		"list in due order": {
			[]string{"timer", "list", "--order", "due", "--limit", "1"},
			200, `{"timers":[` + aTimer + `]}`, "timers/list", `{"limit":1,"namespace":"default","order":"due"}`,
			[]string{"order-17  retrying"},
			"",
		},
		"count": {
			[]string{"timer", "count", "--status", "scheduled", "--due-from", "2020-01-01T00:00:00Z", "--due-before", "2021-01-01T00:00:00Z"},
			200, `{"count":1842,"truncated":false}`, "timers/count",
			`{"dueBefore":"2021-01-01T00:00:00.000Z","dueFrom":"2020-01-01T00:00:00.000Z","namespace":"default","status":"scheduled"}`,
			[]string{"1,842 timers\n"},
			"",
		},
		"count, truncated": {
			[]string{"timer", "count", "-n", "shop"},
			200, `{"count":2000000,"truncated":true}`, "timers/count", `{"namespace":"shop"}`,
			[]string{"at least 2,000,000 timers\n"},
			"",
		},
		"count as JSON": {
			[]string{"timer", "count", "--json"},
			200, `{"count":7,"truncated":true}`, "timers/count", `{"namespace":"default"}`,
			[]string{`"count": 7`, `"truncated": true`},
			"",
		},
		"forecast": {
			[]string{"timer", "forecast", "--from", "2020-01-01T00:00:00Z", "--to", "2020-01-01T01:30:00Z", "--bucket", "45m"},
			200, `{"from":"2020-01-01T00:00:00.000Z","to":"2020-01-01T01:30:00.000Z","bucket":"45m","counts":[7,0],"truncated":false,"completeBefore":"2020-01-01T01:30:00.000Z"}`,
			"timers/forecast", `{"bucket":"45m","from":"2020-01-01T00:00:00.000Z","namespace":"default","to":"2020-01-01T01:30:00.000Z"}`,
			[]string{"FROM                      DUE\n2020-01-01T00:00:00.000Z  7\n2020-01-01T00:45:00.000Z  0\n"},
			"",
		},
		"forecast of a day, truncated": {
			[]string{"timer", "forecast", "--from", "2020-01-01T00:00:00Z"},
			200, `{"from":"2020-01-01T00:00:00.000Z","to":"2020-01-02T00:00:00.000Z","bucket":"1h","counts":[7,3,0],"truncated":true,"completeBefore":"2020-01-01T01:30:00.000Z"}`,
			"timers/forecast", `{"bucket":"1h","from":"2020-01-01T00:00:00.000Z","namespace":"default","to":"2020-01-02T00:00:00.000Z"}`,
			[]string{"2020-01-01T01:00:00.000Z  3\n"},
			"counted only the timers that are due before 2020-01-01T01:30:00.000Z: continue with --from 2020-01-01T01:30:00.000Z",
		},
		"history": {
			[]string{"timer", "history", "order-17", "--limit", "2"},
			200,
			`{"attempts":[{"attempt":2,"outcome":"failed","startedAt":"2020-01-01T00:00:00.000Z","finishedAt":"2020-01-01T00:00:00.012Z","nextAt":"2020-01-01T00:01:00.000Z","statusCode":503,"error":"busy"}]}`,
			"timers/history", `{"limit":2,"namespace":"default","timerId":"order-17"}`,
			[]string{"2020-01-01T00:00:00.012Z  2        failed   12 ms  503     2020-01-01T00:01:00.000Z  busy\n"},
			"",
		},
		"retry": {
			[]string{"timer", "retry", "order-17", "--in", "10m", "--if-generation", "7"},
			200, aTimer, "timers/retry", `{"executeIn":"10m","ifGeneration":"7","namespace":"default","timerId":"order-17"}`,
			[]string{"armed order-17 in namespace default again: fires 2020-01-01T00:00:00.000Z ("},
			"",
		},
		"run now": {
			[]string{"timer", "run-now", "order-17", "--if-generation", "7"},
			200, aTimer, "timers/run-now", `{"ifGeneration":"7","namespace":"default","timerId":"order-17"}`,
			[]string{"started order-17 in namespace default: fires 2020-01-01T00:00:00.000Z ("},
			"",
		},
		"pause": {
			[]string{"timer", "pause", "order-17", "--note", "closed", "--if-generation", "7"},
			202, aTimer, "timers/pause", `{"ifGeneration":"7","namespace":"default","note":"closed","timerId":"order-17"}`,
			[]string{"paused order-17 in namespace default, but a delivery may have begun before\n"},
			"",
		},
		"resume": {
			[]string{"timer", "resume", "order-17", "--overdue", "skip"},
			200, aTimer, "timers/resume", `{"namespace":"default","overdue":"skip","timerId":"order-17"}`,
			[]string{"resumed order-17 in namespace default: due 2020-01-01T00:00:30.000Z ("},
			"",
		},
		"pause by filter": {
			[]string{"timer", "pause", "-n", "shop", "--matching", "--note", "closed", "--yes"},
			200, `{"matched":3,"applied":2,"late":1,"skipped":1}`, "timers/pause-matching",
			`{"limit":500,"namespace":"shop","note":"closed"}`,
			[]string{"2 timers paused (earlier deliveries of 1 may have gone out), 1 skipped that were paused, parked, deleted or changed meanwhile\n"},
			"",
		},
		"resume by filter": {
			[]string{"timer", "resume", "-n", "shop", "--matching", "--rate", "100", "--start-at", "2030-01-01T00:00:00Z", "--yes"},
			200, `{"matched":3,"applied":3,"skipped":0}`, "timers/resume-matching",
			`{"limit":500,"namespace":"shop","resumeRate":100,"startAt":"2030-01-01T00:00:00.000Z"}`,
			[]string{"3 timers resumed\n"},
			"",
		},
		"retry by host and error": {
			[]string{"timer", "retry", "--matching", "--status", "dead", "--callback-host", "a.example", "--last-error", "no", "--yes"},
			200, `{"matched":3,"applied":2,"late":0,"skipped":1}`, "timers/retry-matching",
			`{"callbackHost":"a.example","lastError":"no","limit":500,"namespace":"default","status":"dead"}`,
			[]string{"2 timers armed again"},
			"",
		},
		"dry run by error": {
			[]string{"timer", "retry", "--matching", "--status", "dead", "--last-error", "no", "--dry-run"},
			200, `{"matched":3,"applied":2,"late":0,"skipped":1}`, "timers/retry-matching",
			`{"dryRun":true,"lastError":"no","limit":500,"namespace":"default","status":"dead"}`,
			[]string{"2 timers in namespace default, with status dead, with last error no would be armed again"},
			"",
		},
		"purge of timers without a URL": {
			[]string{"timer", "purge", "--status", "dead", "--callback-host", "", "--yes"},
			200, `{"matched":1,"applied":1,"late":0,"skipped":0}`, "timers/purge-matching",
			`{"callbackHost":"","limit":500,"namespace":"default","status":"dead"}`,
			[]string{"1 timer purged"},
			"",
		},
		"dry run of a purge by host": {
			[]string{"timer", "purge", "--status", "dead", "--callback-host", "a.example", "--dry-run", "--json"},
			200, `{"matched":3,"applied":3,"late":0,"skipped":0}`, "timers/purge-matching",
			`{"callbackHost":"a.example","dryRun":true,"limit":500,"namespace":"default","status":"dead"}`,
			[]string{`"matched": 3`},
			"",
		},
		"retry by filter": {
			[]string{"timer", "retry", "-n", "shop", "--matching", "--status", "dead", "--at", "2030-01-01T00:00:00Z", "--yes"},
			200, `{"matched":3,"applied":2,"late":0,"skipped":1}`, "timers/retry-matching",
			`{"executeAt":"2030-01-01T00:00:00.000Z","limit":500,"namespace":"shop","status":"dead"}`,
			[]string{"2 timers armed again, 1 skipped that were deleted or changed meanwhile\n"},
			"",
		},
		"delete by filter": {
			[]string{
				"timer", "delete", "--matching", "--correlation-id", "c", "--due-from", "2020-01-01T00:00:00Z",
				"--due-before", "2021-01-01T00:00:00Z", "--page-size", "9", "--cursor", "abc", "-y",
			},
			200, `{"matched":1234,"applied":1234,"late":7,"skipped":0}`, "timers/delete-matching",
			`{"correlationId":"c","cursor":"abc","dueBefore":"2021-01-01T00:00:00.000Z","dueFrom":"2020-01-01T00:00:00.000Z","limit":9,"namespace":"default"}`,
			[]string{"1,234 timers deleted (earlier deliveries of 7 may have gone out)\n"},
			"",
		},
		"reschedule": {
			[]string{"timer", "reschedule", "--status", "retrying", "--shift-by", "-1h", "--yes", "--json"},
			200, `{"matched":1,"applied":1,"late":0,"skipped":0}`, "timers/reschedule-matching",
			`{"limit":500,"namespace":"default","shiftBy":"-1h","status":"retrying"}`,
			[]string{`"applied": 1`},
			"",
		},
		"purge": {
			[]string{"timer", "purge", "-n", "shop", "--status", "dead", "--due-before", "2021-01-01T00:00:00Z", "--yes"},
			200, `{"matched":3,"applied":2,"late":0,"skipped":1}`, "timers/purge-matching",
			`{"dueBefore":"2021-01-01T00:00:00.000Z","limit":500,"namespace":"shop","status":"dead"}`,
			[]string{"2 timers purged, 1 skipped that were removed meanwhile or whose event is not published yet\n"},
			"",
		},
		"dry run of a purge": {
			[]string{"timer", "purge", "--status", "done", "--dry-run"},
			200, `{"timers":[` + aTimer + `]}`, "timers/list", `{"limit":1000,"namespace":"default","status":"done"}`,
			[]string{"1 timer in namespace default, with status done would be purged\n"},
			"",
		},
		"dry run": {
			[]string{"timer", "delete", "--matching", "--status", "parked", "--dry-run"},
			200, `{"timers":[` + aTimer + `,` + aTimer + `]}`, "timers/list", `{"limit":1000,"namespace":"default","status":"parked"}`,
			[]string{"2 timers in namespace default, with status parked would be deleted\n"},
			"",
		},
		"shard list": {
			[]string{"shard", "list", "-n", "shop"},
			200, `{"namespace":"shop","shards":[
				{"shard":16,"partition":0,"version":3,"held":true,"node":"one","claimedAt":"2020-01-01T00:00:00.000Z","watermark":"2020-01-01T00:00:01.000Z","nextDueAt":"2020-01-01T00:00:02.000Z","overdueFor":"1m2s"},
				{"shard":17,"partition":1,"version":0,"held":false}]}`,
			"shards/list", `{"namespace":"shop"}`,
			[]string{
				"SHARD  PARTITION  NODE  VERSION  CLAIMED", "16     0          one   3        2020-01-01T00:00:00.000Z (",
				" 1m2s\n", "17     1          -     0        -  ",
			},
			"",
		},
		"flow list": {
			[]string{"flow", "list", "-n", "shop"},
			200, `{"namespace":"shop","flows":[
				{"flowKey":"tenant-1","limit":{"pattern":"tenant-*","rate":{"count":10,"per":"1s","burst":2},"concurrency":4},"running":3,"waiting":2,"backlog":70,"dispatchers":1},
				{"flowKey":"old","running":0,"waiting":1,"backlog":0,"dispatchers":1}]}`,
			"flows/list", `{"limit":1000,"namespace":"shop"}`,
			[]string{
				"FLOW KEY  LIMIT                                 RUNNING  WAITING  BACKLOG  DISPATCHERS\n",
				"tenant-1  tenant-*:10/1s,burst=2,concurrency=4  3        2        70       1\n", "old       -  ",
			},
			"",
		},
		"clock get": {
			[]string{"clock", "get"},
			200, `{"now":"2030-01-31T09:00:00.000Z","ahead":"72h","nextDueAt":"2030-02-01T09:00:00.000Z"}`,
			"clock/get", `{}`,
			[]string{"2030-01-31T09:00:00.000Z, 72h ahead of the machine's clock, next timer due 2030-02-01T09:00:00.000Z (in 24h0m0s)\n"},
			"",
		},
		"clock advance": {
			[]string{"clock", "advance", "3d", "--timeout", "5m"},
			200, `{"now":"2030-01-31T09:00:00.000Z","ahead":"72h"}`,
			"clock/advance", `{"by":"72h0m0s","timeout":"5m0s"}`,
			[]string{"2030-01-31T09:00:00.000Z, 72h ahead of the machine's clock, no timer is due later\n"},
			"",
		},
		"clock set": {
			[]string{"clock", "set", "2030-01-31T10:00:00+01:00", "--json"},
			200, `{"now":"2030-01-31T09:00:00.000Z","ahead":"72h"}`,
			"clock/set", `{"time":"2030-01-31T09:00:00.000Z","timeout":"1m0s"}`,
			[]string{`"ahead": "72h"`},
			"",
		},
		"flow limits": {
			[]string{"namespace", "update", "shop", "--flow", "tenant-*:10/1s,burst=2,concurrency=4", "--flow", "a:b:concurrency=1", "--json"},
			200, `{}`, "namespaces/update",
			`{"name":"shop","settings":{"flows":[{"concurrency":4,"pattern":"tenant-*","rate":{"burst":2,"count":10,"per":"1s"}},{"concurrency":1,"pattern":"a:b"}]}}`,
			nil, "",
		},
		"shard list, overdue ones": {
			[]string{"shard", "list", "--overdue", "1s", "--json"},
			200, `{"namespace":"default","shards":[{"shard":1,"partition":1,"version":1,"held":true,"overdueFor":"200ms"},{"shard":2,"partition":2,"version":1,"held":true,"overdueFor":"2s"}]}`,
			"shards/list", `{"namespace":"default"}`,
			[]string{`"shard": 2`},
			"",
		},
		"create with headers": {
			[]string{"timer", "create", "order-17", "--in", "1s", "--header", "X-Team: billing", "--header", "x-trace:a: b "},
			200, strings.Replace(aTimer, `"generation"`, `"headers":{"X-Team":"billing"},"generation"`, 1), "timers/create",
			`{"executeIn":"1s","headers":{"X-Team":"billing","x-trace":"a: b"},"id":"order-17","namespace":"default"}`, nil, "",
		},
		"get with headers": {
			[]string{"timer", "get", "order-17"},
			200, strings.Replace(aTimer, `"generation"`, `"headers":{"X-Team":"billing"},"generation"`, 1), "timers/get",
			`{"namespace":"default","timerId":"order-17"}`,
			[]string{"X-Team: billing"},
			"",
		},
		"update headers": {
			[]string{"timer", "update", "order-17", "--header", "X-Team: sales"},
			200, aTimer, "timers/update", `{"headers":{"X-Team":"sales"},"namespace":"default","timerId":"order-17"}`, nil, "",
		},
		"no headers": {
			[]string{"timer", "update", "order-17", "--clear", "header"},
			200, aTimer, "timers/update", `{"headers":null,"namespace":"default","timerId":"order-17"}`, nil, "",
		},
		"create with a topic": {
			[]string{"timer", "create", "order-17", "--in", "1s", "--topic", "orders.timeouts", "--key", "customer 7"},
			200, aTimer, "timers/create",
			`{"executeIn":"1s","id":"order-17","key":"customer 7","namespace":"default","topic":"orders.timeouts"}`, nil, "",
		},
		"get with a topic": {
			[]string{"timer", "get", "order-17"},
			200, strings.Replace(aTimer, `"generation"`, `"topic":"orders.timeouts","key":"customer 7","generation"`, 1), "timers/get",
			`{"namespace":"default","timerId":"order-17"}`,
			[]string{"orders.timeouts", "customer 7"},
			"",
		},
		"update topic and key": {
			[]string{"timer", "update", "order-17", "--topic", "orders.b", "--key", "k"},
			200, aTimer, "timers/update", `{"key":"k","namespace":"default","timerId":"order-17","topic":"orders.b"}`, nil, "",
		},
		"no topic": {
			[]string{"timer", "update", "order-17", "--clear", "topic"},
			200, aTimer, "timers/update", `{"key":null,"namespace":"default","timerId":"order-17","topic":null}`, nil, "",
		},
		"no key": {
			[]string{"timer", "update", "order-17", "--clear", "key"},
			200, aTimer, "timers/update", `{"key":null,"namespace":"default","timerId":"order-17"}`, nil, "",
		},
		"namespace with topics": {
			[]string{"namespace", "create", "n", "--preset", "small", "--event-topics", "orders.*,billing.timeouts"},
			200, strings.Replace(aNamespace, `"retryPolicy"`, `"eventTopics":["billing.timeouts","orders.*"],"retryPolicy"`, 1),
			"namespaces/create", `{"name":"n","preset":"small","settings":{"eventTopics":["orders.*","billing.timeouts"]}}`,
			[]string{"billing.timeouts, orders.*"},
			"",
		},
		"namespace without topics": {
			[]string{"namespace", "update", "n", "--clear", "event-topics"},
			200, aNamespace, "namespaces/update", `{"name":"n","settings":{"eventTopics":null}}`, nil, "",
		},
		"namespace with a secret": {
			[]string{"namespace", "create", "n", "--preset", "small", "--secret", "-", "--header", "X-Env: test", "--final-status", "404,409", "--ca", file},
			200, strings.Replace(aNamespace, `"retryPolicy"`, `"secrets":[{"id":"0a1b2c3d","createdAt":"2020-01-01T00:00:00.000Z"}],
				"headers":{"X-Env":"test"},"finalStatuses":[404,409],"tls":{"ca":"-----BEGIN CERTIFICATE-----","certificate":"x"},"retryPolicy"`, 1),
			"namespaces/create",
			`{"name":"n","preset":"small","settings":{"finalStatuses":[404,409],"headers":{"X-Env":"test"},"secrets":{"set":"\"from stdin\""},"tls":{"ca":"{\"from\":\"file\"}"}}}`,
			[]string{"0a1b2c3d, since 2020-01-01T00:00:00.000Z", "X-Env: test", "404 409", "1 certificates", "client certificate"},
			"",
		},
		"namespace rotates": {
			[]string{"namespace", "update", "n", "--rotate-secret", "@" + file, "--overlap", "24h"},
			200, aNamespace, "namespaces/update",
			`{"name":"n","settings":{"secrets":{"overlap":"24h0m0s","rotate":"{\"from\":\"file\"}"}}}`, nil, "",
		},
		"namespace drops a secret": {
			[]string{"namespace", "update", "n", "--remove-secret", "0a1b2c3d"},
			200, aNamespace, "namespaces/update", `{"name":"n","settings":{"secrets":{"remove":"0a1b2c3d"}}}`, nil, "",
		},
		"namespace shows a certificate": {
			[]string{"namespace", "update", "n", "--client-cert", file, "--client-key", file, "--clear", "ca"},
			200, aNamespace, "namespaces/update",
			`{"name":"n","settings":{"tls":{"ca":null,"certificate":"{\"from\":\"file\"}","key":"{\"from\":\"file\"}"}}}`, nil, "",
		},
		"namespace back to the defaults": {
			[]string{"namespace", "update", "n", "--clear", "secret,header,final-status,client-cert"},
			200, aNamespace, "namespaces/update",
			`{"name":"n","settings":{"finalStatuses":null,"headers":null,"secrets":null,"tls":{"certificate":null,"key":null}}}`, nil, "",
		},
		"namespace with OAuth 2.0": {
			[]string{
				"namespace", "update", "n", "--callback-auth", "oauth2", "--callback-token-url", "https://id/t", "--callback-client-id", "c",
				"--callback-auth-secret", "@" + file, "--callback-scopes", "a,b", "--callback-audience", "d",
			},
			200, strings.Replace(aNamespace, `"retryPolicy"`,
				`"callbackAuth":{"type":"oauth2","tokenUrl":"https://id/t","clientId":"c","scopes":["a","b"],"audience":"d"},"retryPolicy"`, 1),
			"namespaces/update",
			`{"name":"n","settings":{"callbackAuth":{"audience":"d","clientId":"c","clientSecret":"{\"from\":\"file\"}","scopes":["a","b"],"tokenUrl":"https://id/t","type":"oauth2"}}}`,
			[]string{"callback auth      oauth2\n", "https://id/t\n", "client id          c\n", "scopes             a b\n", "audience           d\n"},
			"",
		},
		"namespace with a password": {
			[]string{
				"namespace", "create", "n", "--preset", "small", "--callback-auth", "basic", "--callback-username", "u", "--callback-auth-secret", "-",
			},
			200, strings.Replace(aNamespace, `"retryPolicy"`, `"callbackAuth":{"type":"basic","username":"u"},"retryPolicy"`, 1),
			"namespaces/create",
			`{"name":"n","preset":"small","settings":{"callbackAuth":{"password":"\"from stdin\"","type":"basic","username":"u"}}}`,
			[]string{"callback auth      basic\n", "user name          u\n"},
			"",
		},
		"namespace with a fixed token": {
			[]string{"namespace", "update", "n", "--callback-auth", "bearer", "--callback-auth-secret", "-"},
			200, aNamespace, "namespaces/update",
			`{"name":"n","settings":{"callbackAuth":{"token":"\"from stdin\"","type":"bearer"}}}`, nil, "",
		},
		"namespace without authentication": {
			[]string{"namespace", "update", "n", "--clear", "callback-auth"},
			200, aNamespace, "namespaces/update", `{"name":"n","settings":{"callbackAuth":null}}`, nil, "",
		},
		"namespace seals anew": {
			[]string{"namespace", "update", "n", "--reseal"}, 200, aNamespace, "namespaces/update", `{"name":"n","settings":{}}`, nil, "",
		},
		"namespace create": {
			[]string{"namespace", "create", "n", "--shards", "16", "--callback-timeout", "10s", "--max-attempts-duration", "1h"},
			200, aNamespace, "namespaces/create",
			`{"name":"n","numShards":16,"settings":{"callbackTimeout":"10s","retryPolicy":{"maxAttemptsDuration":"1h0m0s"}}}`,
			[]string{"shards             16\n", "4 attempts, 30s apart at first, × 2, at most 1h\n"},
			"",
		},
		"namespace get": {
			[]string{"namespace", "get", "n", "--json"}, 200, aNamespace, "namespaces/get", `{"name":"n"}`, []string{`"numShards": 16`}, "",
		},
		"namespace update": {
			[]string{"namespace", "update", "n", "--keep-payload", "7d"}, 200, aNamespace, "namespaces/update", `{"name":"n","settings":{"keepPayload":"168h0m0s"}}`, nil, "",
		},
		"namespace keeps no payloads": {
			[]string{"namespace", "update", "n", "--keep-payload", "0"}, 200, aNamespace, "namespaces/update", `{"name":"n","settings":{"keepPayload":null}}`, nil, "",
		},
		"namespace retention": {
			[]string{"namespace", "update", "n", "--history-retention", "48h", "--dead-retention", "96h", "--host-concurrency", "8"}, 200, aNamespace, "namespaces/update", `{"name":"n","settings":{"deadRetention":"96h0m0s","historyRetention":"48h0m0s","hostConcurrency":8}}`, []string{"host concurrency   64\n"}, "",
		},
		"namespace results": {
			[]string{"namespace", "update", "n", "--results", "failures"},
			200, strings.Replace(aNamespace, `"hostConcurrency":64`, `"hostConcurrency":64,"results":"failures"`, 1),
			"namespaces/update", `{"name":"n","settings":{"results":"failures"}}`,
			[]string{"results            failures\n"},
			"",
		},
		"namespace without results": {
			[]string{"namespace", "create", "n", "--preset", "small", "--results", "off"},
			200, aNamespace, "namespaces/create",
			`{"name":"n","preset":"small","settings":{"results":"off"}}`, nil, "",
		},
		"namespace quotas": {
			[]string{"namespace", "update", "n", "--max-pending", "1000", "--creates-per-second", "0", "--max-payload", "2048"},
			200, strings.Replace(aNamespace, `"hostConcurrency":64`, `"hostConcurrency":64,"quota":{"maxPending":1000,"maxPayloadBytes":2048}`, 1),
			"namespaces/update", `{"name":"n","settings":{"quota":{"createsPerSecond":null,"maxPayloadBytes":2048,"maxPending":1000}}}`,
			[]string{"pending timers at most  1000\n", "payload bytes at most   2048\n"},
			"",
		},
		"namespace that is being deleted": {
			[]string{"namespace", "get", "n"},
			200, strings.Replace(aNamespace, `"createdAt":`, `"deletingSince":"2020-01-01T00:00:00.000Z","createdAt":`, 1),
			"namespaces/get", `{"name":"n"}`,
			[]string{"deleting since     2020-01-01T00:00:00.000Z\n"},
			"",
		},
		"namespace delete": {
			[]string{"namespace", "delete", "shop", "--if-version", "3", "--yes"},
			200, `{"pendingDeleted":1200,"late":3,"finishedPurged":1,"deleted":true}`, "namespaces/delete", `{"ifVersion":3,"name":"shop"}`,
			[]string{"deleted namespace shop with 1,200 pending timers (deliveries of 3 may have gone out) and 1 finished timer\n"},
			"",
		},
		"dry run of namespace delete": {
			[]string{"namespace", "delete", "shop", "--dry-run"},
			200, `{"dryRun":true,"pending":1,"finished":10000,"pendingDeleted":0,"late":0,"finishedPurged":0,"deleted":false}`,
			"namespaces/delete", `{"dryRun":true,"name":"shop"}`,
			[]string{"shop would be deleted with 1 pending timer and 10,000 or more finished timers\n"},
			"",
		},
		"namespace list": {
			[]string{"namespace", "list"},
			200, `{"namespaces":[` + aNamespace + `]}`, "namespaces/list", `{"limit":1000}`,
			[]string{"NAME  SHARDS  TIMEOUT  RETENTION  ATTEMPTS  CREATED\n", "n     16      30s      24h        4         2020-01-01T00:00:00.000Z\n"},
			"",
		},
		"namespace list as JSON": {
			[]string{"namespace", "list", "--json"}, 200, `{"namespaces":[` + aNamespace + `]}`, "namespaces/list", `{"limit":1000}`, []string{`"name": "n"`}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &fakeAPI{status: c.status, answer: c.answer}
			server := httptest.NewServer(fake)
			defer server.Close()
			t.Setenv("TIMERBUS_URL", server.URL)
			t.Setenv("TIMERBUS_TOKEN", "secret")
			got := commandWith(t, `"from stdin"`, c.args...)
			if failed := c.status >= 300; (got.code != exitOK) != failed {
				t.Errorf("exit code %d: %s", got.code, got.stderr)
			}
			if fake.path != c.path || fake.body != c.body || fake.token != "Bearer secret" {
				t.Errorf("asked %s %s\nwant  %s %s", fake.path, fake.body, c.path, c.body)
			}
			for _, part := range c.shows {
				if !strings.Contains(got.stdout, part) {
					t.Errorf("output does not show %q:\n%s", part, got.stdout)
				}
			}
			if !strings.Contains(got.stderr, c.showsInError) {
				t.Errorf("error output %q, want %q", got.stderr, c.showsInError)
			}
		})
	}
}

func TestListAllPages(t *testing.T) {
	hermetic(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Cursor string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		answer := `{"timers":[{"id":"first"}],"nextCursor":"2"}`
		if request.Cursor == "2" {
			answer = `{"timers":[{"id":"second"}]}`
		}
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	got := command(t, "timer", "list", "--all", "--json", "--url", server.URL)
	var page struct {
		Timers     []struct{ ID string }
		NextCursor string
	}
	if err := json.Unmarshal([]byte(got.stdout), &page); err != nil || len(page.Timers) != 2 || page.NextCursor != "" {
		t.Errorf("%+v, %v from %s%s", page, err, got.stdout, got.stderr)
	}
}

func TestWhen(t *testing.T) {
	now := time.Date(2030, 1, 31, 9, 0, 0, 0, time.UTC)
	for distance, want := range map[time.Duration]string{
		90 * time.Minute: "(in 1h30m0s)", -2 * time.Second: "(2s ago)", 100 * time.Millisecond: "(now)",
	} {
		if got := when(client.At(now.Add(distance)), now); !strings.HasSuffix(got, want) {
			t.Errorf("when(%v) = %s, want %s", distance, got, want)
		}
	}
	if got := when(client.At(time.Time{}), now); got != "-" {
		t.Errorf("when(never) = %s", got)
	}
}

// If a change of many timers fails midway, the command prints the cursor to continue from.
func TestAnInterruptedDeletionOfANamespaceTellsHowToContinue(t *testing.T) {
	hermetic(t)
	steps := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if steps++; steps > 1 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":"INTERNAL_ERROR","message":"it broke"}`)
			return
		}
		_, _ = io.WriteString(w, `{"pendingDeleted":500,"late":0,"finishedPurged":1,"deleted":false}`)
	}))
	defer server.Close()
	got := command(t, "namespace", "delete", "shop", "--yes", "--url", server.URL)
	want := "timerbus: namespaces/delete: it broke (INTERNAL_ERROR)\n" +
		"Run the same command again: it continues with the remaining timers.\n"
	if got.code != exitFailure || got.stderr != want {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "namespace", "delete", "shop", "--yes", "--url", server.URL); strings.Contains(got.stderr, "again") {
		t.Errorf("nothing was deleted, but there is a hint: %s", got.stderr)
	}
}

func TestChangesByFilterGoOnWhereTheyStopped(t *testing.T) {
	hermetic(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Cursor string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		if request.Cursor != "" {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":"INTERNAL_ERROR","message":"it broke"}`)
			return
		}
		_, _ = io.WriteString(w, `{"matched":5,"applied":5,"late":0,"skipped":0,"nextCursor":"second"}`)
	}))
	defer server.Close()
	got := command(t, "timer", "delete", "--matching", "--status", "parked", "--yes", "--url", server.URL)
	if got.code != exitFailure || got.stdout != "5 timers deleted\n" || !strings.Contains(got.stderr, "it broke (INTERNAL_ERROR)\ncontinue with --cursor second\n") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

func TestAQuestionIsAnsweredWithYes(t *testing.T) {
	filter := filterFlags{namespace: "shop", status: "parked", dueBefore: "2030-01-01T00:00:00Z"}
	work := change{filter: &filter, verb: "delete"}
	want := "delete 3 timers in namespace shop, with status parked, due before 2030-01-01T00:00:00Z? [y/N] "
	for answer, meant := range map[string]bool{"y\n": true, "YES \n": true, "\n": false, "n\n": false, "": false, "yellow\n": false} {
		var asked strings.Builder
		err := confirmed(strings.NewReader(answer), &asked, work.question(3))
		if (err == nil) != meant || asked.String() != want {
			t.Errorf("%q to %q: %v", answer, &asked, err)
		}
	}
	if got := work.question(askBelow); !strings.HasPrefix(got, "delete more than 9,999 timers in") {
		t.Errorf("asked %q", got)
	}
}

// TestACountStops: a confirmation reads no more pages than it needs.
func TestACountStops(t *testing.T) {
	pages := 0
	work := change{
		program: &program{stdout: io.Discard, stderr: io.Discard}, filter: &filterFlags{lastError: "no"},
		try: func(ctx context.Context, progress func(client.MatchingTotal)) (total client.MatchingTotal, _ error) {
			for ctx.Err() == nil && pages < 10 {
				pages++
				total.Applied += 40
				progress(total)
			}
			return total, ctx.Err()
		},
	}
	if n, err := work.count(t.Context(), nil, 100, work.progress(false)); n != 100 || err != nil || pages != 3 {
		t.Errorf("counted %d in %d pages: %v", n, pages, err)
	}
}

func TestCompletion(t *testing.T) {
	fake := &fakeAPI{status: http.StatusOK, answer: `{"namespaces":[{"name":"shop"}],"timers":[{"id":"order-17"}]}`}
	server := httptest.NewServer(fake)
	defer server.Close()
	for line, want := range map[string]string{
		"timer get ":               "order-17\n",
		"timer get -n shop ":       "order-17\n",
		"timer retry ":             "order-17\n",
		"timer watch ":             "order-17\n",
		"timer list -n ":           "shop\n",
		"namespace get ":           "shop\n",
		"shard list --namespace ":  "shop\n",
		"timer list --status ":     "parked\n",
		"timer retry --status ":    "dead\n",
		"timer create --deliver ":  "both\n",
		"namespace create --pres ": "",
		"timer get order-17 ":      "",
		"sha":                      "shard\t",
	} {
		hermetic(t)
		t.Setenv("TIMERBUS_URL", server.URL)
		got := command(t, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		if got.code != exitOK || !strings.Contains(got.stdout, want) || want == "" && strings.Contains(got.stdout, "order-17") {
			t.Errorf("%q: exit code %d: %q, want %q", line, got.code, got.stdout, want)
		}
	}
	// No service is running: nothing is offered, and no error is printed at the prompt.
	t.Setenv("TIMERBUS_URL", "http://127.0.0.1:1")
	if got := command(t, "__complete", "timer", "get", ""); got.code != exitOK || got.stdout != ":4\n" {
		t.Errorf("without a service: %d %q", got.code, got.stdout)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := command(t, "completion", shell); got.code != exitOK || !strings.Contains(got.stdout, "timerbus") {
			t.Errorf("completion %s: %d %s", shell, got.code, got.stderr)
		}
	}
}
