package event_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/schemas"
)

// dataSchemas returns the schema of the data of each type.
func dataSchemas() map[string]string {
	return map[string]string{
		event.TypeCreate: "create", event.TypeUpdate: "update", event.TypeDelete: "delete",
		event.TypePause: "pause", event.TypeResume: "resume",
		event.TypeCreateSchedule: "schedule-create", event.TypeUpdateSchedule: "schedule-update",
		event.TypeDeleteSchedule: "schedule-delete", event.TypePauseSchedule: "schedule-pause",
		event.TypeResumeSchedule: "schedule-selection", event.TypeTriggerSchedule: "schedule-selection",
		event.TypeBackfillSchedule: "schedule-backfill",
		event.TypeFired:            "delivery", event.TypeResult: "result",
		event.TypeDead: "notice", event.TypeParked: "notice",
		event.TypeApplied: "answer", event.TypeRefused: "answer",
	}
}

// compiler has all schemas by their $id, and by their file names as URLs relative to it.
type compiler struct {
	*jsonschema.Compiler

	base string
}

func newCompiler(t *testing.T) compiler {
	t.Helper()
	c := compiler{Compiler: jsonschema.NewCompiler()}
	c.AssertFormat()
	files, err := fs.Glob(schemas.FS, "*.schema.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	for _, file := range files {
		doc := readJSON(t, file)
		members, _ := doc.(map[string]any)
		schemaID, _ := members["$id"].(string)
		if path.Base(schemaID) != file {
			t.Errorf("%s has $id %q, want one that ends in its name", file, schemaID)
		}
		c.base = strings.TrimSuffix(schemaID, file)
		if err := c.AddResource(schemaID, doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	for _, file := range files {
		c.schema(t, strings.TrimSuffix(file, ".schema.json"))
	}
	return c
}

func (c compiler) schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := c.Compile(c.base + name + ".schema.json")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

func readJSON(t *testing.T, file string) any {
	t.Helper()
	raw, err := fs.ReadFile(schemas.FS, file)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, raw)
}

func parse(t *testing.T, raw []byte) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestVectorsFollowTheirSchemas(t *testing.T) {
	c := newCompiler(t)
	envelope := c.schema(t, "cloudevent")
	seen := map[string]bool{}
	for name, v := range readVectors(t) {
		t.Run(name, func(t *testing.T) {
			if err := envelope.Validate(parse(t, []byte(v.Structured.Body))); err != nil {
				t.Errorf("structured: %v", err)
			}
			eventType := v.Binary.Headers["ce_type"]
			seen[eventType] = true
			data := c.schema(t, dataSchemas()[eventType])
			doc := parse(t, []byte(v.Binary.Body))
			if err := data.Validate(doc); err != nil {
				t.Errorf("binary: %v", err)
			}
			members, _ := doc.(map[string]any)
			for member := range members {
				if data.Properties[member] == nil {
					t.Errorf("%s has a member %s that its schema does not name", eventType, member)
				}
			}
		})
	}
	for eventType := range dataSchemas() {
		if !seen[eventType] {
			t.Errorf("no vector of type %s", eventType)
		}
	}
}

// A schema that accepts everything would pass the test above.
func TestSchemasRefuse(t *testing.T) {
	c := newCompiler(t)
	for name, bad := range map[string][]string{
		"schedule-create": {
			`{}`, `{"id":"a"}`, `{"specs":[{"every":"1h"}]}`, `{"id":"a","specs":[]}`, `{"id":"a","specs":[{"weekly":true}]}`,
			`{"id":"a","specs":[{"cron":null}]}`, `{"id":"a","specs":[{"every":"1h"}],"timer":{"executeIn":"1s"}}`,
			`{"id":"a","specs":[{"every":"1h"}],"gap":"both"}`,
		},
		"schedule-update":    {`{}`, `{"id":"a","ifVersion":0}`, `{"id":"a","onConflict":"fail"}`},
		"schedule-delete":    {`{}`, `{"id":"a","pending":"all"}`},
		"schedule-pause":     {`{}`, `{"id":"a","note":1}`},
		"schedule-selection": {`{}`, `{"id":""}`, `{"id":"a","note":"n"}`},
		"schedule-backfill":  {`{"id":"a"}`, `{"id":"a","from":"2026-05-04T00:00:00Z"}`, `{"id":"a","from":"yesterday","to":"2026-05-04T00:00:00Z"}`},
		"create": {
			`{}`, `[]`, `{"namespace":"a","executeIn":"1s"}`, `{"namespace":"a","id":null,"executeIn":"1s"}`,
			`{"namespace":"a","id":"b"}`, `{"namespace":"a","id":"b","executeIn":null}`,
			`{"namespace":"a b","id":"b","executeIn":"1s"}`,
			`{"namespace":"a","id":"b","executeIn":"1s","executeAt":"2026-01-01T00:00:00Z"}`,
			`{"namespace":"a","id":"b","executeIn":"1 second"}`,
			`{"namespace":"a","id":"b","executeAt":"tomorrow"}`,
			`{"namespace":"a","id":"\u0007","executeIn":"1s"}`,
			`{"namespace":"a","id":"b","executeIn":"1s","callbackUrl":"ftp://x"}`,
			`{"namespace":"a","id":"b","executeIn":"1s","colour":1}`,
			`{"namespace":"a","id":"b","executeIn":"1s","retryPolicy":{"maxAttempts":0}}`,
		},
		"update":            {`{"namespace":"a"}`, `{"namespace":"a","id":"b","executeAt":null}`, `{"namespace":"a","id":"b","onConflict":"keep"}`},
		"delete":            {`{"namespace":"a"}`, `{"namespace":"a","id":"b","payload":1}`},
		"pause":             {`{"namespace":"a"}`, `{"namespace":"a","id":"b","note":1}`, `{"namespace":"a","id":"b","note":"` + strings.Repeat("x", timer.MaxPauseNote+1) + `"}`},
		"resume":            {`{"namespace":"a"}`, `{"namespace":"a","id":"b","overdue":"drop"}`, `{"namespace":"a","id":"b","note":"n"}`},
		"delivery":          {`{"namespace":"a"}`},
		"callback-response": {`[]`, `{"ok":"yes"}`, `{"nextExecuteAt":"soon"}`},
		"result":            {`{"outcome":"failed"}`},
		"notice":            {`{"status":"done"}`},
		"answer":            {`{"commandId":"1"}`, `{"commandId":"1","error":"NO"}`, `{"commandId":"1","error":"NO","message":"","inTime":false}`},
		"cloudevent":        {minimal, `{"specversion":"1.0","id":"1","source":"me","type":"x","data":{}}`},
	} {
		for _, doc := range bad {
			if c.schema(t, name).Validate(parse(t, []byte(doc))) == nil {
				t.Errorf("%s accepts %s", name, doc)
			}
		}
	}
}

// The pattern of durations accepts the same strings as timer.ParseDuration.
func TestDurationPatternFollowsTheParser(t *testing.T) {
	s := newCompiler(t).schema(t, "create")
	for _, text := range []string{"1d", "1d12h", "1.5d", "2d3h4m5.5s", "200ms", "1h30m", "", "d", "1h1d", "1dd", "1 d", "1d-1h", "soon", "1"} {
		_, err := timer.ParseDuration(text)
		invalid := s.Validate(parse(t, fmt.Appendf(nil, `{"namespace":"a","id":"b","executeIn":%q}`, text)))
		if (err == nil) != (invalid == nil) {
			t.Errorf("%q: the parser says %v, the schema %v", text, err, invalid)
		}
	}
}

func TestExamplesFollowTheirSchemas(t *testing.T) {
	c := newCompiler(t)
	for _, name := range []string{"create", "update", "delete", "pause", "resume", "callback-response"} {
		s := c.schema(t, name)
		if len(s.Examples) == 0 {
			t.Errorf("%s has no examples", name)
		}
		for _, example := range s.Examples {
			if err := s.Validate(example); err != nil {
				t.Error(err)
			}
		}
	}
}

// The same request has two descriptions, one for HTTP and one for the topic.
func TestCommandsAreTheRequestsOfTheHTTPAPI(t *testing.T) {
	c := newCompiler(t)
	raw, err := fs.ReadFile(schemas.FS, "openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for ours, theirs := range map[string]string{
		"create": "CreateTimerRequest", "update": "UpdateTimerRequest", "delete": "DeleteTimerRequest",
		"pause": "PauseTimerRequest", "resume": "ResumeTimerRequest",
	} {
		request, _ := resolve(doc, "/components/schemas/"+theirs+"/properties").(map[string]any)
		want := slices.Sorted(maps.Keys(request))
		if got := slices.Sorted(maps.Keys(c.schema(t, ours).Properties)); !slices.Equal(got, want) {
			t.Errorf("%s has %v, but %s has %v", ours, got, theirs, want)
		}
	}
}

// TestSchemasOfRequestsHaveNoDefaults: openapi-typescript makes a field with a default required. Defaults are in the
// descriptions.
func TestSchemasOfRequestsHaveNoDefaults(t *testing.T) {
	raw, err := fs.ReadFile(schemas.FS, "openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct{ Schemas map[string]any }
	}
	if err := yaml.Unmarshal(raw, &doc); err != nil || len(doc.Components.Schemas) < 30 {
		t.Fatalf("%d schemas, %v", len(doc.Components.Schemas), err)
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if value, ok := v["default"]; ok && !strings.HasSuffix(path, "/properties") {
				t.Errorf("%s has the default %v", path, value)
			}
			for name, member := range v {
				walk(path+"/"+name, member)
			}
		case []any:
			for _, element := range v {
				walk(path, element)
			}
		}
	}
	walk("#/components/schemas", doc.Components.Schemas)
}

