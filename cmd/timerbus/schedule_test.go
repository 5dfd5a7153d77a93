package main

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

const (
	aSchedule = `{"namespace":"default","id":"daily","status":"active","version":3,"nextAt":"2020-01-01T07:00:00.000Z","created":7,"count":10,
		"recent":["timerbus:3:daily@2020-01-01T07:00:00.000Z"],"timeZone":"Europe/Berlin","start":"2019-01-01T00:00:00.000Z",
		"specs":[{"cron":"0 8 * * *"},{"every":"15m","anchor":"2019-01-01T00:00:00.000Z"},{"dates":["2030-12-24T08:00:00"]}],
		"exclude":[{"from":"2030-12-24","until":"2030-12-26"},{"rrule":"FREQ=YEARLY"}],"gap":"next","repeated":"first","overlap":"skip",
		"catchUp":"all","catchUpWindow":"1m","pauseOnDead":5,"createdAt":"2019-01-01T00:00:00.000Z","updatedAt":"2019-01-01T00:00:00.000Z",
		"timer":{"deliver":"callback","callbackUrl":"http://x/\u001b[31m","callbackTimeout":"30s","payload":{"a":1},"retryPolicy":{"maxAttempts":4,"maxInterval":"1h"}}}`
	aPreview = `{"timeZone":"Europe/Berlin","zoneVersion":"2026b","occurrences":[
		{"at":"2030-03-31T01:00:00.000Z","local":"2030-03-31T03:00:00+02:00","remark":"gap"},
		{"at":"2030-04-01T00:30:00.000Z","local":"2030-04-01T02:30:00+02:00"}]}`
	aMatchingPage = `{"matched":3,"applied":2,"late":1,"skipped":1}`
	aBackfill     = `{"created":1000,"kept":2}`
)

// scheduleAPI answers with answers by path, and records the requests.
type scheduleAPI struct {
	answers map[string]string
	status  map[string]int
	asked   []string
}

func (f *scheduleAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	path := strings.TrimPrefix(r.URL.Path, "/api/v1/schedules/")
	f.asked = append(f.asked, path+" "+strings.TrimSpace(string(raw)))
	if status := f.status[path]; status != 0 {
		w.WriteHeader(status)
	}
	if err == nil && f.status[path] != http.StatusNoContent {
		_, _ = io.WriteString(w, f.answers[path])
	}
}

