package main

import (
	"fmt"
	"regexp"
	"strings"
)

// python returns the types of Python: a TypedDict for each request, a dataclass for each answer, an open enumeration for each set of
// values, and the table that the encoder and the decoder use.
func python(d *document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", notice)
	b.WriteString(`"""The requests and answers of the HTTP API.

Requests are typed dictionaries: an absent key keeps a default, or the present value in an update. In an update None sets a field back to
its default. Answers are frozen dataclasses: an absent field is None. Enumerations are open: a value that this release does not know is
kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from typing_extensions import Required, TypedDict

from ._wire import ANY, DURATION, INSTANT, LOCAL, Fields, Items, Kind, Model, OpenEnum, Values

JSON = Any
"""A value that json.dumps accepts."""
`)
	for _, e := range d.enums {
		fmt.Fprintf(&b, "\n\nclass %s(OpenEnum):\n", e.name)
		b.WriteString(pyDoc(d, e.doc))
		if e.doc == "" {
			fmt.Fprintf(&b, "    \"\"\"A value of an open set of %d known values.\"\"\"\n", len(e.values))
		}
		b.WriteString("\n")
		for _, v := range e.values {
			fmt.Fprintf(&b, "    %s = %q\n", constant(v), v)
		}
	}
	for _, m := range d.models {
		if m.request {
			pyRequest(&b, d, m)
		} else {
			pyAnswer(&b, d, m)
		}
	}
	b.WriteString("\n\nMODELS: Final[dict[str, type[Any]]] = {\n")
	for _, m := range d.models {
		if !m.request {
			fmt.Fprintf(&b, "    %q: %s,\n", m.name, m.name)
		}
	}
	b.WriteString("}\n\nFIELDS: Final[dict[str, dict[str, tuple[str, Kind]]]] = {\n")
	for _, m := range d.models {
		fmt.Fprintf(&b, "    %q: {\n", m.name)
		for i := range m.fields {
			f := &m.fields[i]
			fmt.Fprintf(&b, "        %q: (%q, %s),\n", pyName(f.name), f.name, pyKind(d, &f.value))
		}
		b.WriteString("    },\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// pyName avoids the keywords of Python.
func pyName(name string) string {
	if name == "from" {
		return "from_"
	}
	return snake(name)
}

func pyRequest(b *strings.Builder, d *document, m *model) {
	name, fixed := m.name, m.fixed()
	if strings.HasSuffix(name, "Request") && fixed != "" {
		// Methods take these fields as keyword arguments.
		name = strings.TrimSuffix(name, "Request") + "Fields"
		pyTyped(b, d, m, name, "TypedDict, total=False", func(f *field) bool { return f.name != fixed })
		fmt.Fprintf(b, "\n\nclass %s(%s):\n", m.name, name)
		b.WriteString(pyDoc(d, m.doc))
		if m.doc == "" {
			fmt.Fprintf(b, "    \"\"\"%s with `%s`.\"\"\"\n", name, fixed)
		}
		fmt.Fprintf(b, "\n    %s: Required[str]\n", fixed)
		return
	}
	pyTyped(b, d, m, name, "TypedDict, total=False", func(*field) bool { return true })
}

func pyTyped(b *strings.Builder, d *document, m *model, name, bases string, include func(*field) bool) {
	fmt.Fprintf(b, "\n\nclass %s(%s):\n", name, bases)
	b.WriteString(pyDoc(d, m.doc))
	if m.doc == "" {
		fmt.Fprintf(b, "    \"\"\"Fields of %s.\"\"\"\n", m.name)
	}
	b.WriteString("\n")
	for i := range m.fields {
		f := &m.fields[i]
		if !include(f) {
			continue
		}
		t := pyInput(&f.value)
		if f.nullable && !f.required {
			t += " | None"
		}
		if f.required {
			t = "Required[" + t + "]"
		}
		fmt.Fprintf(b, "    %s: %s\n", pyName(f.name), t)
		b.WriteString(pyDoc(d, f.doc))
	}
}

func pyAnswer(b *strings.Builder, d *document, m *model) {
	fmt.Fprintf(b, "\n\n@dataclass(frozen=True, kw_only=True)\nclass %s:\n", m.name)
	b.WriteString(pyDoc(d, m.doc))
	if m.doc == "" {
		fmt.Fprintf(b, "    \"\"\"An answer of the service: %s.\"\"\"\n", m.name)
	}
	b.WriteString("\n")
	for i := range m.fields {
		f := &m.fields[i]
		t := pyOutput(&f.value)
		switch {
		case f.required:
			fmt.Fprintf(b, "    %s: %s\n", pyName(f.name), t)
		case f.value.kind == anything:
			fmt.Fprintf(b, "    %s: %s = None\n", pyName(f.name), t)
		default:
			fmt.Fprintf(b, "    %s: %s | None = None\n", pyName(f.name), t)
		}
		b.WriteString(pyDoc(d, f.doc))
	}
}

func pyInput(v *value) string {
	switch v.kind {
	case instant:
		return "datetime"
	case duration:
		return "timedelta | str"
	case local:
		return "datetime | str"
	case enumeration:
		return v.name + " | str"
	case list:
		return "Sequence[" + pyInput(v.item) + "]"
	case texts:
		return "Mapping[str, str]"
	default:
		return pyOutput(v)
	}
}

func pyOutput(v *value) string {
	switch v.kind {
	case text:
		return "str"
	case integer:
		return "int"
	case float:
		return "float"
	case boolean:
		return "bool"
	case instant:
		return "datetime"
	case duration:
		return "timedelta"
	case local:
		return "str"
	case object:
		if v.template {
			return strings.TrimSuffix(v.name, "Request") + "Fields"
		}
		return v.name
	case enumeration:
		return v.name
	case list:
		return "list[" + pyOutput(v.item) + "]"
	case texts:
		return "dict[str, str]"
	default:
		return "JSON"
	}
}

func pyKind(d *document, v *value) string {
	switch v.kind { //nolint:exhaustive // other values are sent as they are
	case instant:
		return "INSTANT"
	case duration:
		return "DURATION"
	case local:
		return "LOCAL"
	case enumeration:
		return "Values(" + v.name + ")"
	case object:
		if d.model(v.name).request {
			return fmt.Sprintf("Fields(%q)", v.name)
		}
		return fmt.Sprintf("Model(%q)", v.name)
	case list:
		if inner := pyKind(d, v.item); inner != "ANY" {
			return "Items(" + inner + ")"
		}
	}
	return "ANY"
}

var ticked = regexp.MustCompile("`([a-zA-Z]+)`")

// pyDoc returns a docstring. Names of fields are those of Python.
func pyDoc(d *document, doc string) string {
	const indent = "    "
	if doc == "" {
		return ""
	}
	doc = ticked.ReplaceAllStringFunc(doc, func(s string) string {
		if name := strings.Trim(s, "`"); d.fields[name] {
			return "`" + pyName(name) + "`"
		}
		return s
	})
	doc = strings.NewReplacer(`\`, `\\`, `"""`, `'''`).Replace(doc)
	lines := wrapped(doc, 110)
	if strings.HasSuffix(lines[len(lines)-1], `"`) {
		lines[len(lines)-1] += " "
	}
	if len(lines) == 1 {
		return indent + `"""` + lines[0] + `"""` + "\n"
	}
	var b strings.Builder
	b.WriteString(indent + `"""` + lines[0] + "\n")
	for _, line := range lines[1:] {
		b.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
	b.WriteString(indent + `"""` + "\n")
	return b.String()
}

// asyncName is a name of the asynchronous client, or of what it imports.
var asyncName = regexp.MustCompile(`\b(_?)Async(\w+)`)

// synchronous returns the synchronous client, from the source of the asynchronous one.
func synchronous(source string) string {
	_, body, _ := strings.Cut(source, "\n")
	return "# " + notice + "\n" + strings.NewReplacer(
		"async def ", "def ", "async for ", "for ", "async with ", "with ", "await ", "",
		"__aenter__", "__enter__", "__aexit__", "__exit__", "aclose", "close", "anyio.sleep", "time.sleep",
		"import anyio", "import time", "from ._wire", "from ._deadline import fail_after, limited\nfrom ._wire",
		"anyio.fail_after(timeout)", "fail_after(timeout)", "else httpx.Client()", "else limited(httpx.Client())",
		"An asynchronous", "A synchronous", "asynchronous", "synchronous",
	).Replace(asyncName.ReplaceAllString(body, "$1$2"))
}