// TestAsyncAPI checks that every reference resolves, that every operation and channel names its messages, and that the
// document names exactly the existing types.
func TestAsyncAPI(t *testing.T) {
	c := newCompiler(t)
	raw, err := fs.ReadFile(schemas.FS, "asyncapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc["asyncapi"] != "3.0.0" {
		t.Errorf("asyncapi: %v, want 3.0.0", doc["asyncapi"])
	}
	for _, ref := range refs(doc) {
		if file, local := strings.CutPrefix(ref, "#"); local {
			if resolve(doc, file) == nil {
				t.Errorf("%s leads nowhere", ref)
			}
			continue
		}
		name, ok := strings.CutSuffix(ref, ".schema.json")
		if !ok {
			t.Errorf("%s is neither local nor one of the schemas", ref)
			continue
		}
		c.schema(t, name)
	}

	described := map[string]string{}
	messages, _ := resolve(doc, "/components/messages").(map[string]any)
	for key := range messages {
		name, _ := resolve(doc, "/components/messages/"+key+"/name").(string)
		payload, _ := resolve(doc, "/components/messages/"+key+"/payload/$ref").(string)
		described[name] = strings.TrimSuffix(payload, ".schema.json")
	}
	if !maps.Equal(described, dataSchemas()) {
		t.Errorf("asyncapi.yaml describes %v, want %v", described, dataSchemas())
	}
	channels, _ := doc["channels"].(map[string]any)
	if got := slices.Sorted(maps.Keys(channels)); !slices.Equal(got, []string{"commands", "dead", "fired", "own", "results"}) {
		t.Errorf("channels %v", got)
	}
	if got := resolve(doc, "/channels/own/messages"); !reflect.DeepEqual(got, resolve(doc, "/channels/fired/messages")) {
		t.Errorf("topics of timers' own carry %v, want what the common one does", got)
	}
	delete(channels, "own")
	sent := 0
	for key := range channels {
		if resolve(doc, "/channels/"+key+"/address") != "timerbus."+key {
			t.Errorf("channel %s has address %v", key, resolve(doc, "/channels/"+key+"/address"))
		}
		ofChannel, _ := resolve(doc, "/channels/"+key+"/messages").(map[string]any)
		sent += len(ofChannel)
	}
	if sent != len(described) {
		t.Errorf("the channels carry %d messages, want each of the %d once", sent, len(described))
	}
}

