// Package schemas embeds the documents that describe the messages of Timerbus, for the packages that serve or check
// them: openapi.yaml for HTTP, asyncapi.yaml for the public topics, and one JSON Schema for the data of each public
// message. It imports no package of this module and does not interpret the documents.
//
// testdata/ pins the bytes of every message. The tests of internal/event write and check it, and validate it against the
// schemas. Read asyncapi.yaml first, then cloudevent.schema.json.
package schemas

import "embed"

// FS contains the documents by file name. They refer to each other by relative names.
//
//go:embed *.yaml *.json
var FS embed.FS
