package watermillclient

import (
	"cmp"
	"fmt"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
)

const (
	// Commands, Fired, Results and Dead are the public topics of a cluster with the default prefix.
	Commands = "timerbus.commands"
	Fired    = "timerbus.fired"
	Results  = "timerbus.results"
	Dead     = "timerbus.dead"

	// MetadataKey is the metadata that contains a message's key, which is namespace/id of its timer or schedule. A Pub/Sub
	// with partitions should choose the partition by this key, so that commands about one timer or schedule keep their order.
	MetadataKey = "timerbus_key"

	defaultNamespace = "default"
)

// Create returns a command that creates a timer. source names the sender, such as "shop/orders". The message's UUID is
// the command's id, which the answer repeats.
func Create(source string, r client.CreateTimerRequest) (*message.Message, error) {
	return command(event.TypeCreate, source, r.Namespace, cmp.Or(r.ID, r.TimerID), r.CorrelationID, r)
}

// Update returns a command that changes a timer.
func Update(source string, r client.UpdateTimerRequest) (*message.Message, error) {
	return command(event.TypeUpdate, source, r.Namespace, cmp.Or(r.ID, r.TimerID), "", r)
}

// Delete returns a command that removes a timer.
func Delete(source string, r client.DeleteTimerRequest) (*message.Message, error) {
	return command(event.TypeDelete, source, r.Namespace, cmp.Or(r.ID, r.TimerID), "", r)
}

// Pause returns a command that pauses a timer. Ingest stores the source as the name of who paused it.
func Pause(source string, r client.PauseTimerRequest) (*message.Message, error) {
	return command(event.TypePause, source, r.Namespace, cmp.Or(r.ID, r.TimerID), "", r)
}

// Resume returns a command that resumes a timer.
func Resume(source string, r client.ResumeTimerRequest) (*message.Message, error) {
	return command(event.TypeResume, source, r.Namespace, cmp.Or(r.ID, r.TimerID), "", r)
}

// CreateSchedule returns a command that creates a schedule.
func CreateSchedule(source string, r client.CreateScheduleRequest) (*message.Message, error) {
	return command(event.TypeCreateSchedule, source, r.Namespace, r.ID, "", r)
}

// UpdateSchedule returns a command that changes fields of a schedule.
func UpdateSchedule(source string, r client.UpdateScheduleRequest) (*message.Message, error) {
	return command(event.TypeUpdateSchedule, source, r.Namespace, r.ID, "", r)
}

// DeleteSchedule returns a command that removes a schedule.
func DeleteSchedule(source string, r client.DeleteScheduleRequest) (*message.Message, error) {
	return command(event.TypeDeleteSchedule, source, r.Namespace, r.ID, "", r)
}

// PauseSchedule returns a command that pauses a schedule. Ingest stores the source as the name of who paused it.
func PauseSchedule(source string, r client.PauseScheduleRequest) (*message.Message, error) {
	return command(event.TypePauseSchedule, source, r.Namespace, r.ID, "", r)
}

// ResumeSchedule returns a command that resumes a schedule.
func ResumeSchedule(source string, r client.ScheduleSelection) (*message.Message, error) {
	return command(event.TypeResumeSchedule, source, r.Namespace, r.ID, "", r)
}

// TriggerSchedule returns a command that creates an occurrence of a schedule now.
func TriggerSchedule(source string, r client.ScheduleSelection) (*message.Message, error) {
	return command(event.TypeTriggerSchedule, source, r.Namespace, r.ID, "", r)
}

// BackfillSchedule returns a command that creates at most 1,000 occurrences of a past time range. The answer says where the next
// command must begin, if there are more.
func BackfillSchedule(source string, r client.BackfillScheduleRequest) (*message.Message, error) {
	return command(event.TypeBackfillSchedule, source, r.Namespace, r.ID, "", r)
}

func command(eventType, source, namespace, id, correlationID string, request any) (*message.Message, error) {
	if source == "" || id == "" {
		return nil, fmt.Errorf("%s: a command requires a source and an id, got %q and %q", eventType, source, id)
	}
	subject := event.Subject(cmp.Or(namespace, defaultNamespace), id)
	uuid := watermill.NewUUID()
	e, err := event.New(eventType, source, uuid, subject, correlationID, 0, request)
	if err != nil {
		return nil, err
	}
	headers, body, err := e.Encode(event.Binary)
	if err != nil {
		return nil, err
	}
	m := message.NewMessage(uuid, body)
	m.Metadata = headers
	m.Metadata.Set(MetadataKey, subject)
	return m, nil
}
