package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// messages are the models of the data of events, by the file of their schema in schemas/. The SDKs have no generated model of
// delivery.schema.json: their receivers of callbacks have the type Delivery.
var messages = []struct{ file, name string }{
	{"result.schema.json", "AttemptResult"},
	{"notice.schema.json", "DeadLetter"},
	{"answer.schema.json", "CommandAnswer"},
}

// retryPolicy is the model of a definition of values.schema.json: unlike the RetryPolicy of the OpenAPI document, it leaves out a
// maxAttemptsDuration of 0s.
const retryPolicy = "EventRetryPolicy"

// shared are the types of definitions of values.schema.json.
var shared = map[string]string{
	"instant": "Instant", "duration": "Duration", "deliver": "Deliver", "retryPolicy": retryPolicy, "request": "TimerRequest",
}

// typed are fields of messages whose type is in the OpenAPI document, which their schemas do not refer to.
var typed = map[string]string{
	"CommandAnswer.timer": "Timer", "CommandAnswer.schedule": "Schedule", "CommandAnswer.backfill": "ScheduleBackfill",
	"CommandAnswer.error": "ErrorCode", "AttemptResult.outcome": "Outcome", "DeadLetter.status": "Status",
}

// sent are the channels of asyncapi.yaml that Timerbus publishes to.
var sent = []string{"fired", "results", "dead"}

// readMessages adds the types of events, and the models of their data.
func (r *reader) readMessages(folder string) error {
	_, async, err := load(filepath.Join(folder, "asyncapi.yaml"))
	if err != nil {
		return err
	}
	types := &enum{name: "EventType", doc: "The type of an event on a topic of Timerbus."}
	for _, channel := range sent {
		for name := range at(async, "channels", channel, "messages") {
			types.values = append(types.values, str(at(async, "components", "messages", name)["name"]))
		}
	}
	slices.Sort(types.values)
	r.out.enums = append(r.out.enums, types)
	root, values, err := load(filepath.Join(folder, "values.schema.json"))
	if err != nil {
		return err
	}
	r.values = at(values, "$defs")
	if err := r.readMessage(retryPolicy, root, at(r.values, "retryPolicy"), "$defs", "retryPolicy"); err != nil {
		return fmt.Errorf("values.schema.json: %w", err)
	}
	for _, message := range messages {
		root, schema, err := load(filepath.Join(folder, message.file))
		if err != nil {
			return err
		}
		if err := r.readMessage(message.name, root, schema); err != nil {
			return fmt.Errorf("%s: %w", message.file, err)
		}
	}
	return nil
}

// readMessage adds the model of a schema, which is at the path of the document.
func (r *reader) readMessage(name string, root *yaml.Node, schema node, path ...string) error {
	m := &model{name: name, doc: str(schema["description"]), answer: true, message: true}
	for _, property := range order(root, append(path, "properties")...) {
		p := at(schema, "properties", property)
		v, err := r.messageValue(name, property, p)
		if err != nil {
			return fmt.Errorf("%s: %w", property, err)
		}
		doc := str(p["description"])
		if doc == "" && v.kind != instant && v.kind != duration { // those describe the text in JSON
			doc = str(at(r.values, last(str(p["$ref"])))["description"])
		}
		// null is a value of a required payload.
		required := slices.Contains(strs(schema["required"]), property) && v.kind != anything
		m.fields = append(m.fields, field{name: property, doc: doc, value: v, required: required})
		if v.kind == object {
			if r.out.model(v.name) == nil {
				return fmt.Errorf("%s: there is no object %s in the OpenAPI document: update typed or shared in tools/sdktypes/messages.go",
					property, v.name)
			}
			r.mark(v.name, func(m *model) *bool { return &m.answer })
		}
		r.out.fields[property] = true
	}
	r.out.models = append(r.out.models, m)
	return nil
}

func (r *reader) messageValue(owner, property string, p node) (value, error) {
	if name := typed[owner+"."+property]; name != "" {
		i := slices.IndexFunc(r.out.enums, func(e *enum) bool { return e.name == name })
		if i < 0 {
			return r.named(owner, property, name)
		}
		for _, one := range strs(p["enum"]) {
			if !slices.Contains(r.out.enums[i].values, one) {
				return value{}, fmt.Errorf("%s has no value %q", name, one)
			}
		}
		return value{kind: enumeration, name: name}, nil
	}
	_, definition, isShared := strings.Cut(str(p["$ref"]), "#/$defs/")
	switch {
	case shared[definition] == retryPolicy:
		return value{kind: object, name: retryPolicy}, nil
	case shared[definition] != "":
		return r.named(owner, property, shared[definition])
	case isShared:
		return r.valueOf(owner, property, at(r.values, definition))
	}
	return r.valueOf(owner, property, p)
}

// load reads a document of YAML or JSON, with the order of its keys.
func load(file string) (*yaml.Node, node, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	return parse(raw)
}

func parse(raw []byte) (*yaml.Node, node, error) {
	var root yaml.Node
	var tree node
	if err := yaml.Unmarshal(raw, &root); err != nil {
		return nil, nil, err
	}
	if err := yaml.Unmarshal(raw, &tree); err != nil {
		return nil, nil, err
	}
	return root.Content[0], tree, nil
}
