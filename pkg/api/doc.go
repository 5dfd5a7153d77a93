// Package api is the HTTP API in Go: requests, answers, error codes and routes, generated from schemas/openapi.yaml.
//
// It imports no package of this module, so that clients and the server can share it. It does not validate: the server
// decodes requests with a stricter decoder (services/ingest).
//
// Read schemas/openapi.yaml first. instant.go and change.go are the two hand-written types that the document refers to;
// api.gen.go is generated.
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package api

//go:generate oapi-codegen -config oapi-codegen.yaml ../../schemas/openapi.yaml
