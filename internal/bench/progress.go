package bench

import (
	"sync/atomic"
)

// Progress is the current state of a run. It is safe for one writer and any number of readers.
type Progress struct {
	step atomic.Pointer[Step]
	done atomic.Int64
	// Began, if not nil, is called when a step begins.
	Began func(Step)
}

// Step is a part of a phase.
type Step struct {
	Phase, What string
	// Total is the final count of the step; 0 if it is not known.
	Total int
}

// Now returns the present step and its count so far.
func (p *Progress) Now() (Step, int) {
	s := p.step.Load()
	if s == nil {
		return Step{}, 0
	}
	return *s, int(p.done.Load())
}

func (p *Progress) begin(s Step) {
	p.done.Store(0)
	p.step.Store(&s)
	if p.Began != nil {
		p.Began(s)
	}
}
