package natsbus

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// puller requests messages from a JetStream consumer, never more than its session has room for. The client library's
// pull loops prefetch: messages that they hold beyond MaxInFlight would be withheld from other members until AckWait.
//
// Only the session's goroutine uses it.
type puller struct {
	nc      *nats.Conn
	request string // the consumer's request subject
	limit   int
	bytes   int           // bound of the bytes requested and in flight
	expires time.Duration // of a request; the heartbeat interval is 2/5 of it
	sub     *nats.Subscription
	inbox   string
	arrived chan *nats.Msg
	shared  bool // several pullers use arrived
	asked   int  // messages requested and not yet received
	heard   time.Time

	askedBytes int  // bound of the bytes of the open requests
	average    int  // moving average of message sizes in bytes
	refused    int  // the limit in bytes that the next message exceeded; 0: none
	unbounded  bool // a request without a limit in bytes is open
}

// statusRoom is the room for status messages in arrived.
const statusRoom = 64

// minEstimate is the minimum number of bytes that a request allows for each message, so that small messages need one
// request.
const minEstimate = 4 << 10

// ownExpiresOn returns a shorter lifetime on a cluster: there a consumer can disappear with a server to which the
// member is not connected, and only the missing heartbeats show it.
func (t *times) ownExpiresOn(stream *jetstream.StreamInfo) time.Duration {
	if stream.Config.Replicas > 1 {
		return t.sharedExpires
	}
	return t.ownExpires
}

// errPullAgain means that the consumer must be looked up or created again.
var errPullAgain = errors.New("the server ended the request")

func newPuller(nc *nats.Conn, spec *bus.Spec, expires time.Duration) *puller {
	return &puller{nc: nc, limit: spec.MaxInFlight, bytes: spec.MaxBytes, expires: expires}
}

// open starts reading from a consumer. Messages for earlier requests are dropped.
func (p *puller) open(stream, consumer string) error {
	p.close()
	p.request = "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer
	p.inbox = p.nc.NewInbox()
	if !p.shared {
		p.arrived = make(chan *nats.Msg, p.limit+statusRoom)
	}
	p.asked, p.askedBytes, p.refused, p.unbounded = 0, 0, 0, false
	sub, err := p.nc.ChanSubscribe(p.inbox, p.arrived)
	if err != nil {
		return fmt.Errorf("subscribe for %s: %w", consumer, err)
	}
	p.sub = sub
	p.heard = time.Now()
	return nil
}

// close ends the subscription. The server drops requests whose subscription is gone.
func (p *puller) close() {
	if p.sub != nil {
		_ = p.sub.Unsubscribe() // fails only without a connection, and then the subscription is gone
		p.sub = nil
	}
}

// ask requests as many messages as there is room for: immediately if there are no messages in flight and no open
// requests, otherwise only if a large enough part of the limit is free. inFlight and bytes are the session's
// unacknowledged messages and their size.
func (p *puller) ask(inFlight, bytes int) error {
	return p.askFor(p.expires, inFlight, bytes, inFlight == 0)
}

// askFor is ask with a given lifetime of the request. If alone is set, a message of any size may be delivered.
func (p *puller) askFor(expires time.Duration, inFlight, bytes int, alone bool) error {
	room := p.limit - inFlight - p.asked
	if room <= 0 || (p.asked > 0 && room < (p.limit+3)/4) {
		return nil
	}
	allowed := p.bytes - bytes - p.askedBytes
	if p.refused == 0 {
		allowed = min(allowed, room*max(2*p.average, minEstimate))
	}
	limit := ""
	switch {
	case p.asked == 0 && alone && p.refused > 0:
		room, allowed = 1, 0 // the message exceeds the bound and is delivered alone
		p.unbounded = true
	case allowed <= p.refused || p.asked > 0 && allowed < minEstimate:
		return nil // until a delivery is acknowledged
	default:
		limit = fmt.Sprintf(`,"max_bytes":%d`, allowed)
	}
	if expires == p.expires {
		limit += fmt.Sprintf(`,"idle_heartbeat":%d`, (expires * 2 / 5).Nanoseconds())
	}
	body := fmt.Appendf(nil, `{"batch":%d,"expires":%d%s}`, room, expires.Nanoseconds(), limit)
	if err := p.nc.PublishRequest(p.request, p.inbox, body); err != nil {
		return fmt.Errorf("request messages: %w", err)
	}
	if p.asked == 0 {
		p.heard = time.Now()
	}
	p.asked += room
	p.askedBytes += allowed
	return nil
}

// received counts a message of an open request. A request allows a number of bytes for all its messages, so each
// message releases an equal share.
func (p *puller) received(m *nats.Msg) {
	p.askedBytes -= p.askedBytes / max(p.asked, 1)
	p.asked = max(0, p.asked-1)
	p.average += (m.Size() - p.average) / 8
	p.refused, p.unbounded = 0, false
}

// silent returns when the open requests must be considered lost; zero if there are none.
func (p *puller) silent() time.Time {
	if p.asked == 0 {
		return time.Time{}
	}
	return p.heard.Add(p.expires)
}

// sort reports whether m is a message. Otherwise it handles the server's status of a request.
func (p *puller) sort(m *nats.Msg) (data bool, err error) {
	p.heard = time.Now()
	if m.Subject != p.inbox {
		p.received(m)
		return true, nil
	}
	switch status := m.Header.Get("Status"); status {
	case "100": // heartbeat
		return false, nil
	case "404", "408", "409":
		pending, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
		if err != nil {
			return false, fmt.Errorf("%w: %s %s", errPullAgain, status, m.Header.Get("Description"))
		}
		p.requestEnded(m, pending)
		if d := strings.ToLower(m.Header.Get("Description")); strings.Contains(d, "deleted") || strings.Contains(d, "shutdown") {
			return false, fmt.Errorf("%w: %s", errPullAgain, d)
		}
		return false, nil
	default:
		return false, fmt.Errorf("%w: %s %s", errPullAgain, status, m.Header.Get("Description"))
	}
}

// requestEnded subtracts the messages and bytes that a request will not deliver. On a cluster, messages of a request
// may arrive after its end.
func (p *puller) requestEnded(m *nats.Msg, pending int) {
	share := p.askedBytes * min(pending, p.asked) / max(p.asked, 1)
	left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Bytes"))
	if err != nil {
		left = share
	}
	p.asked = max(0, p.asked-pending)
	p.askedBytes -= min(share, left)
	if p.asked == 0 {
		p.askedBytes, p.unbounded = 0, false
	}
	if m.Header.Get("Description") == "Message Size Exceeds MaxBytes" {
		p.refused = max(left, 1)
	} else {
		p.refused = 0 // another member may have received the message
	}
}
