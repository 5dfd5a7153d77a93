// Package timerbus is the root of the repository. It contains no code, only the tests that enforce the import rules
// (layout_test.go). It imports no package of this module.
//
// Read docs/design.md first, then cmd/timerbus (the only binary), then the services in the order in which a timer
// passes through them: services/ingest, services/scheduler, services/dispatcher. User programs import pkg/client.
package timerbus
