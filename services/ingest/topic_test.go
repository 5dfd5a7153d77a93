package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// command publishes a command on partition 1.
func (w *world) command(id, eventType, data string) {
	w.t.Helper()
	e := event.CloudEvent{
		SpecVersion: "1.0", ID: id, Source: "//client", Type: eventType, CorrelationID: "c-" + id,
		DataContentType: "application/json", Data: json.RawMessage(data),
	}
	headers, body, err := e.Encode(event.Binary)
	if err != nil {
		w.t.Fatal(err)
	}
	w.publish(headers, body)
}

func (w *world) publish(headers map[string]string, body []byte) {
	w.t.Helper()
	m := bus.Message{Partition: 1, Key: "default/a", Headers: headers, Body: body}
	if _, err := w.broker.Join("client").Publish(w.t.Context(), bus.Commands, m); err != nil {
		w.t.Fatal(err)
	}
}

// answered is an answer event as read from the bus.
type answered struct {
	event.Answer

	event event.CloudEvent
	on    bus.Message
}

// next returns the next answer of a tap. It fails the test if there is none.
func (l *tap) next(t *testing.T) answered {
	t.Helper()
	synctest.Wait()
	select {
	case m := <-l.got:
		e, err := event.Decode(m.Headers, m.Body)
		if err != nil {
			t.Fatal(err)
		}
		a := answered{event: e, on: m}
		if err := json.Unmarshal(e.Data, &a.Answer); err != nil {
			t.Fatal(err)
		}
		return a
	default:
		t.Fatalf("nothing on %s", l.topic)
		return answered{}
	}
}

func (l *tap) empty(t *testing.T) {
	t.Helper()
	synctest.Wait()
	if n := len(l.got); n > 0 {
		t.Fatalf("%d unexpected messages on %s, first %s", n, l.topic, (<-l.got).Body)
	}
}

// timerField returns a field of the timer in an answer.
func (a *answered) timerField(t *testing.T, name string) any {
	t.Helper()
	var fields map[string]any
	if a.Timer == nil {
		return nil
	}
	if err := json.Unmarshal(a.Timer, &fields); err != nil {
		t.Fatal(err)
	}
	return fields[name]
}

// pending counts the commands that are not acknowledged.
func (w *world) pending() int {
	w.t.Helper()
	floors, err := w.broker.Join("probe").Floor(w.t.Context(), bus.Commands, ingest.Group)
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, f := range floors {
		n += f.Depth
	}
	return n
}

func (w *world) wantPending(want int) {
	w.t.Helper()
	if n := w.pending(); n != want {
		w.t.Errorf("%d commands not acknowledged, want %d", n, want)
	}
}

func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)

		w.command("1", event.TypeCreate, `{"id":"a","executeAt":"2031-01-01T00:00:00Z","payload":{"n":1}}`)
		a := results.next(t)
		if a.CommandID != "1" || a.Verb != event.VerbCreate || a.Namespace != "default" || a.TimerID != "a" || !a.InTime || a.Earlier {
			t.Errorf("create answered %s", a.event.Data)
		}
		if a.timerField(t, "correlationId") != "c-1" || a.timerField(t, "status") != "scheduled" {
			t.Errorf("create answered the timer %s", a.Timer)
		}
		row, err := w.row("a")
		if err != nil || row.Generation.String() != a.timerField(t, "generation") {
			t.Errorf("row %+v, %v", row, err)
		}
		if a.event.Type != event.TypeApplied || a.event.Source != "//test" || a.event.Subject != "default/a" ||
			a.event.CorrelationID != "c-1" || a.on.Key != "default/a" {
			t.Errorf("event %+v with key %s", a.event, a.on.Key)
		}
		w.command("2", event.TypeUpdate, `{"timerId":"a","payload":{"n":2}}`)
		if a := results.next(t); a.timerField(t, "correlationId") != "c-1" || !a.InTime {
			t.Errorf("update answered %s", a.event.Data)
		}
		w.command("p", event.TypePause, `{"timerId":"a","note":"closed"}`)
		a = results.next(t)
		pause, _ := a.timerField(t, "pause").(map[string]any)
		if a.Verb != event.VerbPause || !a.InTime || a.timerField(t, "status") != "paused" || pause["by"] != "//client" || pause["note"] != "closed" {
			t.Errorf("pause answered %s", a.event.Data)
		}
		w.command("r", event.TypeResume, `{"timerId":"a"}`)
		if a := results.next(t); a.Verb != event.VerbResume || !a.InTime || a.timerField(t, "status") != "scheduled" {
			t.Errorf("resume answered %s", a.event.Data)
		}
		w.command("3", event.TypeDelete, `{"timerId":"a"}`)
		if a := results.next(t); a.Timer != nil || a.Verb != event.VerbDelete || !a.InTime || a.event.CorrelationID != "c-1" {
			t.Errorf("delete answered %s", a.event.Data)
		}
		if _, err := w.row("a"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the row still exists: %v", err)
		}
		dead.empty(t)
		w.wantPending(0)
		if got := w.counter("timerbus_ingest_commands_total", "applied"); got != 5 {
			t.Errorf("applied = %v, want 5", got)
		}
	})
}

