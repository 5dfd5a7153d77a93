package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kind is the type of a value in the SDKs.
type kind int

const (
	text kind = iota
	integer
	float
	boolean
	anything
	instant
	duration
	local // a time without an offset
	enumeration
	object
	list
	texts // an object with strings
)

type value struct {
	kind kind
	name string // of an enumeration or object
	item *value // of a list
	// template is an object without the field that identifies it.
	template bool
}

type field struct {
	name     string // in JSON
	doc      string
	value    value
	required bool
	nullable bool
}

// model is an object. A request is one that clients send, an answer one that they get. Some are both. A message is an answer on a topic,
// whose sender a client does not know: it must have the required fields.
type model struct {
	name                     string
	doc                      string
	fields                   []field
	request, answer, message bool
}

// required returns the names of the required fields.
func (m *model) required() []string {
	var names []string
	for i := range m.fields {
		if m.fields[i].required {
			names = append(names, m.fields[i].name)
		}
	}
	return names
}

type enum struct {
	name, doc string
	values    []string
}

type document struct {
	models []*model
	enums  []*enum
	fields map[string]bool // the names of all fields
}

// durationText matches a duration of the API.
var durationText = regexp.MustCompile(`^-?(\d+(\.\d+)?(ns|us|ms|s|m|h|d))+$`)

// left out are the second forms of fields, which the SDKs do not need because they have types for durations.
var leftOut = []string{
	"RetryPolicyInput.maxRetries", "CreateTimerRequest.callbackTimeoutSeconds", "UpdateTimerRequest.callbackTimeoutSeconds",
	"NamespaceSettingsInput.callbackTimeoutSeconds",
}

// names of enumerations that the document defines in a field.
var inline = map[string]string{
	"CreateTimerRequest.onConflict": "OnConflict", "CreateScheduleRequest.onConflict": "OnConflict",
	"UpdateTimerRequest.deliver": "Deliver",
	"HistoryEntry.outcome":       "Outcome", "ScheduleDecision.decision": "Decision", "ScheduleOccurrence.remark": "Remark",
	"TimerChange.type": "ChangeType", "CommandAnswer.verb": "CommandVerb",
}

type node = map[string]any

// order returns the keys of a mapping in the order of the file.
func order(n *yaml.Node, path ...string) []string {
	for _, key := range path {
		found := false
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				n, found = n.Content[i+1], true
				break
			}
		}
		if !found {
			return nil
		}
	}
	var keys []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i].Value)
	}
	return keys
}

type reader struct {
	schemas node
	values  node // the definitions of values.schema.json
	out     *document
	seen    map[string]bool // the parts of leftOut that the document has
}

// read reads the OpenAPI document, and the schemas of events in the folder.
func read(raw []byte, folder string) (*document, error) {
	root, tree, err := parse(raw)
	if err != nil {
		return nil, err
	}
	schemas := at(tree, "components", "schemas")
	r := &reader{schemas: schemas, out: &document{fields: map[string]bool{}}, seen: map[string]bool{}}
	for _, name := range order(root, "components", "schemas") {
		schema := at(schemas, name)
		switch {
		case schema["enum"] != nil:
			r.out.enums = append(r.out.enums, &enum{name: name, doc: str(schema["description"]), values: strs(schema["enum"])})
		case schema["properties"] != nil:
			m := &model{name: name, doc: str(schema["description"])}
			required := strs(schema["required"])
			for _, property := range order(root, "components", "schemas", name, "properties") {
				if slices.Contains(leftOut, name+"."+property) || property == "timerId" && at(schema, "properties")["id"] != nil {
					r.seen[name+"."+property] = true
					continue
				}
				p := at(schema, "properties", property)
				v, err := r.valueOf(name, property, p)
				if err != nil {
					return nil, fmt.Errorf("%s.%s: %w", name, property, err)
				}
				v.template = property == "timer" && v.name == "CreateTimerRequest"
				doc := str(p["description"])
				if doc == "" && p["$ref"] != nil {
					doc = str(at(schemas, last(str(p["$ref"])))["description"])
				}
				m.fields = append(m.fields, field{
					name: property, doc: doc, value: v, nullable: p["nullable"] == true,
					required: slices.Contains(required, property) || property == "id" && timerID(name),
				})
				r.out.fields[property] = true
			}
			r.out.models = append(r.out.models, m)
		}
	}
	for _, name := range leftOut {
		if !r.seen[name] {
			return nil, fmt.Errorf("there is no field %s: update leftOut in tools/sdktypes/document.go", name)
		}
	}
	r.uses(tree)
	if err := r.readMessages(folder); err != nil {
		return nil, err
	}
	slices.SortFunc(r.out.enums, func(a, b *enum) int { return strings.Compare(a.name, b.name) })
	return r.out, nil
}

// timerID reports whether a request needs an id, although the document does not require it: it may be named timerId.
func timerID(request string) bool {
	return request == "TimerSelection" || strings.HasSuffix(request, "Request") && request != "PreviewScheduleRequest"
}

