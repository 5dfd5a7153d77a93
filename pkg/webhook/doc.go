// Package webhook signs deliveries by the convention of Standard Webhooks (https://www.standardwebhooks.com):
// which headers, over which bytes, with which secrets.
//
// It imports the standard library and pkg/timer only. It never keeps a secret, and never shows one: the
// errors and the printed forms of a Secret say only which it is.
//
// Read secret.go, then sign.go.
package webhook