// TestRefusedCommandsSayWhatHTTPSays sends commands that HTTP refuses as well, and commands that only a topic can
// refuse.
func TestRefusedCommandsSayWhatHTTPSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		for path, c := range map[string]struct{ eventType, data string }{
			"timers/create": {event.TypeCreate, `{"id":"x","executeIn":"1s","callbackUrl":"ftp://h"}`},
			"timers/update": {event.TypeUpdate, `{"id":"x","colour":"red"}`},
			"timers/delete": {event.TypeDelete, `{"id":"x"}`},
			"timers/pause":  {event.TypePause, `{"id":"x","note":1}`},
			"timers/resume": {event.TypeResume, `{"id":"x","overdue":"drop"}`},
		} {
			over := w.post(path, c.data)
			w.command("1", c.eventType, c.data)
			a := dead.next(t)
			if a.Error != over.field("error") || a.Message != over.field("message") || a.event.Type != event.TypeRefused {
				t.Errorf("%s: the topic has %s: %s; HTTP has %s", path, a.Error, a.Message, over.text)
			}
			var details map[string]any
			if err := json.Unmarshal(a.Details, &details); err != nil || !maps.Equal(details, over.field("details").(map[string]any)) { //nolint:errcheck // openapi.yaml defines the type object.
				t.Errorf("%s: the topic's details %s, HTTP's %v", path, a.Details, over.field("details"))
			}
		}
		large := `{"id":"x","executeIn":"1s","payload":"` + strings.Repeat("x", timer.MaxPayload) + `"}`
		for _, c := range []struct {
			headers    map[string]string
			body       string
			code, text string
			shown      bool
		}{
			{nil, `nonsense`, "INVALID_INPUT", `message: "nonsense" is not accepted: want a CloudEvent: structured JSON, or binary with ce_ or ce- headers`, true},
			{map[string]string{"ce_specversion": "1.0", "ce_id": "7", "ce_source": "s", "ce_type": "timer.make"}, `{}`, "INVALID_INPUT", `type: "timer.make" is not accepted: want one of timerbus.schedule.backfill, timerbus.schedule.create, timerbus.schedule.delete, timerbus.schedule.pause, timerbus.schedule.resume, timerbus.schedule.trigger, timerbus.schedule.update, timerbus.timer.create, timerbus.timer.delete, timerbus.timer.pause, timerbus.timer.resume, timerbus.timer.update`, true},
			{map[string]string{"ce_specversion": "1.0", "ce_id": "7", "ce_source": "s", "ce_type": event.TypeCreate, "ce_correlationid": "\x01"}, `{}`, "INVALID_INPUT", `correlationid: "\x01" is not accepted: want at most 255 bytes of UTF-8 without control characters`, true},
			{map[string]string{"ce_specversion": "1.0", "ce_id": "7", "ce_source": "s", "ce_type": event.TypeCreate}, ``, "INVALID_INPUT", `body: "" is not accepted: want one JSON object (unexpected end of JSON input, byte 0)`, false},
			{map[string]string{"ce_specversion": "1.0", "ce_id": "7", "ce_source": "s", "ce_type": event.TypeCreate}, `{"namespace":"n","id":"x","executeIn":"1s"}`, "NAMESPACE_NOT_FOUND", `there is no namespace "n"`, false},
			{map[string]string{"ce_specversion": "1.0", "ce_id": "7", "ce_source": "s", "ce_type": event.TypeCreate}, large, "PAYLOAD_TOO_LARGE", `payload: 102402 bytes are not accepted: want at most 102400`, false},
		} {
			w.publish(c.headers, []byte(c.body))
			a := dead.next(t)
			if a.Error != c.code || a.Message != c.text || a.CommandID == "" {
				t.Errorf("refused with %s: %s\nwant %s: %s", a.Error, a.Message, c.code, c.text)
			}
			if c.shown && a.Command != c.body {
				t.Errorf("the refusal shows %q, want %q", a.Command, c.body)
			}
		}
		w.command("good", event.TypeCreate, `{"id":"x","executeIn":"1h"}`)
		if a := results.next(t); a.CommandID != "good" {
			t.Errorf("a bad command blocks its partition: %s", a.event.Data)
		}
		w.wantPending(0)
	})
}

