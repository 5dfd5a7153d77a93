package main

import (
	"net/http"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/pkg/client"
)

// act is one timer of the demo.
type act struct {
	id, about string
	in        time.Duration
	// answer returns the receiver's answer to the n-th callback, from 1, and the same in words.
	answer func(n int) (receiver.Answer, string)
	// event: it is delivered on a topic. deleted: it is deleted immediately after its creation.
	event, deleted bool

	// deliveries and lives are the expected numbers of deliveries and of webhook-ids; status is the expected final
	// status.
	deliveries, lives int
	status            client.Status
}

// quick is a short retry policy, because a person watches the demo.
var quick = client.RetryPolicyInput{
	MaxAttempts: client.Set(4), InitialInterval: client.Set("500ms"), MaxInterval: client.Set("2s"),
}

func acts() []act {
	plain := func(id string, in time.Duration) act {
		return act{id: id, about: "one callback", in: in, answer: ok, deliveries: 1, lives: 1, status: "done"}
	}
	return []act{
		plain("in-1s", 1*time.Second),
		plain("in-2s", 2*time.Second),
		plain("in-3s", 3*time.Second),
		{
			id: "snoozer", about: `answers {"nextExecuteAt": …} twice`, in: 1200 * time.Millisecond,
			answer: snooze, deliveries: 3, lives: 3, status: "done",
		},
		{
			id: "stumbler", about: "fails twice, then succeeds", in: 1400 * time.Millisecond,
			answer: stumble, deliveries: 3, lives: 1, status: "done",
		},
		{id: "deleted", about: "deleted before its due time: must not fire", in: 2500 * time.Millisecond, answer: ok, deleted: true},
		{
			id: "event", about: "delivered as an event on timerbus.fired", in: 1700 * time.Millisecond,
			event: true, deliveries: 1, lives: 1, status: "done",
		},
	}
}

func ok(int) (receiver.Answer, string) { return receiver.Answer{}, "200" }

func snooze(n int) (receiver.Answer, string) {
	if n > 2 {
		return ok(n)
	}
	return receiver.Again(time.Second), "200, again in 1 s"
}

func stumble(n int) (receiver.Answer, string) {
	if n > 2 {
		return ok(n)
	}
	return receiver.Answer{Status: http.StatusServiceUnavailable}, "503"
}
