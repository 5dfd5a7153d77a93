package shard

import "strings"

// ScheduleIDPrefix begins the ids of the rows of schedules, so that a schedule and a timer may have the same name.
const ScheduleIDPrefix = FollowUpPrefix + "schedule:"

// OccurrenceID returns the id of an occurrence of a schedule: a follow-up in the shard of the schedule, with the name
// "<schedule>@<instant>". The instant is in RFC 3339, in UTC.
func (b Block) OccurrenceID(schedule, instant string) string {
	return b.FollowUpID(b.Place(ScheduleIDPrefix+schedule), schedule+"@"+instant)
}

// ScheduleOf returns the name of the schedule of which a timer is an occurrence; ok is false if it is none.
func ScheduleOf(timerID string) (schedule string, ok bool) {
	if !IsFollowUp(timerID) {
		return "", false
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(timerID, FollowUpPrefix), ":")
	at := strings.LastIndexByte(name, '@')
	if at < 1 {
		return "", false
	}
	return name[:at], true
}