// A refusal names the command's timer even if the rest of the command could not be read.
func TestRefusedCommandsNameTheirTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		dead := w.listen(bus.Dead)
		for _, c := range []struct {
			eventType, data, namespace, id string
			key                            string // of the refusal; empty: the key of the command
		}{
			{event.TypeCreate, `{"id":"x","executeIn":"1s","callbackUrl":7}`, "default", "x", "default/x"},
			{event.TypeCreate, `{"callbackUrl":"ftp://h","executeIn":"1s","namespace":"default","timerId":"x"}`, "default", "x", "default/x"},
			{event.TypeCreate, `{"id":"x"}`, "default", "x", "default/x"},
			{event.TypeCreate, `{"namespace":"no such","id":"x","executeIn":"1s"}`, "", "x", ""},
			{event.TypeCreate, `{"namespace":"n","id":"x","executeIn":"1s"}`, "n", "x", "n/x"},
			{event.TypeUpdate, `{"colour":"red","id":"x","namespace":"n"}`, "n", "x", "n/x"},
			{event.TypeUpdate, `{"id":"x","id":"y"}`, "default", "x", "default/x"},
			{event.TypeDelete, `{"id":"x","timerId":"y"}`, "default", "x", "default/x"},
			{event.TypeDelete, `{"timerId":"x","ifGeneration":7}`, "default", "x", "default/x"},
			{event.TypeDelete, `{"timerId":"\u0007"}`, "", "", ""},
			{event.TypeDelete, `{"timerId":7}`, "", "", ""},
			{"timer.make", `{"id":"x"}`, "default", "x", "default/x"},
			{event.TypeDelete, `["x"]`, "", "", ""},
		} {
			w.command("1", c.eventType, c.data)
			a := dead.next(t)
			if a.Error == "" || a.Namespace != c.namespace || a.TimerID != c.id {
				t.Errorf("%s: refused for %q in namespace %q, want %q in %q: %s", c.data, a.TimerID, a.Namespace, c.id, c.namespace, a.Message)
			}
			if c.key != "" && (a.on.Key != c.key || a.event.Subject != c.key) {
				t.Errorf("%s: key %q, subject %q, want %q", c.data, a.on.Key, a.event.Subject, c.key)
			}
			// The refusal contains the data if it could not be read as a whole.
			read := a.Error != "INVALID_INPUT" || strings.Contains(c.data, "ftp:")
			if (a.Command == "") != read {
				t.Errorf("%s: %s, and the command is shown as %q", c.data, a.Error, a.Command)
			}
		}
	})
}

