// Package api is the HTTP API in Go: requests, answers, error codes and the routes, generated from
// schemas/openapi.yaml.
//
// It imports nothing of ours, so that clients and the server can share it. It never validates: the
// server decodes requests with a stricter reader of its own.
//
// Read schemas/openapi.yaml first; instant.go and change.go are the two hand-written types that the
// document names; api.gen.go is the rest.
package api

//go:generate oapi-codegen -config oapi-codegen.yaml ../../schemas/openapi.yaml