// uses marks the models of requests and of answers.
func (r *reader) uses(tree node) {
	paths := at(tree, "paths")
	for path := range paths {
		for method := range at(paths, path) {
			o := at(paths, path, method)
			if body := at(o, "requestBody", "content", "application/json", "schema"); body["$ref"] != nil {
				r.mark(last(str(body["$ref"])), func(m *model) *bool { return &m.request })
			}
			for status := range at(o, "responses") {
				if s := at(o, "responses", status, "content", "application/json", "schema"); s["$ref"] != nil {
					r.mark(last(str(s["$ref"])), func(m *model) *bool { return &m.answer })
				}
			}
		}
	}
	// Answers of receivers are made by the receivers of the SDKs.
	r.out.models = slices.DeleteFunc(r.out.models, func(m *model) bool { return !m.request && !m.answer })
}

func (r *reader) mark(name string, flag func(*model) *bool) {
	m := r.out.model(name)
	if m == nil || *flag(m) {
		return
	}
	*flag(m) = true
	for i := range m.fields {
		v := &m.fields[i].value
		for v.kind == list {
			v = v.item
		}
		if v.kind == object {
			r.mark(v.name, flag)
		}
	}
}

func (d *document) model(name string) *model {
	for _, m := range d.models {
		if m.name == name {
			return m
		}
	}
	return nil
}

func (r *reader) valueOf(owner, property string, p node) (value, error) {
	if ref := str(p["$ref"]); ref != "" {
		return r.named(owner, property, last(ref))
	}
	for _, combined := range []string{"allOf", "anyOf"} {
		// The second part of an anyOf is any other value, for which the answer is an error.
		if parts, ok := p[combined].([]any); ok {
			first, _ := parts[0].(node)
			return r.valueOf(owner, property, first)
		}
	}
	if p["enum"] != nil {
		name := inline[owner+"."+property]
		if goType := str(p["x-go-type"]); name == "" && at(r.schemas, goType)["enum"] != nil {
			name = goType
		}
		if name == "" {
			return value{}, fmt.Errorf("the enumeration has no name: add one to inline in tools/sdktypes/document.go")
		}
		if !slices.ContainsFunc(r.out.enums, func(e *enum) bool { return e.name == name }) && at(r.schemas, name) == nil {
			r.out.enums = append(r.out.enums, &enum{name: name, values: strs(p["enum"])})
		}
		return value{kind: enumeration, name: name}, nil
	}
	switch str(p["type"]) {
	case "integer":
		return value{kind: integer}, nil
	case "number":
		return value{kind: float}, nil
	case "boolean":
		return value{kind: boolean}, nil
	case "array":
		item, err := r.valueOf(owner, property, at(p, "items"))
		return value{kind: list, item: &item}, err
	case "object":
		if additional, ok := p["additionalProperties"].(node); ok && str(additional["type"]) == "string" {
			return value{kind: texts}, nil
		}
		return value{kind: anything}, nil
	case "string":
		switch {
		case str(p["format"]) == "date-time":
			return value{kind: instant}, nil
		case property == "executeAtLocal":
			return value{kind: local}, nil
		case durationText.MatchString(str(p["example"])):
			return value{}, fmt.Errorf("a string with the example %q is not accepted: want a $ref to Duration", str(p["example"]))
		}
		return value{kind: text}, nil
	case "":
		return value{kind: anything}, nil
	}
	return value{}, fmt.Errorf("unknown type %v", p["type"])
}

func (r *reader) named(owner, property, name string) (value, error) {
	schema := at(r.schemas, name)
	switch {
	case name == "Instant":
		return value{kind: instant}, nil
	case name == "Duration":
		return value{kind: duration}, nil
	case schema["enum"] != nil:
		return value{kind: enumeration, name: name}, nil
	case schema["properties"] != nil:
		return value{kind: object, name: name}, nil
	}
	return r.valueOf(owner, property, schema)
}

func at(n node, path ...string) node {
	for _, key := range path {
		next, _ := n[key].(node)
		n = next
	}
	return n
}

func str(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

func strs(v any) []string {
	var all []string
	items, _ := v.([]any)
	for _, one := range items {
		if s, ok := one.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// fixed returns the field that identifies the object of a request. In Python it is a positional argument.
func (m *model) fixed() string {
	for _, name := range []string{"id", "name"} {
		if slices.ContainsFunc(m.fields, func(f field) bool { return f.name == name && f.required }) {
			return name
		}
	}
	if slices.ContainsFunc(m.fields, func(f field) bool { return f.name == "namespace" && f.required }) {
		return "namespace"
	}
	return ""
}

// snake returns a name of JSON as a name of Python.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// constant returns a value of an enumeration as the name of a constant: TIMER_FIRED for timerbus.timer.fired.
func constant(v string) string {
	return strings.ReplaceAll(strings.ToUpper(snakeAll(strings.TrimPrefix(v, "timerbus."))), ".", "_")
}

func snakeAll(v string) string {
	if strings.ToUpper(v) == v {
		return v
	}
	return snake(v)
}

// wrapped breaks a text into lines of at most width characters.
func wrapped(doc string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(doc, "\n\n") {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