// TestBatchKeepsOrder sends commands on one timer during a write, one of which is refused.
func TestBatchKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		thaw := w.frozen()
		w.command("first", event.TypeCreate, `{"id":"z","executeIn":"1h"}`)
		synctest.Wait()
		for i := range 10 {
			w.command(fmt.Sprint(i), event.TypeCreate, fmt.Sprintf(`{"id":"a","executeIn":"1h","payload":%d}`, i))
		}
		w.command("gone", event.TypeDelete, `{"id":"a"}`)
		w.command("late", event.TypeUpdate, `{"id":"a"}`)
		w.command("again", event.TypeCreate, `{"id":"a","executeIn":"1h","payload":"last"}`)
		thaw()
		for _, want := range []string{"first", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "gone", "again"} {
			if a := results.next(t); a.CommandID != want {
				t.Fatalf("answer to %s, want %s", a.CommandID, want)
			}
		}
		if a := dead.next(t); a.CommandID != "late" || a.Error != "TIMER_NOT_FOUND" {
			t.Errorf("refused: %s", a.event.Data)
		}
		if row, err := w.row("a"); err != nil || string(row.Payload) != `"last"` {
			t.Errorf("row %s, %v", row.Payload, err)
		}
	})
}

// picky is a bus that refuses answers with a word in their body for a number of times, with an error for each message.
// It does not deduplicate by message ID, like a Pub/Sub.
type picky struct {
	bus.Bus
	word  string
	times int
}

func (p *picky) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	partial := &bus.PartialError{Errs: make([]error, len(messages))}
	var good []bus.Message
	for i, m := range messages {
		m.ID = ""
		if topic == bus.Results && p.times > 0 && strings.Contains(string(m.Body), p.word) {
			p.times--
			partial.Errs[i] = bus.ErrOutcomeUnknown
		} else {
			good = append(good, m)
		}
	}
	positions, err := p.Bus.Publish(ctx, topic, good...)
	if err != nil || len(good) == len(messages) {
		return positions, err
	}
	return nil, fmt.Errorf("publish to %s: %w", topic, partial)
}

// TestAnAnswerThatIsRefusedIsAloneRepeated: only the refused answer is published again.
func TestAnAnswerThatIsRefusedIsAloneRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.Bus = &picky{Bus: c.Bus, word: "refuse-me", times: 3} })
		results := w.listen(bus.Results)
		thaw := w.frozen()
		for _, id := range []string{"first", "a", "refuse-me", "b"} {
			w.command(id, event.TypeCreate, `{"id":"`+id+`","executeIn":"1h"}`)
			synctest.Wait() // the first command is a batch, and the other three are the next one
		}
		thaw()
		time.Sleep(time.Minute)
		for _, want := range []string{"first", "a", "b", "refuse-me"} {
			if a := results.next(t); a.CommandID != want {
				t.Errorf("answer to %s, want %s", a.CommandID, want)
			}
		}
		results.empty(t)
		w.wantPending(0)
	})
}

// narrow is a bus that refuses answers with a word in their body as too large: each on its own, or the whole call.
type narrow struct {
	bus.Bus
	word  string
	whole bool
}

func (n *narrow) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	partial := &bus.PartialError{Errs: make([]error, len(messages))}
	var good []bus.Message
	for i, m := range messages {
		if topic == bus.Results && strings.Contains(string(m.Body), n.word) {
			partial.Errs[i] = bus.ErrTooLarge
		} else {
			good = append(good, m)
		}
	}
	switch {
	case len(good) == len(messages):
		return n.Bus.Publish(ctx, topic, messages...)
	case n.whole || len(messages) == 1:
		return nil, bus.ErrTooLarge
	}
	if _, err := n.Bus.Publish(ctx, topic, good...); err != nil {
		return nil, err
	}
	return nil, partial
}

// TestAnAnswerThatIsTooLargeIsDropped: the other answers of its batch are published, and the partition makes progress.
func TestAnAnswerThatIsTooLargeIsDropped(t *testing.T) {
	for name, whole := range map[string]bool{"refused on its own": false, "refused with its batch": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(c *ingest.Config) { c.Bus = &narrow{Bus: c.Bus, word: "too-large", whole: whole} })
				results := w.listen(bus.Results)
				thaw := w.frozen()
				for _, id := range []string{"first", "a", "too-large", "b"} {
					w.command(id, event.TypeCreate, `{"id":"`+id+`","executeIn":"1h"}`)
					synctest.Wait() // the first command is a batch, and the other three are the next one
				}
				thaw()
				time.Sleep(time.Minute)
				for _, want := range []string{"first", "a", "b"} {
					if a := results.next(t); a.CommandID != want {
						t.Errorf("answer to %s, want %s", a.CommandID, want)
					}
				}
				results.empty(t)
				w.wantPending(0)
			})
		})
	}
}

