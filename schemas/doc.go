// Package schemas embeds the documents that describe the public interfaces of Timerbus: openapi.yaml for HTTP,
// asyncapi.yaml for the public topics, and one JSON Schema for the data of each public message. It imports nothing and
// interprets nothing.
//
// testdata/ contains the exact bytes of every message. The tests of pkg/event write it, and validate it against the
// schemas. Read asyncapi.yaml first, then cloudevent.schema.json.
package schemas

import "embed"

// FS contains the documents under their file names. They refer to each other by relative names.
//
//go:embed *.yaml *.json
var FS embed.FS
