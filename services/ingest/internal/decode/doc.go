// Package decode reads the bodies of requests and topic commands: the one strict reader for both, so
// that what is refused on one way in is refused on the other, in the same words.
//
// It imports pkg/timer and pkg/store. It never looks anything up: what depends on the namespace stays
// open until Fields.Spec or Fields.Patch is given the namespace's settings.
//
// Read timers.go first (what a body may hold), then fields.go (the parts of a Spec), namespaces.go,
// and json.go, which takes JSON apart.
package decode
