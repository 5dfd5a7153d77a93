// Package ingest receives commands by HTTP, from the command topic and from an outbox. It validates them, commits them to the store,
// answers, and publishes hints for timers that are due soon.
//
// It imports contracts (store, bus, event), pkg/api and the domain, never an engine and never another service. It never
// answers a success before the commit (rule I1), and never decides "in time" by a time read before the commit (I7). It
// never reads the system's clock: time comes from Config.Clock and from package time's timers, so that it runs in
// testing/synctest bubbles.
//
// Read config.go and service.go first, then the files of one command: command.go (body to operation), outcome.go (the
// store's answer to the API's), refusal.go (every error a client can get) and render.go. Commands arrive in http.go,
// timers.go, namespaces.go and health.go, in topic.go, batch.go and answers.go, and in outbox.go. stream.go sends
// clients the changes that changes.go and dispatchers add to the log. internal/decode has the strict
// decoder, internal/commit the group commit, and internal/hints the publisher of hints.
package ingest
