// Package seal keeps secrets readable for this service alone while they lie in a database: AES-256-GCM, with
// keys from the configuration.
//
// It imports the standard library and pkg/timer only. It never logs, never keeps what it opened, and its errors
// name keys by their ids.
//
// keyring.go is all of it.
package seal
