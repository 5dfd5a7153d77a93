// Package schedule computes the occurrences of schedules: from cron expressions, RRULEs, dates and intervals, in a time zone, with
// policies for local times that a change of the zone's offset skips or repeats. It is pure: no I/O, no clock, no goroutine.
//
// A rule (rule.go, rrule.go) yields local times, which zone.go translates to instants. recurrence.go combines the rules of a schedule.
// Read recurrence.go first.
package schedule
