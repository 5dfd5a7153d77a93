package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openAPI(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../schemas/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestListsOfTheGeneratorAreChecked: a field that was renamed in the document must not lose its type, and a duration must be a Duration.
func TestListsOfTheGeneratorAreChecked(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"a left out field is gone": {
			"        maxRetries:", "        retries:", "there is no field RetryPolicyInput.maxRetries",
		},
		"a duration is a string": {
			"        shiftBy:\n          allOf: [{$ref: \"#/components/schemas/Duration\"}]", "        shiftBy:\n          type: string",
			`RescheduleMatchingRequest.shiftBy: a string with the example "-30m" is not accepted`,
		},
		"an enumeration is moved": {"        onConflict:", "        ifExists:", "CreateTimerRequest.ifExists: the enumeration has no name"},
		"a new type":              {"type: boolean", "type: truth", "unknown type truth"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.ReplaceAll(openAPI(t), c.from, c.to)
			if _, err := read([]byte(changed), "../../schemas"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

// TestTypesOfEventsAreChecked: the types of events must agree with those of the OpenAPI document.
func TestTypesOfEventsAreChecked(t *testing.T) {
	for name, c := range map[string]struct{ file, from, to, want string }{
		"a value that the API does not have": {"result.schema.json", `"expired"`, `"forgotten"`, `outcome: Outcome has no value "forgotten"`},
		"an enumeration without a name":      {"answer.schema.json", `"verb"`, `"action"`, "action: the enumeration has no name"},
		"a new type": {
			"notice.schema.json", `"type": "boolean"`, `"type": "truth"`, "payloadOmitted: unknown type truth",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS("../../schemas")); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(filepath.Join(folder, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, c.file), []byte(strings.ReplaceAll(string(raw), c.from, c.to)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := read([]byte(openAPI(t)), folder); err == nil || !strings.Contains(err.Error(), c.file+": "+c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestTypesOfEvents(t *testing.T) {
	d, err := read([]byte(openAPI(t)), "../../schemas")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.enums, func(e *enum) bool { return e.name == "EventType" })
	if want := []string{
		"timerbus.command.applied", "timerbus.command.refused", "timerbus.timer.dead", "timerbus.timer.fired", "timerbus.timer.parked",
		"timerbus.timer.result",
	}; i < 0 || !slices.Equal(d.enums[i].values, want) {
		t.Errorf("EventType is %v, want %v", d.enums, want)
	}
	kinds := map[string]kind{}
	for _, m := range []string{"AttemptResult", "DeadLetter", "CommandAnswer"} {
		for _, f := range d.model(m).fields {
			kinds[m+"."+f.name] = f.value.kind
		}
	}
	for field, want := range map[string]kind{
		"AttemptResult.outcome": enumeration, "AttemptResult.nextAt": instant, "AttemptResult.attempt": integer, "DeadLetter.payload": anything,
		"DeadLetter.callbackTimeout": duration, "DeadLetter.retryPolicy": object, "DeadLetter.headers": texts, "CommandAnswer.timer": object,
		"CommandAnswer.inTime": boolean, "CommandAnswer.message": text,
	} {
		if got, ok := kinds[field]; !ok || got != want {
			t.Errorf("%s has the kind %d (present: %t), want %d", field, got, ok, want)
		}
	}
}

func TestKindsOfFields(t *testing.T) {
	d, err := read([]byte(openAPI(t)), "../../schemas")
	if err != nil {
		t.Fatal(err)
	}
	create, timer := d.model("CreateTimerRequest"), d.model("Timer")
	if !create.request || !create.answer || timer.request || !timer.answer {
		t.Errorf("CreateTimerRequest: request %t, answer %t; Timer: request %t, answer %t", create.request, create.answer, timer.request, timer.answer)
	}
	want := map[string]kind{
		"id": text, "executeAt": instant, "executeIn": duration, "executeAtLocal": local, "deliver": enumeration, "retryPolicy": object,
		"payload": anything, "headers": texts, "onConflict": enumeration,
	}
	for i := range create.fields {
		f := &create.fields[i]
		if k, ok := want[f.name]; ok && k != f.value.kind {
			t.Errorf("%s has the kind %d, want %d", f.name, f.value.kind, k)
		}
		delete(want, f.name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
