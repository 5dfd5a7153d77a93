// Package decode decodes the bodies of HTTP requests and topic commands. Both use this one strict decoder, so that they
// refuse the same bodies with the same messages.
//
// It imports pkg/timer, pkg/store, and for the secrets of namespaces internal/encryption and pkg/webhook. It never reads the
// store: defaults of the namespace are filled in by Fields.Spec, Fields.Patch or SettingsFields.Apply, which get the
// namespace's settings.
//
// Read timers.go first (the bodies), then fields.go (the parts of a Spec), namespaces.go, callbacks.go and tls.go (the
// callback settings of a namespace), and json.go, which splits JSON into values.
package decode
