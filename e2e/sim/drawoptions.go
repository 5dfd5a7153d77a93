package sim

import (
	"net/http"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// options gives some timers of most lives the options of docs/delivery.md, and makes some due now. Lives with a backlog have
// none, because they measure the lateness of their timers.
func (r *dice) options(p *Plan) {
	if p.backlog() || !r.chance(70) {
		return
	}
	if p.Seed%kinds != 0 { // the follow-ups of a crowd would take the room of the crowd
		p.OnDone, p.OnDead = r.chance(20), r.chance(30)
	}
	windows := map[int]time.Duration{}
	var runs []Op
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.Timer >= namespaceMaker || !o.Verb.onTimer() || o.Verb == Delete {
			continue
		}
		if r.chance(20) {
			r.request(o)
		}
		if _, drawn := windows[o.Timer]; !drawn {
			windows[o.Timer] = time.Duration(max(0, r.IntN(10)-6)) * r.between(time.Millisecond, 5*time.Second)
		}
		if r.chance(80) {
			o.Window = windows[o.Timer]
		}
		if r.chance(25) {
			o.Expire, o.Until = r.between(time.Second, 20*time.Second), r.chance(40)
			if o.Until {
				o.Expire += o.Window
			}
		}
		o.OnDone, o.OnDead = r.chance(15), r.chance(25)
		if !o.Late && r.chance(25) { // the late namespace has another retry policy
			o.Fails = 1 + r.IntN(2)
		}
		if r.chance(12) && !o.Topic && !kills(o.Script) {
			at := o.At + r.between(0, 10*time.Second)
			if r.chance(40) {
				at = max(o.At, o.At+o.Soon-r.between(-time.Second, 2*time.Second))
			}
			runs = append(runs, Op{At: min(at, p.Length), Timer: o.Timer, Verb: RunNow, Node: r.IntN(ingests), Late: o.Late})
		}
	}
	if len(runs) > 0 {
		p.Ops = append(p.Ops, runs...)
		p.sortOps()
	}
}

// request draws an HTTP request.
func (r *dice) request(o *Op) {
	if o.Event {
		return
	}
	methods := timer.Methods()
	o.Request = timer.Request{Method: methods[r.IntN(len(methods))], Reschedule: r.chance(50)}
	if o.Request.Method == http.MethodGet || r.chance(10) {
		return
	}
	types := []string{"text/plain; charset=utf-8", "application/octet-stream", "application/x-www-form-urlencoded"}
	o.Request.ContentType = types[r.IntN(len(types))]
}

func kills(script [][]Step) bool {
	for _, life := range script {
		for _, step := range life {
			if step.Answer.Kills() {
				return true
			}
		}
	}
	return false
}
