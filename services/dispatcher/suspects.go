package dispatcher

import "slices"

// suspect lets a delivery wait for a group. starts counts the start that it waits for.
func (b *board) suspect(d *delivery, starts int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended(d) {
		return
	}
	b.putBack(d)
	d.stage, d.starts = stageSuspected, starts
	b.suspects = append(b.suspects, d)
	signal(b.wake)
}

// takeSuspects takes the suspects that may begin now, at most room of them. wait reports that nothing else may begin:
// it is the turn of one that is delivered alone, and what runs ends or takes a lease.
func (b *board) takeSuspects(room int) (group []*delivery, wait bool) {
	if b.last != nil {
		return nil, false
	}
	b.suspects = slices.DeleteFunc(b.suspects, func(d *delivery) bool {
		switch {
		case wait, !b.gate.lets(d):
			return false
		case b.alone(d):
			// Suspects with leases may run for minutes, so others do not wait for them.
			wait = b.apart == b.grouped[0]
			if b.apart > 0 || b.exposed > 0 || room <= 0 {
				return false
			}
		case len(group) >= room, b.grouped[0] >= b.groupLimits[0], d.starts > 2 && b.grouped[1] >= b.groupLimits[1]:
			return false
		}
		if !b.begin(d) {
			wait = false
			return false
		}
		group = append(group, d)
		return true
	})
	b.fair = b.fair || len(group) > 0
	return group, wait
}

// alone reports whether a suspect is delivered alone. One such start would do without outages of bus and store, which
// end deliveries, too.
func (b *board) alone(d *delivery) bool { return d.starts >= b.parkAfter-1 }

// begin takes a slot for a suspect, and a place with its host unless the host's circuit has opened.
func (b *board) begin(d *delivery) bool {
	if d.target != 0 && !b.gate.take(b.gate.host(d), d) {
		return false
	}
	b.reserve(d)
	d.apart, d.grouped = true, true
	b.apart++
	b.countGrouped(d, 1)
	if b.alone(d) {
		b.last = d
	}
	return true
}

func (b *board) countGrouped(d *delivery, n int) {
	b.grouped[0] += n
	if d.starts > 2 {
		b.grouped[1] += n
	}
}

// ungroup ends a suspect's part in its group.
func (b *board) ungroup(d *delivery) {
	if d.grouped {
		d.grouped = false
		b.countGrouped(d, -1)
	}
}