// weighed is a bus that counts the bytes of unacknowledged deliveries, and their maximum.
type weighed struct {
	bus.Bus
	held, most atomic.Int64
}

func (b *weighed) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return b.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		s, err := open(ctx, p)
		return weighedSession{s, b}, err
	})
}

type weighedSession struct {
	bus.Session
	bus *weighed
}

func (s weighedSession) Deliver(ctx context.Context, d *bus.Delivery) error {
	held := s.bus.held.Add(int64(d.Size()))
	s.bus.most.Store(max(s.bus.most.Load(), held))
	outer := *d
	outer.Acker = weighedAcker{d.Acker, s.bus, int64(d.Size())}
	return s.Session.Deliver(ctx, &outer)
}

type weighedAcker struct {
	bus.Acker
	bus  *weighed
	size int64
}

func (a weighedAcker) Ack() {
	a.bus.held.Add(-a.size)
	a.Acker.Ack()
}

// TestQueuedCommandsAreBoundedInBytes freezes the store while 40 commands of 50 KiB wait.
func TestQueuedCommandsAreBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *weighed
		const room = 2 << 20 // 512 KiB for each of the 4 partitions
		w := newWorld(t, func(c *ingest.Config) {
			b = &weighed{Bus: c.Bus}
			c.Bus, c.CommandsBytes = b, room
		})
		results := w.listen(bus.Results)
		thaw := w.frozen()
		payload := strings.Repeat("x", 50<<10)
		for i := range 40 {
			w.command(fmt.Sprint(i), event.TypeCreate, fmt.Sprintf(`{"id":"t-%d","executeIn":"1h","payload":%q}`, i, payload))
		}
		synctest.Wait()
		if most := b.most.Load(); most > room/4+60<<10 || most < room/8 {
			t.Errorf("one partition holds %d bytes, want about %d", most, room/4)
		}
		thaw()
		answers := map[string]bool{}
		for range 40 {
			answer := results.next(t)
			answers[answer.CommandID] = true
		}
		if len(answers) != 40 {
			t.Errorf("%d of 40 commands were answered", len(answers))
		}
	})
}

