// Package schemas holds the documents that describe what Timerbus exchanges with others, embedded for
// whoever serves or checks them: openapi.yaml for HTTP, asyncapi.yaml for the public topics, and one
// JSON Schema for the data of each public message. It imports nothing and interprets nothing.
//
// testdata/ pins the bytes of every message; the tests of pkg/event write and check it, and hold it
// against the schemas. Read asyncapi.yaml first, then cloudevent.schema.json.
package schemas

import "embed"

// FS has the documents by their file names. They refer to each other by relative names.
//
//go:embed *.yaml *.json
var FS embed.FS