// refs lists every $ref below a node.
func refs(node any) []string {
	var found []string
	switch n := node.(type) {
	case map[string]any:
		for key, value := range n {
			if ref, ok := value.(string); ok && key == "$ref" {
				found = append(found, ref)
				continue
			}
			found = append(found, refs(value)...)
		}
	case []any:
		for _, value := range n {
			found = append(found, refs(value)...)
		}
	}
	return found
}

// resolve follows a JSON pointer through objects; it returns nil if the target does not exist.
func resolve(node any, pointer string) any {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		step, err := url.PathUnescape(step)
		if err != nil {
			return nil
		}
		members, _ := node.(map[string]any)
		node = members[step]
	}
	return node
}

// People read the schemas too: each has a description.
func TestSchemasSayWhatTheyAre(t *testing.T) {
	files, err := fs.Glob(schemas.FS, "*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := fs.ReadFile(schemas.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Schema      string `json:"$schema"`
			Title       string `json:"title"`
			Description string `json:"description"`
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if doc.Schema != "https://json-schema.org/draft/2020-12/schema" || doc.Title == "" || doc.Description == "" {
			t.Errorf("%s: $schema %q, title %q, description %q", file, doc.Schema, doc.Title, doc.Description)
		}
	}
}

// The examples of docs/events.md, in their order.
func TestDocumentedExamplesFollowTheirSchemas(t *testing.T) {
	c := newCompiler(t)
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)\n```|nats [^']*req timerbus.commands '(.*?)'\n").FindAllSubmatch(text, -1)
	want := []string{"cloudevent", "cloudevent", "answer", "delivery", "result", "notice"}
	if len(blocks) != len(want) {
		t.Fatalf("%d examples, want %d: %v", len(blocks), len(want), want)
	}
	for i, name := range want {
		if err := c.schema(t, name).Validate(parse(t, slices.Concat(blocks[i][1], blocks[i][2]))); err != nil {
			t.Errorf("example %d: %v", i+1, err)
		}
	}
}
