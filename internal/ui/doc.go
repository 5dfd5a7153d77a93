// Package ui serves the web UI: static files, which need no credential and contain no data. The UI sends the requests of the
// public API only, with the credential that its user enters or gets from an identity provider.
//
// handler.go serves the files of dist, which tools/uibundle writes from the sources in web. The package may import pkg/timer. It
// never reads the store.
package ui
