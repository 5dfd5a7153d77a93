package main

import (
	"os"
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
			if _, err := read([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestKindsOfFields(t *testing.T) {
	d, err := read([]byte(openAPI(t)))
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
