// Package outage logs the failures of a component as outages: one line when an outage begins, one per minute while it
// lasts, and one when it has ended, with the number of failures and the duration.
//
// It imports the standard library only. It decides what is logged, never what is retried.
package outage
