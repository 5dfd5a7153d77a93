// Package decode reads the bodies of requests and topic commands: the one strict reader for both, so
// that what is refused on one way in is refused on the other, in the same words.
//
// It imports pkg/timer, pkg/store, and for the secrets of namespaces pkg/seal and pkg/webhook. It never
// looks anything up: what depends on the namespace stays open until Fields.Spec, Fields.Patch or
// SettingsFields.Apply is given the namespace's settings.
//
// Read timers.go first (what a body may hold), then fields.go (the parts of a Spec), namespaces.go,
// callbacks.go and tls.go (what a namespace says of its callbacks), and json.go, which takes JSON apart.
package decode
