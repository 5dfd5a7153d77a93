package admission

import (
	"cmp"
	"container/list"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// host is one host and port, or one user topic.
type host struct {
	target  timer.Target
	name    string        // readable; empty until a row that calls it was read
	limit   int           // permits: the largest of its tenants' limits
	calls   int           // permits in use
	waiting []*Ticket     // for a permit, in order of arrival; their rows were not read
	list    *list.List    // the limiter's idle or queued list, or nil
	element *list.Element // in that list

	drainRate
	refused  int           // deliveries refused since the last report
	reportAt time.Duration // when the next report is due

	tenants        map[string]*tenant // by namespace
	tenantsWaiting int                // number of tenants with waiting deliveries
	openCircuits   int                // open circuits
}

// tenant is a namespace that calls a host. Each tenant has its circuit: unanswered calls, perhaps with a short timeout,
// say nothing about the receivers of other namespaces behind the same host. Its drain rate applies while its limit is
// reached.
type tenant struct {
	circuit
	drainRate
	limit, calls, waiting int
	postponements         [timer.MaxPostponements + 1]int // the waiting deliveries by Ticket.Postponements
}

// wouldDisplace reports whether a waiting delivery of the namespace must be postponed before t. Then t waits although the
// queue is full. If it were refused, some timers would be postponed again and again, while later ones are called.
func (n *tenant) wouldDisplace(t *Ticket) bool {
	for _, waiting := range n.postponements[:t.Postponements] {
		if waiting > 0 {
			return true
		}
	}
	return false
}

// hostOf returns the host of a delivery and its namespace there, creating them if absent.
func (l *limiter) hostOf(t *Ticket) (*host, *tenant) {
	h := l.hosts[t.Target]
	if h == nil {
		h = &host{target: t.Target, name: t.host, tenants: map[string]*tenant{}}
		l.hosts[t.Target] = h
	}
	return h, l.tenant(h, t)
}

// setName sets the name of a delivery's host.
func (l *limiter) setName(t *Ticket) {
	if h := l.hosts[t.Target]; h != nil {
		h.name = t.host
	}
}

// tenant returns the namespace of a delivery at a host, creating it if absent.
func (l *limiter) tenant(h *host, t *Ticket) *tenant {
	n := h.tenants[t.Namespace]
	if n == nil {
		n = &tenant{}
		h.tenants[t.Namespace] = n
		if t.Target.IsTopic() {
			h.setLimit(n, l.limits.TopicLimit)
		} else {
			h.setLimit(n, cmp.Or(t.HostLimit, l.limits.HostLimit))
		}
	}
	return n
}

func (h *host) setLimit(of *tenant, limit int) {
	if of.limit == limit {
		return
	}
	of.limit, h.limit = limit, 0
	for _, n := range h.tenants {
		h.limit = max(h.limit, n.limit)
	}
}

// updateList moves a host to the list that it belongs to. If there are too many hosts, it removes the longest idle
// ones. The intake bounds the number of hosts in use.
func (l *limiter) updateList(h *host) {
	switch {
	case len(h.waiting) > 0:
		l.moveToList(h, l.queued)
	case h.calls > 0:
		l.moveToList(h, nil)
	default:
		l.moveToList(h, l.idle)
	}
	for len(l.hosts) > l.limits.KnownHosts && l.idle.Len() > 0 {
		oldest := hostIn(l.idle.Front())
		l.moveToList(oldest, nil)
		delete(l.hosts, oldest.target)
		l.openCircuits -= oldest.openCircuits
	}
}

// moveToList puts a host at the end of a list, unless it is already in that list.
func (l *limiter) moveToList(h *host, to *list.List) {
	if h.list == to {
		return
	}
	if h.list != nil {
		h.list.Remove(h.element)
	}
	h.list, h.element = to, nil
	if to != nil {
		h.element = to.PushBack(h)
	}
}

func hostIn(e *list.Element) *host {
	return e.Value.(*host) //nolint:errcheck // the lists hold one type.
}

// HostCounts is the number of hosts with calls, the number of hosts with waiting deliveries, and that of open circuits.
type HostCounts struct{ Called, Queued, Open int }

// HostUse is the use of a host by one namespace.
type HostUse struct {
	Name                  string
	Limit, Calls, Waiting int
	Open                  bool // the circuit is open
}

// uses returns the hosts that a namespace uses and whose name is known, in any order.
func (l *limiter) uses(namespace string) []HostUse {
	var all []HostUse
	for _, h := range l.hosts {
		if n := h.tenants[namespace]; n != nil && h.name != "" {
			all = append(all, HostUse{Name: h.name, Limit: n.limit, Calls: n.calls, Waiting: n.waiting, Open: n.open})
		}
	}
	return all
}

// CompareHostUses orders hosts: those with an open circuit first, then those with waiting deliveries, then the busiest.
func CompareHostUses(a, b HostUse) int {
	switch {
	case a.Open && !b.Open:
		return -1
	case b.Open && !a.Open:
		return 1
	}
	return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
}

func (l *limiter) counts() HostCounts {
	return HostCounts{l.hostsInUse, l.queued.Len(), l.openCircuits}
}
