package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

//testenv:need nats kafka

// outsider is a third-party client of a bus: it knows docs/events.md and uses no code of the product.
type outsider interface {
	// publish publishes a command.
	publish(t *testing.T, key string, headers map[string]string, body string)
	// read returns the first n messages of a topic.
	read(t *testing.T, topic string, n int) []outsideMessage
}

// outsideMessage is a message as a client reads it.
type outsideMessage struct {
	key     string
	headers map[string]string
	body    string
}

// console uses Kafka's console tools.
type console struct{ brokers, prefix, tools string }

func newConsole(t *testing.T, b *messageBus) outsider {
	t.Helper()
	return consoleOf(t, b)
}

func consoleOf(t *testing.T, b *messageBus) console {
	t.Helper()
	const variable = "TIMERBUS_TEST_KAFKA_TOOLS"
	c := console{brokers: os.Getenv("TIMERBUS_TEST_KAFKA"), prefix: b.prefix, tools: os.Getenv(variable)}
	if c.tools == "" {
		t.Fatalf("%s is not set: testenv sets it; for your own Kafka, it is the class path of its libs folder", variable)
	}
	return c
}

// run runs one of the tools and returns its output.
func (c console) run(t *testing.T, input, class string, args ...string) string {
	t.Helper()
	args = append([]string{"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", c.tools, class, "--bootstrap-server", c.brokers}, args...)
	tool := exec.CommandContext(within(t, 2*patience), "java", args...)
	var out, complaints bytes.Buffer
	tool.Stdin, tool.Stdout, tool.Stderr = strings.NewReader(input), &out, &complaints
	if err := tool.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", class, err, &out, &complaints)
	}
	return out.String()
}

func (c console) publish(t *testing.T, key string, headers map[string]string, body string) {
	t.Helper()
	var fields []string
	for name, value := range headers {
		fields = append(fields, name+":"+value)
	}
	c.run(t, strings.Join(fields, ",")+"\t"+key+"\t"+body+"\n", "org.apache.kafka.tools.ConsoleProducer",
		"--topic", c.prefix+".commands", "--reader-property", "parse.headers=true", "--reader-property", "parse.key=true")
}

func (c console) read(t *testing.T, topic string, n int) []outsideMessage {
	t.Helper()
	out := c.run(t, "", "org.apache.kafka.tools.consumer.ConsoleConsumer",
		"--topic", c.prefix+"."+topic, "--from-beginning", "--max-messages", fmt.Sprint(n), "--timeout-ms", "30000",
		"--formatter-property", "print.headers=true", "--formatter-property", "print.key=true")
	var all []outsideMessage
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(fields) != 3 {
			continue
		}
		m := outsideMessage{key: fields[1], headers: map[string]string{}, body: fields[2]}
		for header := range strings.SplitSeq(fields[0], ",") {
			name, value, _ := strings.Cut(header, ":")
			m.headers[name] = value
		}
		all = append(all, m)
	}
	return all
}

// plainNATS uses nats.go without JetStream: it publishes by request, and reads as a subscriber.
type plainNATS struct {
	nc     *nats.Conn
	prefix string
	topics map[string]*nats.Subscription
}

