package admission

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// TestEverythingIsGivenBack takes random paths through all stages, and checks that every counter is zero in the end.
func TestEverythingIsGivenBack(t *testing.T) {
	paths := map[string]int{}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 7))
		b := newTable(t, 1+r.IntN(12), 1+r.IntN(4))
		b.limits.ParkAfter, b.limits.GroupSize, b.limits.LaterInGroup = 5, 3, 2
		b.hosts.limits.KnownHosts, b.hosts.limits.CircuitAfter = 2+r.IntN(5), 1+r.IntN(2)
		b.limits.RoomBytes = 300
		sessions := []*Session{{}, {}}
		var checking, calling, writing []*Ticket
		take := func(from *[]*Ticket) *Ticket {
			if len(*from) == 0 {
				return nil
			}
			i := r.IntN(len(*from))
			d := (*from)[i]
			*from = append((*from)[:i], (*from)[i+1:]...)
			return d
		}
		now, at := timer.Millis(1000), time.Duration(0)
		hosts := []timer.Target{0, targetOf("a"), targetOf("b"), targetOf("c"), targetOf("d"), targetOf("e")}
		names := []string{"", "n", "m"}
		learn := func(d *Ticket) {
			row := Row{Namespace: d.Namespace, Target: d.Target, Host: "h", Bytes: r.IntN(100)}
			if row.Namespace == "" {
				row.Namespace = "n"
			}
			if d.Target == 0 || r.IntN(10) == 0 {
				row.Target = hosts[r.IntN(len(hosts))]
			}
			b.LearnRow(d, &row)
		}
		id := uint16(0)
		gone := func(d *Ticket) bool { return d.stage == Ended }
		for range 300 {
			if r.IntN(3) == 0 {
				by := time.Duration(r.IntN(2000)) * time.Millisecond
				at += by
				now = now.Add(by)
			}
			switch r.IntN(9) {
			case 0, 1, 2:
				id++
				d := &Ticket{
					State: State{UUID: timer.UUID{byte(id >> 8), byte(id)}, Revision: 1}, Namespace: names[r.IntN(3)], Target: hosts[r.IntN(len(hosts))],
					Redelivered: r.IntN(2) == 0, DueAt: now.Add(time.Duration(r.IntN(3)-1) * time.Second), Session: sessions[r.IntN(2)],
				}
				if d.Namespace != "" {
					d.HostLimit = 1 + r.IntN(5)
				}
				b.Offer(d, now, at)
			case 3, 4:
				got := b.Decide(now, at)
				checking = append(checking, got.Check...)
				for _, p := range got.Postpone {
					writing = append(writing, p.Ticket)
					paths["refused "+string(p.Refused)]++
				}
				for _, d := range got.Check {
					if d.stage != Checking {
						t.Fatalf("seed %d: stage %d", seed, d.stage)
					}
				}
				if got.Quarantined && len(got.Check) == 1 && b.runsIsolated(got.Check[0]) && b.exposed > 0 {
					t.Fatalf("seed %d: alone beside %d", seed, b.exposed)
				}
			case 5:
				for d := take(&checking); d != nil; d = take(&checking) {
					if r.IntN(10) == 0 {
						b.End(d)
						paths["end"]++
						continue
					}
					quarantined := d.quarantined
					learn(d)
					switch k := r.IntN(8); {
					case k == 0:
						paths["end learnt"]++
						b.End(d)
					case k == 1:
						paths["hold"]++
						b.WaitUntil(d, now.Add(time.Duration(r.IntN(2))*time.Second))
					case k == 2 && !quarantined:
						paths["quarantine"]++
						b.Quarantine(d, 2+r.IntN(4))
					case k == 3:
						if b.SkipAttempt(d) {
							paths["withdraw"]++
							writing = append(writing, d)
						}
					case quarantined:
						if b.Start(d, at) {
							paths["start quarantined"]++
							calling = append(calling, d)
						}
					default:
						g, ok := b.RequestPermit(d, time.Second, at)
						switch {
						case !ok:
							paths["enter ended"]++
						case g.OK:
							if b.Start(d, at) {
								paths["start"]++
								calling = append(calling, d)
							}
						case g.Refused != "":
							paths["enter "+string(g.Refused)]++
							writing = append(writing, d)
						default:
							paths["enter waits"]++
						}
					}
				}
			case 6:
				d := take(&calling)
				if d == nil {
					break
				}
				if r.IntN(2) == 0 {
					b.Lease(d, timer.Revision(r.IntN(3)*(2+r.IntN(1<<30))))
				}
				b.EndAttempt(d, Result(r.IntN(3)), at)
				if r.IntN(3) == 0 {
					b.Lease(d, timer.Revision(1+r.IntN(1<<30)))
				}
				b.BeginWrite(d)
				writing = append(writing, d)
			case 7:
				if d := take(&writing); d != nil {
					if r.IntN(4) == 0 {
						learn(d)
					}
					b.End(d)
				}
				old, _ := b.Aged(&Time{Elapsed: at})
				for _, a := range old {
					if a.Postpone {
						paths["aged"]++
						writing = append(writing, a.Ticket)
					}
					if gone(a.Ticket) {
						t.Fatalf("seed %d: an ended one is watched", seed)
					}
				}
			case 8:
				if r.IntN(10) == 0 {
					i := r.IntN(2)
					b.EndSession(sessions[i])
					sessions[i] = &Session{}
				}
			}
			if b.slots < 0 || b.slots > b.limits.Concurrency || b.room < 0 || b.bytes < 0 || b.exposed < 0 || b.hosts.calls > b.slots || b.hosts.postponing < 0 {
				t.Fatalf("seed %d: %d slots, %d room, %d bytes, %d exposed, %d calls, %d postponing",
					seed, b.slots, b.room, b.bytes, b.exposed, b.hosts.calls, b.hosts.postponing)
			}
		}
		all := sessions
		b.Close()
		for _, list := range []*[]*Ticket{&checking, &calling, &writing} {
			for d := take(list); d != nil; d = take(list) {
				b.End(d)
			}
		}
		for _, s := range all {
			if s.exposed != 0 {
				t.Fatalf("seed %d: session exposed %d", seed, s.exposed)
			}
		}
		q := &b.quarantine
		if b.slots != 0 || b.room != 0 || b.bytes != 0 || b.exposed != 0 || len(b.known) != 0 || len(b.early) != 0 || b.aging.Len() != 0 ||
			b.shares.size != 0 || len(b.shares.known) != 0 || len(b.shares.order) != 0 || len(q.waiting) != 0 || q.running != 0 || q.unleased != [2]int{} ||
			q.isolated != nil || b.hosts.postponing != 0 || b.hosts.calls != 0 || b.hosts.waiting != 0 || b.hosts.hostsInUse != 0 || b.hosts.queued.Len() != 0 ||
			b.hosts.idle.Len() != len(b.hosts.hosts) || !b.Idle() {
			t.Fatalf("seed %d: left: slots %d room %d bytes %d exposed %d known %d early %d aging %d shares %+v quarantine %+v hosts %+v (%d of %d idle)", seed,
				b.slots, b.room, b.bytes, b.exposed, len(b.known), len(b.early), b.aging.Len(), b.shares, q, b.hosts.counts(), b.hosts.idle.Len(), len(b.hosts.hosts))
		}
		down := 0
		for _, h := range b.hosts.hosts {
			n := 0
			for _, x := range h.tenants {
				if x.calls != 0 || x.waiting != 0 || x.trying {
					t.Fatalf("seed %d: tenant left %+v", seed, x)
				}
				if x.open {
					n++
				}
			}
			if h.calls != 0 || len(h.waiting) != 0 || h.running != 0 || h.startSum != 0 || h.openCircuits != n {
				t.Fatalf("seed %d: host left: %d calls, %d wait, %d running, %v begun, %d of %d down", seed, h.calls, len(h.waiting), h.running, h.drainRate.startSum, h.openCircuits, n)
			}
			down += n
		}
		if down != b.hosts.openCircuits {
			t.Fatalf("seed %d: %d down, %d counted", seed, down, b.hosts.openCircuits)
		}
	}
	t.Log(paths)
}
