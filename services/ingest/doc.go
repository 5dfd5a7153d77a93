// Package ingest takes commands in: HTTP requests and the command topic, validates them, commits them
// to the store, answers, and hints at what is due soon.
//
// It imports contracts (store, bus, event), pkg/api and the domain, never an engine and never another
// service. It never answers a success before the commit (rule I1), never judges an answer by a time
// read before the commit (I7), and never reads the system's clock: time comes from Config.Clock and
// from package time's timers, so that it runs in testing/synctest bubbles.
//
// Read config.go and service.go first, then the way of a command: command.go (body to operation),
// outcome.go (the store's answer to ours), refusal.go (every error a client can get), render.go; then the two
// ways in: http.go, timers.go, namespaces.go, health.go, and topic.go, batch.go, answers.go. Below
// are internal/decode (the strict reader), internal/commit (the group commit) and internal/hints.
package ingest