// TestReplayAfterAKillBetweenCommitAndAck kills the process when its batch is in the store. The next owner gets the
// same commands and must not apply them again.
func TestReplayAfterAKillBetweenCommitAndAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		w.killAfterWrite()
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"3s"}`)
		synctest.Wait()
		w.command("2", event.TypeCreate, `{"id":"b","executeIn":"3s"}`)
		synctest.Wait()
		before, err := w.row("a")
		if err != nil {
			t.Fatalf("the first batch is not in the store: %v", err)
		}
		results.empty(t)

		w.store.set(nil)
		w.restart()
		time.Sleep(2 * time.Second) // the dead owner's lease expires
		a := results.next(t)
		if a.CommandID != "1" || !a.Earlier || a.InTime || a.timerField(t, "generation") != before.Generation.String() {
			t.Errorf("the replay answered %s", a.event.Data)
		}
		if b := results.next(t); b.CommandID != "2" || b.Earlier {
			t.Errorf("the command behind it answered %s", b.event.Data)
		}
		if now, err := w.row("a"); err != nil || now.Generation != before.Generation || now.UpdatedAt != before.UpdatedAt {
			t.Errorf("applied twice: %+v, then %+v, %v", before, now, err)
		}
		dead.empty(t)
		w.wantPending(0)
		if got := w.counter("timerbus_ingest_commands_total", "replayed"); got != 1 {
			t.Errorf("replayed = %v, want 1", got)
		}
	})
}

// mortal is a bus whose process is killed when the bus has its first results.
type mortal struct {
	bus.Bus
	kill func()
}

func (m *mortal) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	positions, err := m.Bus.Publish(ctx, topic, messages...)
	if topic == bus.Results {
		m.kill()
	}
	return positions, err
}

// TestReplayAfterAKillBetweenAnswerAndAck: the answer to the replay is not dropped as a repetition of the first answer,
// which may have had another reader.
func TestReplayAfterAKillBetweenAnswerAndAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		w.stop()
		killed := w.broker.Join("killed")
		w.build(func(c *ingest.Config) { c.Bus = &mortal{killed, killed.Crash} })
		w.run()
		w.doomed = true
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		if a := results.next(t); a.CommandID != "1" || a.Earlier {
			t.Errorf("the first answer is %s", a.event.Data)
		}
		w.wantPending(1)
		w.restart()
		time.Sleep(2 * time.Second) // the dead owner's lease expires
		if a := results.next(t); a.CommandID != "1" || !a.Earlier {
			t.Errorf("the replay answered %s", a.event.Data)
		}
	})
}

// TestReplayOfADeletedTimerShowsItGone: a later command has deleted the timer before the replay.
func TestReplayOfADeletedTimerShowsItGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		var failing atomic.Bool
		failing.Store(true)
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) membus.PublishFault {
			if topic == bus.Results && failing.Load() {
				return membus.PublishFault{Err: bus.ErrUnavailable}
			}
			return membus.PublishFault{}
		}})
		w.command("1", event.TypeCreate, `{"id":"a","executeAt":"2031-01-01T00:00:00Z"}`)
		synctest.Wait()
		w.wantPending(1) // an ack must wait for the answer
		w.post("timers/delete", `{"id":"a"}`).must(t, 204)
		w.broker.Lose(bus.Commands, ingest.Group, 1)
		synctest.Wait()
		failing.Store(false)
		time.Sleep(10 * time.Second)
		a := results.next(t)
		if !a.Earlier || a.Timer != nil {
			t.Errorf("the replay answered %s", a.event.Data)
		}
		results.empty(t)
		if _, err := w.row("a"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the replay created the timer again: %v", err)
		}
	})
}

func TestUnknownOutcomeOfABatch(t *testing.T) {
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				results, hints := w.listen(bus.Results), w.listen(bus.Shards)
				var tries atomic.Int32
				w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
					if tries.Add(1) > 1 {
						return do()
					}
					if applied {
						_, _ = do()
					}
					return nil, store.ErrOutcomeUnknown
				})
				w.command("1", event.TypeCreate, `{"id":"a","executeIn":"3s"}`)
				w.command("2", event.TypeDelete, `{"id":"b"}`)
				time.Sleep(time.Second)
				a := results.next(t)
				if a.CommandID != "1" || a.Earlier != applied {
					t.Errorf("answered %s", a.event.Data)
				}
				row, err := w.row("a")
				if err != nil || a.timerField(t, "generation") != row.Generation.String() {
					t.Errorf("row %+v, %v; answered %s", row, err, a.event.Data)
				}
				// One of the hints names the stored state.
				found := false
				for range len(hints.got) {
					h, err := event.UnmarshalHint((<-hints.got).Body)
					found = found || err == nil && h.Revision == row.Revision
				}
				if !found {
					t.Error("no hint for the state in the store")
				}
				w.wantPending(0)
			})
		})
	}
}

func TestUnavailableStoreHoldsThePartitionInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		w.store.set(func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
			return nil, store.ErrUnavailable
		})
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h","payload":1}`)
		synctest.Wait()
		w.command("2", event.TypeCreate, `{"id":"a","executeIn":"1h","payload":2}`)
		time.Sleep(time.Minute)
		results.empty(t)
		w.wantPending(2)
		w.store.set(nil)
		time.Sleep(6 * time.Second)
		for _, want := range []string{"1", "2"} {
			if a := results.next(t); a.CommandID != want || a.Earlier {
				t.Errorf("answered %s, want %s", a.event.Data, want)
			}
		}
	})
}

