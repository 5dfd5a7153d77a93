package dispatcher

// batch carries what many deliveries hand over at the same time in few calls: a worker takes one job and
// whatever else is there by then, without lingering, so that batches grow with the load and an idle
// service waits for nothing.
type batch[J any] struct {
	queue chan J
	most  int
	flush func([]J)
}

// newBatch makes one whose queue holds room jobs. Deliveries wait for their jobs, so that room deliveries
// never fill it.
func newBatch[J any](room, most int, flush func([]J)) *batch[J] {
	return &batch[J]{queue: make(chan J, room), most: most, flush: flush}
}

// add hands a job over.
func (b *batch[J]) add(job J) { b.queue <- job }

// offer hands a job over if there is room; what may be lost is offered.
func (b *batch[J]) offer(job J) bool {
	select {
	case b.queue <- job:
		return true
	default:
		return false
	}
}

// work flushes until close is called and the queue is empty. Several workers may run.
func (b *batch[J]) work() {
	jobs := make([]J, 0, b.most)
	for job := range b.queue {
		jobs = append(jobs[:0], job)
		for more := true; more && len(jobs) < b.most; {
			select {
			case next, open := <-b.queue:
				if more = open; open {
					jobs = append(jobs, next)
				}
			default:
				more = false
			}
		}
		b.flush(jobs)
		clear(jobs)
	}
}

func (b *batch[J]) close() { close(b.queue) }
