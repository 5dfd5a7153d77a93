package natsbus

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// puller asks a JetStream consumer for messages, never for more than its session has room for. The
// client library's own pull loops read ahead: what they hold beyond MaxInFlight would be kept from
// other members until AckWait.
//
// Only the session's goroutine uses it.
type puller struct {
	nc      *nats.Conn
	request string // the consumer's request subject
	limit   int
	expires time.Duration // of a request; heartbeats come at 2/5 of it
	sub     *nats.Subscription
	inbox   string
	arrived chan *nats.Msg
	asked   int // requested and not yet arrived
	heard   time.Time
}

// How long a request lives. A member whose connection hangs swallows what the server sends on the
// requests it left; from the shared queue that must end soon, from a consumer of its own it harms
// nobody, and requests and heartbeats are most of what an idle process costs.
const (
	sharedExpires = 5 * time.Second
	ownExpires    = 30 * time.Second
)

// ownExpiresOn is shorter on a cluster: there a consumer of its own can die with a server that the member is
// not connected to, and only the silence tells.
func ownExpiresOn(stream *jetstream.StreamInfo) time.Duration {
	if stream.Config.Replicas > 1 {
		return sharedExpires
	}
	return ownExpires
}

// errPullAgain means that the consumer must be looked up or made again.
var errPullAgain = errors.New("the server ended the request")

func newPuller(nc *nats.Conn, limit int, expires time.Duration) *puller {
	return &puller{nc: nc, limit: limit, expires: expires}
}

// open begins anew on a consumer; what an earlier request still brings is not seen any more.
func (p *puller) open(stream, consumer string) error {
	p.close()
	p.request = "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer
	p.inbox = p.nc.NewInbox()
	p.arrived = make(chan *nats.Msg, p.limit+64) // and some room for status messages
	p.asked = 0
	sub, err := p.nc.ChanSubscribe(p.inbox, p.arrived)
	if err != nil {
		return fmt.Errorf("subscribe for %s: %w", consumer, err)
	}
	p.sub = sub
	p.heard = time.Now()
	return nil
}

// close ends the subscription; the server forgets requests without interest.
func (p *puller) close() {
	if p.sub != nil {
		_ = p.sub.Unsubscribe() // fails only when the connection is gone, and the interest with it
		p.sub = nil
	}
}

// ask requests what there is room for: at once when nothing is under way, else in portions worth a
// request.
func (p *puller) ask(inFlight int) error {
	room := p.limit - inFlight - p.asked
	if room <= 0 || (p.asked > 0 && room < (p.limit+3)/4) {
		return nil
	}
	body := fmt.Appendf(nil, `{"batch":%d,"expires":%d,"idle_heartbeat":%d}`,
		room, p.expires.Nanoseconds(), (p.expires * 2 / 5).Nanoseconds())
	if err := p.nc.PublishRequest(p.request, p.inbox, body); err != nil {
		return fmt.Errorf("request messages: %w", err)
	}
	if p.asked == 0 {
		p.heard = time.Now()
	}
	p.asked += room
	return nil
}

// silent tells when a request must be taken for lost; zero while none is under way.
func (p *puller) silent() time.Time {
	if p.asked == 0 {
		return time.Time{}
	}
	return p.heard.Add(p.expires)
}

// sort tells data from the server's remarks about our requests.
func (p *puller) sort(m *nats.Msg) (data bool, err error) {
	p.heard = time.Now()
	if m.Subject != p.inbox {
		p.asked--
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
		p.asked = max(0, p.asked-pending)
		if d := strings.ToLower(m.Header.Get("Description")); strings.Contains(d, "deleted") || strings.Contains(d, "shutdown") {
			return false, fmt.Errorf("%w: %s", errPullAgain, d)
		}
		return false, nil
	default:
		return false, fmt.Errorf("%w: %s %s", errPullAgain, status, m.Header.Get("Description"))
	}
}