func TestScheduleCommandsAskTheAPI(t *testing.T) {
	hermetic(t)
	file := filepath.Join(t.TempDir(), "payload.json")
	if err := os.WriteFile(file, []byte(`{"from":"file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args         string // words; '_' in a word is a space
		status       map[string]int
		answers      map[string]string // in addition to those below
		asks         []string
		shows        []string
		hides        string // must not be in the output
		showsInError string
		fails        bool
	}{
		"create": {
			args: "create daily --cron 30_2_*_*_* --time-zone Europe/Berlin --callback-url http://x --payload @" + file + " --window 1m --max-attempts 2",
			asks: []string{
				`preview {"limit":5,"namespace":"default","specs":[{"cron":"30 2 * * *"}],"timeZone":"Europe/Berlin"}`,
				`create {"id":"daily","namespace":"default","specs":[{"cron":"30 2 * * *"}],"timeZone":"Europe/Berlin",` +
					`"timer":{"callbackUrl":"http://x","payload":{"from":"file"},"retryPolicy":{"maxAttempts":2},"window":"1m0s"}}`,
			},
			shows: []string{
				"the only 2 occurrences in Europe/Berlin (time zone database 2026b):\n",
				"LOCAL                           UTC                       REMARK\n",
				"Sun 2030-03-31 03:00:00 +02:00  2030-03-31T01:00:00.000Z  moved: the clocks skip its local time\n",
				"Mon 2030-04-01 02:30:00 +02:00  2030-04-01T00:30:00.000Z  -\n",
				"created daily in namespace default: next occurrence 2020-01-01T07:00:00.000Z (",
			},
		},
		"create with everything": {
			args: "create daily -n shop --preview 0 --cron 0_8_*_*_* --cron 0_9_*_*_* --rrule FREQ=DAILY --date 2030-12-24T08:00 --date 2030-12-25T08:00:01 " +
				"--every 15m --anchor 2019-01-01T01:00:00+01:00 --start 2030-01-01T00:00:00Z --end 2031-01-01T00:00:00Z " +
				"--exclude 2030-12-24 --exclude 2030-12-24..2030-12-26 --exclude rrule:FREQ=YEARLY;BYMONTH=1 --gap skip --repeated both --count 9 " +
				"--overlap cancelOther --catch-up all --catch-up-window 1d --pause-on-dead 3 --on-conflict keep " +
				"--deliver both --topic t --key k --header a:b --correlation-id c --flow-key f --on-done http://d --on-dead http://e --expire-after 1h " +
				"--callback-timeout 5s",
			asks: []string{
				`create {"catchUp":"all","catchUpWindow":"24h","count":9,"end":"2031-01-01T00:00:00.000Z","exclude":[{"from":"2030-12-24"},` +
					`{"from":"2030-12-24","until":"2030-12-26"},{"rrule":"FREQ=YEARLY;BYMONTH=1"}],"gap":"skip","id":"daily","namespace":"shop",` +
					`"onConflict":"keep","overlap":"cancelOther","pauseOnDead":3,"repeated":"both","specs":[{"cron":"0 8 * * *"},{"cron":"0 9 * * *"},` +
					`{"rrule":"FREQ=DAILY"},{"dates":["2030-12-24T08:00:00","2030-12-25T08:00:01"]},{"anchor":"2019-01-01T00:00:00.000Z","every":"15m"}],` +
					`"start":"2030-01-01T00:00:00.000Z","timer":{"callbackTimeout":"5s","correlationId":"c","deliver":"both","expireAfter":"1h0m0s",` +
					`"flowKey":"f","headers":{"a":"b"},"key":"k","onDead":"http://e","onDone":"http://d","topic":"t"}}`,
			},
			hides: "LOCAL",
		},
		"create with a count below the preview": {
			args: "create daily --every 15m --count 2",
			asks: []string{
				`preview {"limit":2,"namespace":"default","specs":[{"every":"15m"}]}`,
				`create {"count":2,"id":"daily","namespace":"default","specs":[{"every":"15m"}]}`,
			},
			shows: []string{"the only 2 occurrences in"},
		},
		"dry run of create": {
			args:  "create daily --every 15m --preview 2 --dry-run",
			asks:  []string{`preview {"limit":2,"namespace":"default","specs":[{"every":"15m"}]}`},
			shows: []string{"the next 2 occurrences in", "nothing was saved\n"},
			hides: "created",
		},
		"dry run of create as JSON": {
			args:  "create daily --every 15m --dry-run --json",
			asks:  []string{`preview {"limit":5,"namespace":"default","specs":[{"every":"15m"}]}`},
			shows: []string{`"zoneVersion": "2026b"`}, hides: "nothing was saved",
		},
		"create as JSON": {
			args:  "create daily --every 15m --json",
			asks:  []string{`create {"id":"daily","namespace":"default","specs":[{"every":"15m"}]}`},
			shows: []string{"{\n  "}, hides: "LOCAL",
		},
		"create late": {
			args: "create daily --every 15m --preview 0", status: map[string]int{"create": 202},
			asks:  []string{`create {"id":"daily","namespace":"default","specs":[{"every":"15m"}]}`},
			shows: []string{"an occurrence by the earlier definition may have been created at this moment\n"},
		},
		"create, spec refused": {
			args: "create daily --cron 0_8_*_*_* --rrule FREQ=NEVER", fails: true, status: map[string]int{"preview": 400},
			answers:      map[string]string{"preview": `{"error":"INVALID_INPUT","message":"specs[1].rrule: m","details":{"field":"specs[1].rrule"}}`},
			asks:         []string{`preview {"limit":5,"namespace":"default","specs":[{"cron":"0 8 * * *"},{"rrule":"FREQ=NEVER"}]}`},
			showsInError: "specs[1].rrule: m (INVALID_INPUT)\nThe value is from --rrule \"FREQ=NEVER\".\n",
		},
		"create, field of the timer refused": {
			args: "create daily --every 15m --callback-url x --preview 0", fails: true, status: map[string]int{"create": 400},
			answers:      map[string]string{"create": `{"error":"INVALID_INPUT","message":"m","details":{"field":"timer.callbackUrl"}}`},
			asks:         []string{`create {"id":"daily","namespace":"default","specs":[{"every":"15m"}],"timer":{"callbackUrl":"x"}}`},
			showsInError: "The value is from --callback-url.\n",
		},
		"create, exclusion refused": {
			args: "create daily --every 15m --exclude rrule:X --preview 0", fails: true, status: map[string]int{"create": 400},
			answers:      map[string]string{"create": `{"error":"INVALID_INPUT","message":"m","details":{"field":"exclude[0].rrule"}}`},
			asks:         []string{`create {"exclude":[{"rrule":"X"}],"id":"daily","namespace":"default","specs":[{"every":"15m"}]}`},
			showsInError: "The value is from --exclude \"rrule:X\".\n",
		},
		"create, exists": {
			args: "create daily --every 15m --preview 0 --on-conflict fail", fails: true, status: map[string]int{"create": 409},
			answers:      map[string]string{"create": `{"error":"SCHEDULE_EXISTS","message":"it exists"}`},
			asks:         []string{`create {"id":"daily","namespace":"default","onConflict":"fail","specs":[{"every":"15m"}]}`},
			showsInError: "it exists (SCHEDULE_EXISTS)",
		},
		"get": {
			args: "get daily", asks: []string{`get {"id":"daily","namespace":"default"}`},
			shows: []string{
				"status                active\n", "created               7 of 10\n", "spec                  cron 0 8 * * *\n",
				"spec                  every 15m from 2019-01-01T00:00:00.000Z\n", "spec                  dates 2030-12-24T08:00:00\n",
				"exclude               2030-12-24..2030-12-26\n", "exclude               rrule:FREQ=YEARLY\n", "catch up              all 1m\n",
				"pause on dead         5\n", "callback              http://x/·[31m\n", "payload               {\"a\":1}\n", "attempts              4\n",
				"recent                timerbus:3:daily@2020-01-01T07:00:00.000Z\n",
			},
		},
		"get a paused one": {
			args: "get --id -daily", answers: map[string]string{"get": strings.Replace(aSchedule, `"gap"`,
				`"pause":{"at":"2020-01-01T00:00:00.000Z","by":"alice","note":"holidays"},"gap"`, 1)},
			asks:  []string{`get {"id":"-daily","namespace":"default"}`},
			shows: []string{"paused at             2020-01-01T00:00:00.000Z\n", "paused by             alice\n", "note                  holidays\n"},
		},
		"get as JSON": {args: "get daily --json", asks: []string{`get {"id":"daily","namespace":"default"}`}, shows: []string{`"version": 3`}},
		"get, not there": {
			args: "get x", fails: true, status: map[string]int{"get": 404},
			answers: map[string]string{"get": `{"error":"SCHEDULE_NOT_FOUND","message":"there is no schedule \"x\""}`},
			asks:    []string{`get {"id":"x","namespace":"default"}`}, showsInError: `there is no schedule "x" (SCHEDULE_NOT_FOUND)`,
		},
		"update the policies": {
			args:  "update daily --overlap queue --catch-up all --catch-up-window 1h --pause-on-dead 7 --count 20 --pending delete --if-version 3",
			asks:  []string{`update {"catchUp":"all","catchUpWindow":"1h","count":20,"id":"daily","ifVersion":3,"namespace":"default","overlap":"queue","pauseOnDead":7,"pending":"delete"}`},
			shows: []string{"updated daily in namespace default: next occurrence 2020-01-01T07:00:00.000Z ("}, hides: "LOCAL",
		},
		// The preview has the present fields that the update does not change, and no more occurrences than are left of the count.
		"update the definition": {
			args: "update daily --cron 0_9_*_*_* --clear time-zone,exclude,end,count --start 2030-01-01T00:00:00Z --gap skip --repeated both", status: map[string]int{"update": 202},
			asks: []string{
				`get {"id":"daily","namespace":"default"}`,
				`preview {"gap":"skip","limit":5,"namespace":"default","repeated":"both","specs":[{"cron":"0 9 * * *"}],"start":"2030-01-01T00:00:00.000Z"}`,
				`update {"count":null,"end":null,"exclude":null,"gap":"skip","id":"daily","ifVersion":3,"namespace":"default","repeated":"both","specs":[{"cron":"0 9 * * *"}],"start":"2030-01-01T00:00:00.000Z","timeZone":null}`,
			},
			shows: []string{"LOCAL", "an occurrence by the earlier definition may have been created at this moment\n"},
		},
		"update the time zone": {
			args: "update daily --time-zone Europe/Lisbon --exclude 2030-12-24",
			asks: []string{
				`get {"id":"daily","namespace":"default"}`,
				`preview {"exclude":[{"from":"2030-12-24"}],"gap":"next","limit":3,"namespace":"default","repeated":"first","specs":[{"cron":"0 8 * * *"},{"anchor":"2019-01-01T00:00:00.000Z","every":"15m"},{"dates":["2030-12-24T08:00:00"]}],"start":"2019-01-01T00:00:00.000Z","timeZone":"Europe/Lisbon"}`,
				`update {"exclude":[{"from":"2030-12-24"}],"id":"daily","ifVersion":3,"namespace":"default","timeZone":"Europe/Lisbon"}`,
			},
		},
		"update the time zone as JSON": {
			args: "update daily --time-zone Europe/Lisbon --end 2031-01-01T00:00:00Z --json",
			asks: []string{`update {"end":"2031-01-01T00:00:00.000Z","id":"daily","namespace":"default","timeZone":"Europe/Lisbon"}`},
		},
		"dry run of update": {
			args: "update daily --overlap skip --dry-run --preview 2",
			asks: []string{
				`get {"id":"daily","namespace":"default"}`,
				`preview {"exclude":[{"from":"2030-12-24","until":"2030-12-26"},{"rrule":"FREQ=YEARLY"}],"gap":"next","limit":2,"namespace":"default","repeated":"first","specs":[{"cron":"0 8 * * *"},{"anchor":"2019-01-01T00:00:00.000Z","every":"15m"},{"dates":["2030-12-24T08:00:00"]}],"start":"2019-01-01T00:00:00.000Z","timeZone":"Europe/Berlin"}`,
			},
			shows: []string{"nothing was saved\n"}, hides: "updated",
		},
		// An update replaces the whole template, so the present fields are sent, too.
		"update the timer": {
			args: "update daily --callback-url http://y --max-attempts 9 --clear callback-timeout",
			asks: []string{
				`get {"id":"daily","namespace":"default"}`,
				`update {"id":"daily","ifVersion":3,"namespace":"default","timer":{"callbackUrl":"http://y","deliver":"callback","payload":{"a":1},"retryPolicy":{"maxAttempts":9,"maxInterval":"1h"}}}`,
			},
			hides: "LOCAL",
		},
		"update to a request": {
			args: "update daily --method PUT --body x --clear retry,callback-timeout",
			asks: []string{
				`get {"id":"daily","namespace":"default"}`,
				`update {"id":"daily","ifVersion":3,"namespace":"default","timer":{"callbackUrl":"http://x/` + "\\u001b" + `[31m","deliver":"callback","request":{"body":"x","method":"PUT"}}}`,
			},
		},
		"update from an event to a callback": {
			args: "update daily --callback-url http://y --payload 1", answers: map[string]string{"get": `{"version":4,"timer":{"deliver":"event","request":{"method":"GET"}}}`},
			asks: []string{
				`get {"id":"daily","namespace":"default"}`,
				`update {"id":"daily","ifVersion":4,"namespace":"default","timer":{"callbackUrl":"http://y","payload":1}}`,
			},
		},
		"update that leaves nothing of the timer": {
			args: "update daily --clear callback-url,deliver", answers: map[string]string{"get": `{"version":4,"timer":{"deliver":"callback","callbackUrl":"http://x"}}`},
			asks: []string{
				`get {"id":"daily","namespace":"default"}`,
				`update {"id":"daily","ifVersion":4,"namespace":"default","timer":{"deliver":"event"}}`,
			},
		},
		"update that comes second": {
			args: "update daily --callback-url http://y", fails: true, status: map[string]int{"update": 409},
			answers: map[string]string{"get": `{"version":4,"timer":{}}`, "update": `{"error":"VERSION_CONFLICT","message":"version 5"}`},
			asks: []string{
				`get {"id":"daily","namespace":"default"}`, `update {"id":"daily","ifVersion":4,"namespace":"default","timer":{"callbackUrl":"http://y"}}`,
			},
			showsInError: "version 5 (VERSION_CONFLICT)\nThe schedule was changed at the same time. Run the command again.\n",
		},
		"delete": {
			args: "delete daily --pending delete --if-version 3", status: map[string]int{"delete": 204},
			asks:  []string{`delete {"id":"daily","ifVersion":3,"namespace":"default","pending":"delete"}`},
			shows: []string{"deleted daily in namespace default: no occurrence follows\n"},
		},
		"delete late": {
			args: "delete daily", status: map[string]int{"delete": 202}, asks: []string{`delete {"id":"daily","namespace":"default"}`},
			shows: []string{"deleted daily in namespace default, but an occurrence may have been created at this moment\n"},
		},
		"delete as JSON": {
			args: "delete daily --json", status: map[string]int{"delete": 204}, asks: []string{`delete {"id":"daily","namespace":"default"}`},
			shows: []string{`"inTime": true`},
		},
		"list": {
			args: "list -n shop --status active --next-from 2030-01-01T00:00:00Z --next-before 2030-02-01T01:00:00+01:00 --limit 2 --cursor abc",
			asks: []string{`list {"cursor":"abc","limit":2,"namespace":"shop","nextBefore":"2030-02-01T00:00:00.000Z","nextFrom":"2030-01-01T00:00:00.000Z","status":"active"}`},
			shows: []string{
				"ID     STATUS  NEXT", "daily  active  2020-01-01T07:00:00.000Z (",
				"7 of 10  cron 0 8 * * *; every 15m from 2019-01-01T00:00:00.000Z; da…  Europe/Berlin\n",
			},
			showsInError: "there are more schedules: add --all, or --cursor next\n",
		},
		"pause": {
			args: "pause daily --note holidays", asks: []string{`pause {"id":"daily","namespace":"default","note":"holidays"}`},
			shows: []string{"paused daily in namespace default\n"},
		},
		"pause by filter": {
			args: "pause -n shop --matching --note closed --yes", answers: map[string]string{"pause-matching": aMatchingPage},
			asks: []string{`pause-matching {"limit":500,"namespace":"shop","note":"closed"}`},
			shows: []string{
				"2 schedules paused (1 may have created an occurrence at this moment), 1 skipped that were paused, parked, deleted or changed meanwhile\n",
			},
		},
		"resume by filter": {
			args: "resume -n shop --matching --page-size 7 --cursor x --yes", answers: map[string]string{"resume-matching": aMatchingPage},
			asks:  []string{`resume-matching {"cursor":"x","limit":7,"namespace":"shop","status":"paused"}`},
			shows: []string{"2 schedules resumed", "1 skipped that were resumed, deleted or changed meanwhile\n"},
		},
		"resume parked ones": {
			args: "resume --matching --status parked --yes --json", answers: map[string]string{"resume-matching": aMatchingPage},
			asks:  []string{`resume-matching {"limit":500,"namespace":"default","status":"parked"}`},
			shows: []string{`"applied": 2`},
		},
		"delete by filter": {
			args: "delete --matching --status paused --yes", answers: map[string]string{"delete-matching": aMatchingPage},
			asks:  []string{`delete-matching {"limit":500,"namespace":"default","status":"paused"}`},
			shows: []string{"2 schedules deleted", "1 skipped that were deleted or changed meanwhile\n"},
		},
		"dry run of a pause": {
			args:    "pause --matching --dry-run",
			asks:    []string{`list {"limit":1000,"namespace":"default"}`},
			answers: map[string]string{"list": `{"schedules":[` + aSchedule + `]}`},
			shows:   []string{"1 schedule in namespace default would be paused\n"},
		},
		"pause by filter of the next occurrence": {
			args: "pause -n shop --matching --next-from 2030-01-01T00:00:00Z --next-before 2030-02-01T00:00:00Z --yes", answers: map[string]string{"pause-matching": aMatchingPage},
			asks: []string{`pause-matching {"limit":500,"namespace":"shop","nextBefore":"2030-02-01T00:00:00.000Z","nextFrom":"2030-01-01T00:00:00.000Z"}`},
		},
		"resume by filter of the next occurrence": {
			args: "resume --matching --next-before 2030-02-01T00:00:00Z --yes", answers: map[string]string{"resume-matching": aMatchingPage},
			asks: []string{`resume-matching {"limit":500,"namespace":"default","nextBefore":"2030-02-01T00:00:00.000Z","status":"paused"}`},
		},
		"delete by filter of the next occurrence": {
			args: "delete --matching --next-from 2030-02-01T00:00:00Z --yes", answers: map[string]string{"delete-matching": aMatchingPage},
			asks: []string{`delete-matching {"limit":500,"namespace":"default","nextFrom":"2030-02-01T00:00:00.000Z"}`},
		},
		"count by filter of the next occurrence": {
			args:    "delete --matching --next-before 2030-02-01T00:00:00Z --dry-run",
			asks:    []string{`list {"limit":1000,"namespace":"default","nextBefore":"2030-02-01T00:00:00.000Z"}`},
			answers: map[string]string{"list": `{"schedules":[` + aSchedule + `]}`},
			shows:   []string{"1 schedule in namespace default, with the next occurrence before 2030-02-01T00:00:00Z would be deleted\n"},
		},
		"filter of a time that is none": {
			args: "delete --matching --next-before soon --yes", fails: true, showsInError: "--next-before",
		},
		"list by a time that is none": {
			args: "list --next-from soon", fails: true, showsInError: "--next-from",
		},
		"filter of the next occurrence without --matching": {
			args: "delete daily --next-before 2030-02-01T00:00:00Z", fails: true, showsInError: "--next-before selects many schedules and requires --matching",
		},
		"delete by filter without a status": {
			args: "delete --matching --yes", fails: true, showsInError: "delete by filter needs --status, --next-from or --next-before",
		},
		"a filter without --matching": {
			args: "pause daily --status active", fails: true, showsInError: "--status selects many schedules and requires --matching",
		},
		"--matching with a version": {
			args: "delete --matching --status paused --if-version 3", fails: true, showsInError: "--matching and --if-version exclude each other",
		},
		"a change without confirmation": {
			args: "delete --matching --status paused", fails: true, showsInError: "no terminal to confirm that all schedules in namespace default, with status paused are to be deleted",
		},
		"pause late": {
			args: "pause daily", status: map[string]int{"pause": 202}, asks: []string{`pause {"id":"daily","namespace":"default"}`},
			shows: []string{"paused daily in namespace default, but an occurrence may have been created at this moment\n"},
		},
		"resume": {
			args: "resume daily", answers: map[string]string{"resume": strings.Replace(aSchedule, "2020-01-01T07", "2100-01-01T07", 1)},
			asks:  []string{`resume {"id":"daily","namespace":"default"}`},
			shows: []string{"resumed daily in namespace default: next occurrence 2100-01-01T07:00:00.000Z (in "},
		},
		// The next instant is in the past until the schedule has left out the occurrences of the pause.
		"resume after instants of the pause": {
			args: "resume daily", asks: []string{`resume {"id":"daily","namespace":"default"}`}, shows: []string{"resumed daily in namespace default\n"},
		},
		"trigger": {
			args: "trigger daily", asks: []string{`trigger {"id":"daily","namespace":"default"}`},
			shows: []string{"created order-17 in namespace default: fires 2020-01-01T00:00:00.000Z ("},
		},
		"backfill": {
			args:  "backfill daily --from 2020-01-01T00:00:00Z --to 2020-02-01T01:00:00+01:00",
			asks:  []string{`backfill {"from":"2020-01-01T00:00:00.000Z","id":"daily","namespace":"default","to":"2020-02-01T00:00:00.000Z"}`},
			shows: []string{"1,000 occurrences created, 2 existed\n"},
		},
		"backfill as JSON": {
			args:  "backfill daily --from 2020-01-01T00:00:00Z --to 2020-02-01T00:00:00Z --json",
			asks:  []string{`backfill {"from":"2020-01-01T00:00:00.000Z","id":"daily","namespace":"default","to":"2020-02-01T00:00:00.000Z"}`},
			shows: []string{`"created": 1000`, `"kept": 2`}, hides: "nextFrom",
		},
		"preview of a schedule": {
			args: "preview daily --limit 3 --from 2030-03-30T00:00:00Z",
			answers: map[string]string{"preview": `{"timeZone":"UTC","zoneVersion":"v","occurrences":[
				{"at":"2030-10-27T00:30:00.000Z","local":"2030-10-27T02:30:00+02:00","remark":"first","timerId":"timerbus:3:daily@a"},
				{"at":"2030-10-27T01:30:00.000Z","local":"2030-10-27T02:30:00+01:00","remark":"second","timerId":"timerbus:3:daily@b"},
				{"at":"2030-10-28T01:30:00.000Z","local":"some time","remark":"later","timerId":"timerbus:3:daily@c"}]}`},
			asks: []string{`preview {"from":"2030-03-30T00:00:00.000Z","id":"daily","limit":3,"namespace":"default"}`},
			shows: []string{
				"the next 3 occurrences in UTC", "REMARK                                            TIMER ID\n",
				"first of two: the clocks repeat this local time   timerbus:3:daily@a\n",
				"second of two: the clocks repeat this local time  timerbus:3:daily@b\n", "some time", "later ",
			},
		},
		"preview of a definition": {
			args: "preview --rrule FREQ=DAILY --exclude 2030-12-24", answers: map[string]string{"preview": `{"timeZone":"UTC","zoneVersion":"v","occurrences":[]}`},
			asks:  []string{`preview {"exclude":[{"from":"2030-12-24"}],"limit":10,"namespace":"default","specs":[{"rrule":"FREQ=DAILY"}]}`},
			shows: []string{"there is no occurrence\n"},
		},
		"history": {
			args: "history daily --limit 2",
			asks: []string{`history {"id":"daily","limit":2,"namespace":"default"}`},
			shows: []string{
				"AT                        DECIDED                   DECISION  NEXT                      OCCURRENCE OR REASON\n",
				"2020-01-02T07:00:00.000Z  2020-01-02T07:00:00.001Z  skipped   2020-01-03T07:00:00.000Z  skipped: not·finished\n",
				"2020-01-01T07:00:00.000Z  2020-01-01T07:00:00.001Z  created   -                         timerbus:3:daily@x\n",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &scheduleAPI{status: c.status, answers: map[string]string{
				"create": aSchedule, "get": aSchedule, "update": aSchedule, "pause": aSchedule, "resume": aSchedule, "trigger": aTimer,
				"list": `{"schedules":[` + aSchedule + `],"nextCursor":"next"}`, "preview": aPreview, "backfill": aBackfill, "delete": "{}",
				"history": `{"decisions":[
					{"at":"2020-01-02T07:00:00.000Z","decidedAt":"2020-01-02T07:00:00.001Z","decision":"skipped","reason":"skipped: not\u0007finished","nextAt":"2020-01-03T07:00:00.000Z"},
					{"at":"2020-01-01T07:00:00.000Z","decidedAt":"2020-01-01T07:00:00.001Z","decision":"created","timerId":"timerbus:3:daily@x"}]}`,
			}}
			maps.Copy(fake.answers, c.answers)
			server := httptest.NewServer(fake)
			defer server.Close()
			args := []string{"schedule"}
			for word := range strings.FieldsSeq(c.args) {
				args = append(args, strings.ReplaceAll(word, "_", " "))
			}
			got := command(t, append(args, "--url", server.URL)...)
			if (got.code != exitOK) != c.fails {
				t.Errorf("exit code %d: %s", got.code, got.stderr)
			}
			if !slices.Equal(fake.asked, c.asks) {
				t.Errorf("asked\n%s\nwant\n%s", strings.Join(fake.asked, "\n"), strings.Join(c.asks, "\n"))
			}
			for _, part := range c.shows {
				if !strings.Contains(got.stdout, part) {
					t.Errorf("output does not show %q:\n%s", part, got.stdout)
				}
			}
			if c.hides != "" && strings.Contains(got.stdout, c.hides) {
				t.Errorf("output shows %q:\n%s", c.hides, got.stdout)
			}
			if !strings.Contains(got.stderr, c.showsInError) {
				t.Errorf("error output %q, want %q", got.stderr, c.showsInError)
			}
		})
	}
}

func TestScheduleCommandsRefuse(t *testing.T) {
	hermetic(t)
	refuses(t, map[string]string{
		"schedule":                                                      "want a command: create, get, update, delete, list, pause, resume, trigger, backfill, preview, history",
		"schedule get":                                                  "get needs ID",
		"schedule create --every 15m":                                   "create needs ID",
		"schedule create a":                                             "create needs --cron, --rrule, --date, --every",
		"schedule create a --at x":                                      "unknown flag: --at",
		"schedule create a --in 5m":                                     "unknown flag: --in",
		"schedule create a --expire-at x":                               "unknown flag: --expire-at",
		"schedule create a --cron=":                                     `--cron: "" is not accepted`,
		"schedule create a --rrule=":                                    `--rrule: "" is not accepted`,
		"schedule create a --every 10ms":                                `--every: "10ms" is not accepted: want at least 1s`,
		"schedule create a --every soon":                                `invalid argument "soon" for "--every"`,
		"schedule create a --date 24.12.":                               `--date: "24.12." is not accepted: want a local time such as 2030-12-24T08:00:00`,
		"schedule update a --anchor x":                                  "--anchor requires --every",
		"schedule create a --every 1m --anchor x":                       `--anchor: time: "x" is not accepted`,
		"schedule create a --every 1m --start x":                        `--start: time: "x" is not accepted`,
		"schedule create a --every 1m --end x":                          `--end: time: "x" is not accepted`,
		"schedule create a --every 1m --exclude x":                      `--exclude: "x" is not accepted: want a form such as 2030-12-24,`,
		"schedule create a --every 1m --exclude rrule:":                 `--exclude: "rrule:" is not accepted`,
		"schedule create a --every 1m --exclude 2030-12-24..":           `--exclude: "2030-12-24.." is not accepted`,
		"schedule create a --every 1m --exclude 2030-12-24..2030-12-23": `--exclude: "2030-12-24..2030-12-23" is not accepted`,
		"schedule create a --every 1m --count 0":                        "--count: 0 is not accepted: want at least 1",
		"schedule create a --every 1m --pause-on-dead -1":               "--pause-on-dead: -1 is not accepted: want at least 1",
		"schedule create a --every 1m --preview -1":                     "--preview: -1 is not accepted: want 0 to 1000",
		"schedule create a --every 1m --preview 0 --dry-run":            "--dry-run requires --preview to be at least 1",
		"schedule create a --every 1m --payload {":                      `--payload: "{" is not accepted: want JSON`,
		"schedule update a --clear colour":                              `--clear: "colour" is not accepted: want some of callback-timeout,`,
		"schedule update a --clear count --count 3":                     "--clear count and --count exclude each other",
		"schedule update a --clear payload --payload 3":                 "--clear payload and --payload exclude each other",
		"schedule update a --pending all":                               `--pending: "all" is not accepted: want keep or delete`,
		"schedule update a --if-version 0":                              "--if-version: 0 is not accepted",
		"schedule delete a --if-version 0":                              "--if-version: 0 is not accepted",
		"schedule delete a --pending x":                                 `--pending: "x" is not accepted`,
		"schedule backfill a --from 2020-01-01T00:00:00Z":               "backfill needs --to",
		"schedule backfill a --to 2020-01-01T00:00:00Z":                 "backfill needs --from",
		"schedule backfill a --from x --to 2020-01-01T00:00:00Z":        `--from: time: "x" is not accepted`,
		"schedule backfill a --from 2020-01-01T00:00:00Z --to x":        `--to: time: "x" is not accepted`,
		"schedule preview":                                              "preview needs ID, or --cron, --rrule, --date or --every",
		"schedule preview a --cron x":                                   "the ID of a schedule and --cron exclude each other",
		"schedule preview --id a --gap next":                            "the ID of a schedule and --gap exclude each other",
		"schedule preview --gap next":                                   "--gap requires --cron, --rrule, --date or --every",
		"schedule preview a --limit 0":                                  "--limit: 0 is not accepted: want 1 to 1000",
		"schedule preview a --from x":                                   `--from: time: "x" is not accepted`,
		"schedule trigger a b":                                          `"b" is not accepted: trigger wants ID`,
	})
}

func TestListAllSchedules(t *testing.T) {
	hermetic(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		answer := `{"schedules":[],"nextCursor":"2"}`
		if strings.Contains(string(raw), `"cursor":"2"`) {
			answer = `{"schedules":[` + aSchedule + `]}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	if got := command(t, "schedule", "list", "--all", "--url", server.URL); !strings.Contains(got.stdout, "daily") || got.stderr != "" {
		t.Errorf("list shows %s%s", got.stdout, got.stderr)
	}
	// Completion continues after an empty page, too.
	t.Setenv("TIMERBUS_URL", server.URL)
	for _, line := range []string{"schedule get ", "schedule preview ", "schedule backfill -n shop "} {
		if got := command(t, append([]string{"__complete"}, strings.Split(line, " ")...)...); !strings.HasPrefix(got.stdout, "daily\n") {
			t.Errorf("%q completes to %q", line, got.stdout)
		}
	}
	for line, want := range map[string]string{
		"schedule create --overlap ": "cancelOther\n", "schedule update --clear ": "time-zone\n", "schedule delete --pending ": "delete\n",
		"schedule create --deliver ": "both\n",
	} {
		if got := command(t, append([]string{"__complete"}, strings.Split(line, " ")...)...); !strings.Contains(got.stdout, want) {
			t.Errorf("%q completes to %q, want %q", line, got.stdout, want)
		}
	}
}

// A backfill that fails prints what it has created, and where to continue.
func TestABackfillThatBreaksTellsHowToContinue(t *testing.T) {
	hermetic(t)
	steps := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if steps++; steps > 1 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":"INTERNAL_ERROR","message":"it broke"}`)
			return
		}
		_, _ = io.WriteString(w, `{"created":1000,"kept":0,"nextFrom":"2020-01-15T00:00:00.000Z"}`)
	}))
	defer server.Close()
	args := []string{"schedule", "backfill", "daily", "--from", "2020-01-01T00:00:00Z", "--to", "2020-02-01T00:00:00Z", "--url", server.URL}
	got := command(t, args...)
	if got.code != exitFailure || got.stdout != "1,000 occurrences created\n" || !strings.Contains(got.stderr, "it broke (INTERNAL_ERROR)\ncontinue with --from 2020-01-15T00:00:00.000Z\n") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	steps = 0
	if got := command(t, append(args, "--json")...); !strings.Contains(got.stdout, `"nextFrom": "2020-01-15T00:00:00.000Z"`) {
		t.Errorf("as JSON: %s", got.stdout)
	}
	if got := command(t, args...); got.stdout != "" || !strings.Contains(got.stderr, "continue with --from 2020-01-01T00:00:00.000Z\n") {
		t.Errorf("nothing was created: %s%s", got.stdout, got.stderr)
	}
}

func TestLocalTimesHaveTheirDay(t *testing.T) {
	at := time.Date(2030, 3, 31, 3, 0, 0, 0, time.FixedZone("", -4*3600-30*60))
	if got, want := localTime(at.Format(time.RFC3339)), "Sun 2030-03-31 03:00:00 -04:30"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The template's flags are those of a timer without its time, so that the two lists do not diverge.
func TestTheTemplateHasTheFlagsOfATimer(t *testing.T) {
	p := &program{}
	timerFlags, scheduleFlags := (&timerCommands{program: p}).create().Flags(), (&scheduleCommands{program: p}).create().Flags()
	for _, name := range templateNames() {
		if timerFlags.Lookup(name) == nil || scheduleFlags.Lookup(name) == nil {
			t.Errorf("--%s is not a flag of both", name)
		}
	}
	timerFlags.VisitAll(func(f *pflag.Flag) {
		ofATimer := append(localNames(), "at", "at-local", "in", "expire-at", "on-conflict", "id")
		if !slices.Contains(templateNames(), f.Name) && !slices.Contains(ofATimer, f.Name) {
			t.Errorf("--%s is not among the flags of a template", f.Name)
		}
	})
}
