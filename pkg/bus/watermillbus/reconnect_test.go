package watermillbus_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// TestMain runs more tests in parallel than there are processors, because tests mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestNothingIsLostOverRestarts covers the purpose of the suite's TestReconnect: several publishers publish while the
// server is restarted twice, and every message whose Publish succeeded must be received.
func TestNothingIsLostOverRestarts(t *testing.T) {
	const publishers, each = 20, 100
	opts := embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", NoSync: true, Logger: testserver.Log()}
	server, err := embedded.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	opts.Listen = strings.TrimPrefix(server.URL(), "nats://")
	publisher, subscriber := pair(t, onJetStream(server.URL())(t), "suite")
	t.Cleanup(func() { subscriber.Close() })
	if err := subscriber.SubscribeInitialize("orders"); err != nil {
		t.Fatal(err)
	}
	messages, err := subscriber.Subscribe(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}

	published := make(chan string, publishers*each)
	var publishing sync.WaitGroup
	for n := range publishers {
		publishing.Go(func() {
			for i := range each {
				m := message.NewMessage(watermill.NewUUID(), fmt.Appendf(nil, "%d", n))
				for publisher.Publish("orders", m.Copy()) != nil {
					if t.Context().Err() != nil {
						t.Errorf("publisher %d could not publish message %d until the test's end", n, i)
						return
					}
					time.Sleep(20 * time.Millisecond) // wait before a retry, as a user's program would
				}
				published <- m.UUID
			}
		})
	}

	got := map[string]bool{}
	restarts := map[int]bool{publishers * each / 3: true, publishers * each / 2: true}
	for len(got) < publishers*each {
		select {
		case m, ok := <-messages:
			if !ok {
				t.Fatalf("the channel was closed after %d messages", len(got))
			}
			got[m.UUID] = true
			m.Ack()
		case <-time.After(time.Minute):
			t.Fatalf("nothing comes any more after %d messages of %d", len(got), publishers*each)
		}
		if restarts[len(got)] {
			delete(restarts, len(got))
			server.Close()
			if server, err = embedded.Start(t.Context(), opts); err != nil {
				t.Fatal(err)
			}
		}
	}
	publishing.Wait()
	close(published)
	for id := range published {
		if !got[id] {
			t.Errorf("message %s was published and not received", id)
		}
	}
	if len(restarts) > 0 {
		t.Errorf("the server was not restarted %d times", len(restarts))
	}
}