func newPlainNATS(t *testing.T, b *messageBus) outsider {
	t.Helper()
	nc, err := nats.Connect(os.Getenv("TIMERBUS_TEST_NATS"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	p := plainNATS{nc: nc, prefix: b.prefix, topics: map[string]*nats.Subscription{}}
	for _, topic := range []string{"fired", "results"} {
		if p.topics[topic], err = nc.SubscribeSync(b.prefix + "." + topic + ".>"); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p plainNATS) publish(t *testing.T, _ string, headers map[string]string, body string) {
	t.Helper()
	m := &nats.Msg{Subject: p.prefix + ".commands", Header: nats.Header{}, Data: []byte(body)}
	for name, value := range headers {
		m.Header[name] = []string{value}
	}
	ack, err := p.nc.RequestMsgWithContext(within(t, patience), m)
	if err != nil || !strings.Contains(string(ack.Data), `"stream":"`+p.prefix+`-commands"`) {
		t.Fatalf("the command was answered with %+v, %v", ack, err)
	}
}

func (p plainNATS) read(t *testing.T, topic string, n int) []outsideMessage {
	t.Helper()
	var all []outsideMessage
	for range n {
		in, err := p.topics[topic].NextMsgWithContext(within(t, patience))
		if err != nil {
			t.Fatalf("message %d on %s: %v", len(all)+1, topic, err)
		}
		m := outsideMessage{key: in.Header["Timerbus-Key"][0], headers: map[string]string{}, body: string(in.Data)}
		for name, values := range in.Header {
			m.headers[name] = values[0]
		}
		all = append(all, m)
	}
	return all
}

const outsideParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// TestClientsOfOthers publishes a command and reads the resulting events with third-party clients: Kafka's console
// tools on Kafka, plain nats.go on NATS. On both, all events are in the trace of the command.
func TestClientsOfOthers(t *testing.T) {
	const data = `{"id":"outside","executeIn":"1s","callbackUrl":%q,"deliver":"both","payload":{"n":1}}`
	clients := map[string]struct {
		open func(*testing.T, *messageBus) outsider
		// headers and body of the command, and the prefix of attribute names in the messages that are read.
		headers map[string]string
		body    string
		prefix  string
	}{
		"kafka": {newConsole, map[string]string{
			"ce_specversion": "1.0", "ce_id": "c-1", "ce_source": "console", "ce_type": "timerbus.timer.create",
			"ce_correlationid": "order-1", "traceparent": outsideParent, "content-type": "application/json",
		}, data, "ce_"},
		"nats": {newPlainNATS, map[string]string{"traceparent": outsideParent}, `{"specversion":"1.0","id":"c-1","source":"plain",` +
			`"type":"timerbus.timer.create","correlationid":"order-1","data":` + data + `}`, "ce-"},
	}
	onEachBus(t, lone, func(t *testing.T, name string) {
		on := clients[name]
		c := startClusterOn(t, needBus(t, name), 1, 1, 1)
		they := on.open(t, c.bus)
		they.publish(t, "default/outside", on.headers, fmt.Sprintf(on.body, c.receiver.URL))

		call := c.calls(t, "outside", 1)[0]
		if got := call.Header.Get("Traceparent"); got != outsideParent || call.CorrelationID != "order-1" {
			t.Errorf("the callback has traceparent %q and correlation id %q", got, call.CorrelationID)
		}
		seen := slices.Concat(they.read(t, "fired", 1), they.read(t, "results", 2))
		if len(seen) != 3 {
			t.Fatalf("they read %d messages, want 3: %v", len(seen), seen)
		}
		slices.SortFunc(seen, func(a, b outsideMessage) int {
			return strings.Compare(a.headers[on.prefix+"type"], b.headers[on.prefix+"type"])
		})
		for i, want := range []struct{ eventType, id, member string }{
			{"timerbus.command.applied", "c-1_answer", `"commandId":"c-1"`},
			{"timerbus.timer.fired", call.WebhookID, `"payload":{"n":1}`},
			{"timerbus.timer.result", call.WebhookID + "_1_done", `"outcome":"done"`},
		} {
			m := seen[i]
			for name, value := range map[string]string{
				"specversion": "1.0", "type": want.eventType, "id": want.id, "correlationid": "order-1", "subject": "default/outside",
			} {
				if got := m.headers[on.prefix+name]; got != value {
					t.Errorf("%s: %s is %q, want %q", want.eventType, on.prefix+name, got, value)
				}
			}
			if m.key != "default/outside" || m.headers["traceparent"] != outsideParent {
				t.Errorf("%s has key %q and traceparent %q", want.eventType, m.key, m.headers["traceparent"])
			}
			if at := m.headers[on.prefix+"time"]; !strings.Contains(at, time.Now().UTC().Format("2006-01-")) {
				t.Errorf("%s was sent at %q", want.eventType, at)
			}
			if !json.Valid([]byte(m.body)) || !strings.Contains(m.body, want.member) {
				t.Errorf("%s has the body %s, want %s in it", want.eventType, m.body, want.member)
			}
		}
	})
}
