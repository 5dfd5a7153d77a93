package dispatcher

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/timerbus/timerbus/pkg/bus"
)

// slowSink is a bus whose calls wait until the test releases them.
type slowSink struct {
	mu    sync.Mutex
	calls [][]string
	let   map[bus.Topic]chan error
	large string // the key of a message that is too large
}

func (s *slowSink) publish(topic bus.Topic, messages ...bus.Message) error {
	keys := make([]string, len(messages))
	for i, m := range messages {
		keys[i] = m.Key
	}
	s.mu.Lock()
	s.calls = append(s.calls, keys)
	let := s.let[topic]
	s.mu.Unlock()
	if err := <-let; err != nil {
		return err
	}
	if slices.Contains(keys, s.large) {
		return bus.ErrTooLarge
	}
	return nil
}

// senders sends messages through topics and collects the answers.
type senders struct {
	t       *testing.T
	sink    *slowSink
	topics  *userTopics
	mu      sync.Mutex
	answers map[string]error
}

func newSenders(t *testing.T, most int, topics ...bus.Topic) *senders {
	t.Helper()
	s := &senders{t: t, sink: &slowSink{let: map[bus.Topic]chan error{}}, answers: map[string]error{}}
	for _, topic := range topics {
		s.sink.let[topic] = make(chan error)
	}
	s.topics = newUserTopics(most, s.sink.publish)
	return s
}

// send sends messages one after another, and returns when each of them waits or is in flight.
func (s *senders) send(topic bus.Topic, keys ...string) {
	for _, key := range keys {
		go func() {
			err := s.topics.send(topic, bus.Message{Key: key})
			s.mu.Lock()
			defer s.mu.Unlock()
			s.answers[key] = err
		}()
		synctest.Wait()
	}
}

func (s *senders) let(topic bus.Topic, err error) {
	s.sink.let[topic] <- err
	synctest.Wait()
}

func (s *senders) wantCalls(want ...[]string) {
	s.t.Helper()
	s.sink.mu.Lock()
	defer s.sink.mu.Unlock()
	if !slices.EqualFunc(s.sink.calls, want, slices.Equal) {
		s.t.Fatalf("calls %v, want %v", s.sink.calls, want)
	}
}

func (s *senders) wantAnswers(want map[string]error) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) != len(want) {
		s.t.Fatalf("answers %v, want %v", s.answers, want)
	}
	for key, err := range want {
		if got, ok := s.answers[key]; !ok || !errors.Is(got, err) {
			s.t.Fatalf("%s is answered (%t) with %v, want %v", key, ok, got, err)
		}
	}
}

func (s *senders) wantNothingLeft() {
	s.t.Helper()
	if len(s.topics.waiting) != 0 {
		s.t.Fatalf("unused topics are kept: %v", s.topics.waiting)
	}
}

func TestOutletsGatherWhileACallIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b = bus.Topic("own:a"), bus.Topic("own:b")
		s := newSenders(t, 3, a, b)
		s.send(a, "1", "2", "3", "4", "5")
		s.send(b, "6")
		s.wantCalls([]string{"1"}, []string{"6"}) // a topic that does not answer does not block others
		s.let(b, nil)
		s.wantAnswers(map[string]error{"6": nil})
		s.let(a, nil)
		s.wantAnswers(map[string]error{"6": nil, "1": nil})
		s.wantCalls([]string{"1"}, []string{"6"}, []string{"2", "3", "4"})
		s.send(a, "7")
		s.let(a, nil)
		s.let(a, nil)
		s.wantCalls([]string{"1"}, []string{"6"}, []string{"2", "3", "4"}, []string{"5", "7"})
		s.wantAnswers(map[string]error{"1": nil, "2": nil, "3": nil, "4": nil, "5": nil, "6": nil, "7": nil})
		s.wantNothingLeft()
	})
}

func TestOutletsThatFailKeepNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a = bus.Topic("own:a")
		s := newSenders(t, 2, a)
		s.send(a, "1", "2", "3", "4")
		s.let(a, bus.ErrNoTopic)
		s.wantCalls([]string{"1"})
		s.wantAnswers(map[string]error{"1": bus.ErrNoTopic, "2": bus.ErrNoTopic, "3": bus.ErrNoTopic, "4": bus.ErrNoTopic})
		s.wantNothingLeft()
		s.send(a, "5") // a later message is tried again
		s.let(a, nil)
		s.wantCalls([]string{"1"}, []string{"5"})
		s.wantNothingLeft()
	})
}

func TestOutletsFindTheMessageThatIsTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a = bus.Topic("own:a")
		s := newSenders(t, 3, a)
		s.sink.large = "3"
		s.send(a, "1", "2", "3", "4", "5")
		s.let(a, nil)
		s.wantCalls([]string{"1"}, []string{"2", "3", "4"})
		for range 4 { // together, then each alone
			s.let(a, nil)
		}
		s.let(a, nil)
		s.wantCalls([]string{"1"}, []string{"2", "3", "4"}, []string{"2"}, []string{"3"}, []string{"4"}, []string{"5"})
		s.wantAnswers(map[string]error{"1": nil, "2": nil, "3": bus.ErrTooLarge, "4": nil, "5": nil})
		s.wantNothingLeft()

		s.send(a, "3")
		s.let(a, nil)
		s.wantNothingLeft()

		// The topic fails while the messages are tried one by one: the remaining ones are not tried.
		s.send(a, "6", "7", "3", "8", "9")
		s.let(a, nil)
		s.let(a, nil)
		s.let(a, bus.ErrUnavailable)
		s.wantAnswers(map[string]error{
			"1": nil, "2": nil, "4": nil, "5": nil,
			"6": nil, "7": bus.ErrUnavailable, "3": bus.ErrUnavailable, "8": bus.ErrUnavailable, "9": bus.ErrUnavailable,
		})
		s.wantNothingLeft()
	})
}

func TestOutletsKeepTheOrderOfATopic(t *testing.T) {
	var mu sync.Mutex
	var got []string
	o := newUserTopics(16, func(_ bus.Topic, messages ...bus.Message) error {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range messages {
			got = append(got, m.Key)
		}
		return nil
	})
	var all sync.WaitGroup
	const each, keys = 50, 20
	for k := range keys {
		all.Go(func() {
			for i := range each {
				if err := o.send(bus.Own("a"), bus.Message{Key: fmt.Sprintf("%d/%02d", k, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if len(got) != each*keys || len(o.waiting) != 0 {
		t.Fatalf("%d messages, want %d; left %v", len(got), each*keys, o.waiting)
	}
	last := map[string]string{}
	for _, key := range got {
		k, i := key[:len(key)-3], key[len(key)-2:]
		if last[k] >= i && last[k] != "" {
			t.Fatalf("%s arrived after %s", key, last[k])
		}
		last[k] = i
	}
}
