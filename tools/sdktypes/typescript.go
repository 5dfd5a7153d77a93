package main

import (
	"fmt"
	"strings"
)

// typescript returns the interfaces of TypeScript. Their names are those of the JSON.
func typescript(d *document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\n", notice)
	b.WriteString(`/**
 * The requests and answers of the HTTP API. In requests an absent field keeps a default, or the present value in an update; in an update
 * null sets a field back to its default. Enumerations are open: an answer may contain a value that this release does not know.
 */

import type { DurationInput, InstantInput, LocalInput, Milliseconds } from "./time.js";
`)
	for _, e := range d.enums {
		b.WriteString("\n")
		b.WriteString(starDoc(e.doc, ""))
		fmt.Fprintf(&b, "export type %s =", e.name)
		for _, v := range e.values {
			fmt.Fprintf(&b, "\n  | %q", v)
		}
		b.WriteString("\n  | (string & {});\n")
	}
	for _, m := range d.models {
		b.WriteString("\n")
		b.WriteString(starDoc(m.doc, ""))
		fmt.Fprintf(&b, "export interface %s {\n", m.name)
		for i := range m.fields {
			f := &m.fields[i]
			b.WriteString(starDoc(f.doc, "  "))
			mark, t := "", tsType(&f.value, m.request)
			if !f.required {
				mark = "?"
				if m.request {
					t += " | undefined"
				}
			}
			if m.request && f.nullable && !f.required && f.value.kind != anything {
				t += " | null"
			}
			fmt.Fprintf(&b, "  %s%s: %s;\n", f.name, mark, t)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func tsType(v *value, request bool) string {
	switch v.kind {
	case text:
		return "string"
	case integer, float:
		return "number"
	case boolean:
		return "boolean"
	case instant:
		if request {
			return "InstantInput"
		}
		return "Date"
	case duration:
		if request {
			return "DurationInput"
		}
		return "Milliseconds"
	case local:
		if request {
			return "LocalInput"
		}
		return "string"
	case object:
		if v.template {
			return "Omit<" + v.name + `, "id">`
		}
		return v.name
	case enumeration:
		return v.name
	case list:
		return "readonly " + tsType(v.item, request) + "[]"
	case texts:
		return "Readonly<Record<string, string>>"
	default:
		return "unknown"
	}
}

// typescriptWire returns the table of the fields that are converted.
func typescriptWire(d *document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\n", notice)
	b.WriteString("type Fields = Readonly<Record<string, string>>;\n\n")
	b.WriteString(starDoc("The fields that are converted: instants, durations, local times, and objects and lists with such fields.", ""))
	b.WriteString("export const fields: Readonly<Record<string, Fields>> = {\n")
	converted := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for _, m := range d.models {
			for i := range m.fields {
				if !converted[m.name] && tsWire(&m.fields[i].value, converted) != "" {
					converted[m.name], changed = true, true
				}
			}
		}
	}
	for _, m := range d.models {
		if !converted[m.name] {
			continue
		}
		fmt.Fprintf(&b, "  %s: {\n", m.name)
		for i := range m.fields {
			if wire := tsWire(&m.fields[i].value, converted); wire != "" {
				fmt.Fprintf(&b, "    %s: %q,\n", m.fields[i].name, wire)
			}
		}
		b.WriteString("  },\n")
	}
	b.WriteString("};\n\n")
	b.WriteString(starDoc("The fields that the data of events must have.", ""))
	b.WriteString("export const required: Readonly<Record<string, readonly string[]>> = {\n")
	for _, m := range d.models {
		if m.message {
			fmt.Fprintf(&b, "  %s: [\"%s\"],\n", m.name, strings.Join(m.required(), `", "`))
		}
	}
	b.WriteString("};\n")
	return b.String()
}

func tsWire(v *value, converted map[string]bool) string {
	switch v.kind { //nolint:exhaustive // other values are sent as they are
	case instant:
		return "instant"
	case duration:
		return "duration"
	case local:
		return "local"
	case object:
		if converted[v.name] {
			return v.name
		}
	case list:
		if inner := tsWire(v.item, converted); inner != "" {
			return inner + "[]"
		}
	}
	return ""
}

// starDoc returns a comment of TypeScript or Java.
func starDoc(doc, indent string) string {
	if doc == "" {
		return ""
	}
	lines := wrapped(strings.ReplaceAll(doc, "*/", "*\\/"), 110)
	if len(lines) == 1 {
		return indent + "/** " + lines[0] + " */\n"
	}
	var b strings.Builder
	b.WriteString(indent + "/**\n")
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
	}
	b.WriteString(indent + " */\n")
	return b.String()
}