// TestNewTopicIsNotTakenForOld creates the topic again: offsets restart, and the stored position has the previous
// epoch.
func TestNewTopicIsNotTakenForOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		w.command("2", event.TypeCreate, `{"id":"b","executeIn":"1h"}`)
		results.next(t)
		results.next(t)
		w.broker.Recreate(bus.Commands)
		synctest.Wait()
		w.command("3", event.TypeCreate, `{"id":"c","executeIn":"1h"}`)
		time.Sleep(time.Second)
		if a := results.next(t); a.CommandID != "3" || a.Earlier {
			t.Errorf("answered %s", a.event.Data)
		}
	})
}

// TestOlderEpochIsAllOld tests the reverse: the stored position has a later epoch.
func TestOlderEpochIsAllOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		_, err := w.store.Store.WriteAt(t.Context(), noon, nil, store.Move{
			Topic: string(bus.Commands), Partition: 1, To: store.Position{Epoch: 2, Offset: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			w.command(fmt.Sprint(i), event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
			if a := results.next(t); !a.Earlier || a.Timer != nil {
				t.Errorf("answered %s", a.event.Data)
			}
		}
		if at, err := w.store.Position(t.Context(), string(bus.Commands), 1); err != nil || at != (store.Position{Epoch: 2, Offset: 1}) {
			t.Errorf("the position moved to %+v, %v", at, err)
		}
	})
}

// TestZombieAppliesNothing: an owner that was replaced without its knowledge loses the compare-and-set.
func TestZombieAppliesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		w.command("0", event.TypeCreate, `{"id":"warm","executeIn":"1h"}`)
		results.next(t)

		thaw := w.frozen()
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		synctest.Wait() // the first owner's write is in flight
		zombie := w.member
		zombie.Freeze()
		w.restart()
		time.Sleep(2 * time.Second) // the lease expires; then the second owner's write is in flight, too
		thaw()
		first, second := results.next(t), results.next(t)
		if first.Earlier == second.Earlier {
			t.Errorf("exactly one of two owners applies it: %s and %s", first.event.Data, second.event.Data)
		}
		row, err := w.row("a")
		if err != nil || first.timerField(t, "generation") != row.Generation.String() || second.timerField(t, "generation") != row.Generation.String() {
			t.Errorf("row %+v, %v; answers %s and %s", row, err, first.event.Data, second.event.Data)
		}
		zombie.Thaw()
	})
}

func TestWithoutPositionsCommandsAreAppliedAtLeastOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.Positions = nil })
		results := w.listen(bus.Results)
		var tries atomic.Int32
		w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			written, err := do()
			if tries.Add(1) == 1 {
				return nil, store.ErrOutcomeUnknown
			}
			return written, err
		})
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		time.Sleep(time.Second)
		a := results.next(t)
		if row, err := w.row("a"); err != nil || a.Earlier || a.timerField(t, "generation") != row.Generation.String() {
			t.Errorf("row %+v, %v; answered %s", row, err, a.event.Data)
		}
		if tries.Load() != 2 || w.pending() != 0 {
			t.Errorf("%d tries, %d pending", tries.Load(), w.pending())
		}
	})
}

// TestRevokeFinishesTheBatchUnderWay: a batch that is committed before the handover of the partition is acknowledged.
func TestRevokeFinishesTheBatchUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		thaw := w.frozen()
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		synctest.Wait()
		w.broker.Revoke(bus.Commands, ingest.Group, 1)
		synctest.Wait()
		thaw()
		if a := results.next(t); a.CommandID != "1" || a.Earlier {
			t.Errorf("answered %s", a.event.Data)
		}
		time.Sleep(time.Second)
		results.empty(t)
		w.wantPending(0)
	})
}

// TestExecuteInCountsFromTheBus: the time that a command waits does not delay its timer.
func TestExecuteInCountsFromTheBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		sent := timer.FromTime(time.Now())
		thaw := w.frozen()
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		time.Sleep(5 * time.Second)
		thaw()
		results.next(t)
		if row, err := w.row("a"); err != nil || row.ExecuteAt != sent+3_600_000 {
			t.Errorf("executeAt %v, %v; want an hour after %v", row.ExecuteAt, err, sent)
		}
	})
}
