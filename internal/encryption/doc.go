// Package encryption encrypts the secrets that are stored in the database: AES-256-GCM, with keys from the
// configuration.
//
// It imports the standard library and pkg/timer only. It never logs, does not keep decrypted secrets, and its errors
// name keys by their ids.
//
// The code is in keyring.go.
package encryption
