// Package oracle checks a run by the observations of its clients and receivers: which writes were sent and how they
// were answered, and which callbacks arrived and how they were answered. From that alone it finds timers that were
// lost, early, delivered despite a delete or an update in time, mixed up, or duplicated.
//
// Every write that sets a timer carries a unique payload, its token: the payload of a delivery identifies its write.
// Writes of one timer are made one after another. A write with unknown outcome counts as "perhaps"; the oracle then
// checks only what must be true in both cases.
//
// Of each outcome for which the timer has a URL, it also finds lost, second and unexpected follow-ups.
//
// It imports the standard library only. Read oracle.go (its input), judge.go (the checks of deliveries), followup.go and report.go
// (outstanding deliveries, and the counts). The tests plant every kind of violation.
package oracle
