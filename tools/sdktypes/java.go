package main

import (
	"fmt"
	"regexp"
	"strings"
)

// java returns a file for each type: a class with a builder for each request, a record for each answer, and a record with constants for
// each enumeration.
func java(d *document) map[string]string {
	files := map[string]string{}
	for _, e := range d.enums {
		files["types/"+e.name+".java"] = javaEnum(e)
	}
	for _, m := range d.models {
		if m.request {
			files["types/"+m.name+".java"] = javaRequest(d, m)
		} else {
			files["types/"+m.name+".java"] = javaAnswer(m)
		}
	}
	return files
}

func javaHead(imports ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\npackage io.timerbus.types;\n\n", notice)
	for _, one := range imports {
		fmt.Fprintf(&b, "import %s;\n", one)
	}
	if len(imports) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

func javaEnum(e *enum) string {
	var b strings.Builder
	b.WriteString(javaHead("java.util.Set"))
	doc := e.doc
	if doc != "" {
		doc += "\n\n"
	}
	b.WriteString(javaDoc(doc+"An answer may contain a value that this release does not know: see {@link #isKnown}.", ""))
	fmt.Fprintf(&b, "public record %s(String value) implements io.timerbus.OpenEnum {\n", e.name)
	var names []string
	for _, v := range e.values {
		fmt.Fprintf(&b, "  public static final %s %s = new %s(%q);\n", e.name, constant(v), e.name, v)
		names = append(names, constant(v))
	}
	fmt.Fprintf(&b, "\n  private static final Set<%s> KNOWN = Set.of(%s);\n", e.name, strings.Join(names, ", "))
	b.WriteString("\n  @Override\n  public boolean isKnown() {\n    return KNOWN.contains(this);\n  }\n")
	b.WriteString("\n  @Override\n  public String toString() {\n    return value;\n  }\n}\n")
	return b.String()
}

var javaImports = []struct{ pattern, name string }{
	{"JsonNode", "com.fasterxml.jackson.databind.JsonNode"},
	{`Wire\.`, "io.timerbus.Wire"},
	{`extends Fields`, "io.timerbus.Fields"},
	{`\bDuration\b`, "java.time.Duration"},
	{`\bInstant\b`, "java.time.Instant"},
	{`\bLocalDateTime\b`, "java.time.LocalDateTime"},
	{`\bLinkedHashMap\b`, "java.util.LinkedHashMap"},
	{`\bList<`, "java.util.List"},
	{`\bMap<`, "java.util.Map"},
	{`\bConsumer<`, "java.util.function.Consumer"},
}

func javaFile(body string) string {
	var imports []string
	for _, i := range javaImports {
		if regexp.MustCompile(i.pattern).MatchString(body) {
			imports = append(imports, i.name)
		}
	}
	return javaHead(imports...) + body
}

func javaAnswer(m *model) string {
	var b strings.Builder
	doc := m.doc
	if doc != "" {
		doc += "\n\n"
	}
	doc += "Absent fields are null."
	var params []string
	for i := range m.fields {
		f := &m.fields[i]
		about := f.doc
		if about == "" {
			about = "see the API"
		}
		params = append(params, "@param "+f.name+" "+javaText(strings.Join(strings.Fields(about), " ")))
	}
	b.WriteString(javaDoc(doc, "", params...))
	fmt.Fprintf(&b, "public record %s(\n", m.name)
	for i := range m.fields {
		f := &m.fields[i]
		end := ","
		if i == len(m.fields)-1 {
			end = ") {"
		}
		fmt.Fprintf(&b, "    %s %s%s\n", javaType(&f.value, f.required), f.name, end)
	}
	if m.message {
		b.WriteString("\n  /** Reads the data of an event. Unknown fields are ignored; absent required ones are errors. */\n")
	} else {
		b.WriteString("\n  /** Reads an answer of the service. Unknown fields are ignored. */\n")
	}
	fmt.Fprintf(&b, "  public static %s from(JsonNode json) {\n", m.name)
	if m.message {
		for _, name := range m.required() {
			fmt.Fprintf(&b, "    Wire.require(json, %q);\n", name)
		}
	}
	fmt.Fprintf(&b, "    return new %s(\n", m.name)
	for i := range m.fields {
		f := &m.fields[i]
		end := ","
		if i == len(m.fields)-1 {
			end = ");"
		}
		fmt.Fprintf(&b, "        %s%s\n", javaRead(&f.value, fmt.Sprintf("json.get(%q)", f.name), f.required), end)
	}
	b.WriteString("  }\n}\n")
	return javaFile(b.String())
}

func javaRequest(d *document, m *model) string {
	var b strings.Builder
	b.WriteString(javaDoc(m.doc, ""))
	fmt.Fprintf(&b, "public final class %s extends Fields {\n", m.name)
	fmt.Fprintf(&b, "  private %s(Map<String, Object> values) {\n    super(values);\n  }\n\n", m.name)
	fmt.Fprintf(&b, "  /** Returns a builder without fields. */\n  public static Builder builder() {\n    return new Builder();\n  }\n\n")
	fmt.Fprintf(&b, "  /** Returns the fields that a function sets. */\n  public static %s of(Consumer<Builder> set) {\n"+
		"    Builder builder = new Builder();\n    set.accept(builder);\n    return builder.build();\n  }\n\n", m.name)
	b.WriteString("  /** Reads the fields of an answer. Unknown fields are ignored. */\n")
	fmt.Fprintf(&b, "  public static %s from(JsonNode json) {\n    Map<String, Object> values = new LinkedHashMap<>();\n", m.name)
	for i := range m.fields {
		f := &m.fields[i]
		fmt.Fprintf(&b, "    Wire.put(values, json, %q, n -> %s);\n", f.name, javaRead(&f.value, "n", false))
	}
	fmt.Fprintf(&b, "    return new %s(values);\n  }\n", m.name)
	for i := range m.fields {
		f := &m.fields[i]
		b.WriteString("\n")
		b.WriteString(javaDoc(f.doc, "  "))
		fmt.Fprintf(&b, "  public %s %s() {\n    return get(%q);\n  }\n", javaType(&f.value, false), f.name, f.name)
	}
	b.WriteString("\n  /** Sets fields. In an update, null sets a field back to its default; a field that is not set is kept. */\n")
	b.WriteString("  public static final class Builder {\n    private final Map<String, Object> values = new LinkedHashMap<>();\n")
	b.WriteString("\n    private Builder() {}\n")
	for i := range m.fields {
		f := &m.fields[i]
		b.WriteString("\n")
		b.WriteString(javaDoc(f.doc, "    "))
		t := javaType(&f.value, false)
		if f.value.kind == anything {
			t = "Object"
		}
		fmt.Fprintf(&b, "    public Builder %s(%s value) {\n", f.name, t)
		fmt.Fprintf(&b, "      values.put(%q, value);\n      return this;\n    }\n", f.name)
		if f.value.kind == object && d.model(f.value.name).request {
			fmt.Fprintf(&b, "\n    /** Sets %s to the fields that a function sets. */\n", f.name)
			fmt.Fprintf(&b, "    public Builder %s(Consumer<%s.Builder> set) {\n      return %s(%s.of(set));\n    }\n",
				f.name, f.value.name, f.name, f.value.name)
		}
	}
	fmt.Fprintf(&b, "\n    public %s build() {\n      return new %s(new LinkedHashMap<>(values));\n    }\n  }\n}\n", m.name, m.name)
	return javaFile(b.String())
}

func javaType(v *value, required bool) string {
	switch v.kind {
	case text:
		return "String"
	case integer:
		if required {
			return "long"
		}
		return "Long"
	case float:
		if required {
			return "double"
		}
		return "Double"
	case boolean:
		if required {
			return "boolean"
		}
		return "Boolean"
	case instant:
		return "Instant"
	case duration:
		return "Duration"
	case local:
		return "LocalDateTime"
	case enumeration, object:
		return v.name
	case list:
		return "List<" + javaType(v.item, false) + ">"
	case texts:
		return "Map<String, String>"
	default:
		return "JsonNode"
	}
}

func javaRead(v *value, node string, required bool) string {
	switch v.kind {
	case text:
		return "Wire.text(" + node + ")"
	case integer:
		if required {
			return "Wire.number(" + node + ")"
		}
		return "Wire.optionalNumber(" + node + ")"
	case float:
		if required {
			return "Wire.decimal(" + node + ")"
		}
		return "Wire.optionalDecimal(" + node + ")"
	case boolean:
		if required {
			return "Wire.truth(" + node + ")"
		}
		return "Wire.optionalTruth(" + node + ")"
	case instant:
		return "Wire.instant(" + node + ")"
	case duration:
		return "Wire.duration(" + node + ")"
	case local:
		return "Wire.local(" + node + ")"
	case enumeration:
		return "Wire.value(" + node + ", " + v.name + "::new)"
	case object:
		return "Wire.object(" + node + ", " + v.name + "::from)"
	case list:
		return "Wire.list(" + node + ", item -> " + javaRead(v.item, "item", false) + ")"
	case texts:
		return "Wire.texts(" + node + ")"
	default:
		return "Wire.any(" + node + ")"
	}
}

var code = regexp.MustCompile("`([^`]*)`")

var linked = regexp.MustCompile(`\{@link [^}]*\}`)

// javaText returns a text with Markdown's code as Javadoc. Links are kept.
func javaText(s string) string {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "*/", "*&#47;").Replace
	var b strings.Builder
	rest := s
	for _, part := range regexp.MustCompile(code.String()+"|"+linked.String()).FindAllString(s, -1) {
		before, after, _ := strings.Cut(rest, part)
		b.WriteString(escape(before))
		b.WriteString(code.ReplaceAllString(part, "{@code $1}"))
		rest = after
	}
	b.WriteString(escape(rest))
	return b.String()
}

// javaDoc returns a Javadoc comment. tags are added after the text.
func javaDoc(doc, indent string, tags ...string) string {
	if doc == "" {
		return ""
	}
	lines := wrapped(javaText(doc), 100)
	for i, line := range lines {
		if line == "" {
			lines[i+1] = "<p>" + lines[i+1]
		}
	}
	if len(tags) > 0 {
		lines = append(lines, "")
	}
	for _, tag := range tags {
		lines = append(lines, wrapped(tag, 100)...)
	}
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
