package oracle_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/oracle"
)

// start is when the stories begin; their times are seconds after it.
var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// story is one run of one timer.
type story struct{ *oracle.Oracle }

// create is an acknowledged create of timer "t" with token "1" for second 10, answered in second 0.
func (s *story) create() { s.Creating("t", "1", at(10)).Applied(true, at(0)) }

// deliver is a delivery answered as done, with changes.
func (s *story) deliver(seconds float64, changes ...func(*delivery)) {
	d := &delivery{verdict: oracle.Done, Delivery: oracle.Delivery{
		Timer: "t", Token: "1", WebhookID: "u_1", Attempt: 1, ExecuteAt: at(10), At: at(seconds),
	}}
	for _, change := range changes {
		change(d)
	}
	s.Delivered(&d.Delivery)
	if !d.unanswered {
		s.Answered(&d.Delivery, d.verdict, d.next)
	}
}

type delivery struct {
	oracle.Delivery

	verdict    oracle.Verdict
	next       time.Time
	unanswered bool
}

// expect is create with URLs for outcomes.
func (s *story) expect(outcomes ...oracle.Verdict) {
	s.Creating("t", "1", at(10)).Expects(outcomes...).Applied(true, at(0))
}

// followUp is a call of the URL for an outcome of the generation 1 of timer "t".
func (s *story) followUp(outcome oracle.Verdict, changes ...func(*oracle.FollowUp)) {
	f := &oracle.FollowUp{Timer: "t", Generation: "1", Outcome: outcome, WebhookID: "f_1", At: at(11)}
	for _, change := range changes {
		change(f)
	}
	s.FollowedUp(f)
}

func failed(d *delivery) { d.verdict = oracle.Failed }

func dead(d *delivery) { d.verdict = oracle.Dead }

func unanswered(d *delivery) { d.unanswered = true }

func attempt(n int) func(*delivery) { return func(d *delivery) { d.Attempt = n } }

func webhookID(id string) func(*delivery) {
	return func(d *delivery) { d.WebhookID = id }
}

func token(s string) func(*delivery) { return func(d *delivery) { d.Token = s } }

func askedFor(seconds float64) func(*delivery) {
	return func(d *delivery) { d.ExecuteAt = at(seconds) }
}

func again(seconds float64) func(*delivery) {
	return func(d *delivery) { d.verdict, d.next = oracle.Again, at(seconds) }
}

// bad returns only the counts of violations and of duplicates.
func bad(r oracle.Report) oracle.Report {
	return oracle.Report{
		Lost: r.Lost, Early: r.Early, After: r.After, Wrong: r.Wrong, Unattributable: r.Unattributable,
		Duplicates: r.Duplicates, LostFollowUps: r.LostFollowUps, WrongFollowUps: r.WrongFollowUps,
		RepeatedFollowUps: r.RepeatedFollowUps,
	}
}

func same(a, b oracle.Report) bool {
	return a.LostFollowUps == b.LostFollowUps && a.WrongFollowUps == b.WrongFollowUps &&
		a.RepeatedFollowUps == b.RepeatedFollowUps && a.Lost == b.Lost && a.Early == b.Early && a.After == b.After && a.Wrong == b.Wrong &&
		a.Unattributable == b.Unattributable && a.Duplicates == b.Duplicates
}

// TestEveryViolationIsCounted plants one violation in each story, and has unusual stories without a violation.
func TestEveryViolationIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		tell func(s *story)
		want oracle.Report
	}{
		"in order": {tell: func(s *story) { s.create(); s.deliver(10.1) }},

		"lost":         {tell: func(s *story) { s.create() }, want: oracle.Report{Lost: 1}},
		"only tried":   {tell: func(s *story) { s.create(); s.deliver(10.1, failed) }, want: oracle.Report{Lost: 1}},
		"died over it": {tell: func(s *story) { s.create(); s.deliver(10.1, unanswered) }, want: oracle.Report{Lost: 1}},
		"came again after": {
			tell: func(s *story) { s.create(); s.deliver(10.1, unanswered); s.deliver(14) },
			want: oracle.Report{Duplicates: 1},
		},
		"lost after a reschedule": {
			tell: func(s *story) { s.create(); s.deliver(10.1, again(12)) },
			want: oracle.Report{Lost: 1},
		},
		"lost in spite of a refused delete": {
			tell: func(s *story) { s.create(); s.Deleting("t").Refused() },
			want: oracle.Report{Lost: 1},
		},
		"lost update": {
			tell: func(s *story) {
				s.create()
				s.deliver(10.1)
				s.Updating("t", "2", at(20)).Applied(false, at(10.2))
			},
			want: oracle.Report{Lost: 1},
		},
		"neither of two": {
			tell: func(s *story) { s.create(); s.Updating("t", "2", at(20)) },
			want: oracle.Report{Lost: 1},
		},
		"one of two":             {tell: func(s *story) { s.create(); s.Updating("t", "2", at(20)); s.deliver(10.1) }},
		"perhaps deleted":        {tell: func(s *story) { s.create(); s.Deleting("t") }},
		"perhaps never created":  {tell: func(s *story) { s.Creating("t", "1", at(10)) }},
		"never created":          {tell: func(s *story) { s.Creating("t", "1", at(10)).Refused() }},
		"perhaps created, fired": {tell: func(s *story) { s.Creating("t", "1", at(10)); s.deliver(10.1) }},
		"due after the end":      {tell: func(s *story) { s.Creating("t", "1", at(1000)).Applied(true, at(0)) }},

		"early":   {tell: func(s *story) { s.create(); s.deliver(9.999) }, want: oracle.Report{Early: 1}},
		"exactly": {tell: func(s *story) { s.create(); s.deliver(10) }},
		"early at again": {
			tell: func(s *story) {
				s.create()
				s.deliver(10.1, again(12))
				s.deliver(11.9, webhookID("u_2"), askedFor(12))
			},
			want: oracle.Report{Early: 1},
		},

		"after a delete in time": {
			tell: func(s *story) { s.create(); s.Deleting("t").Applied(true, at(9)); s.deliver(10.1) },
			want: oracle.Report{After: 1},
		},
		"after an update in time": {
			tell: func(s *story) {
				s.create()
				s.Updating("t", "2", at(20)).Applied(true, at(9))
				s.deliver(10.1)
				s.deliver(20.1, token("2"), webhookID("u_2"), askedFor(20))
			},
			want: oracle.Report{After: 1},
		},
		"just after a late delete": {
			tell: func(s *story) { s.create(); s.Deleting("t").Applied(false, at(9.9)); s.deliver(10.1) },
		},
		"long after a late delete": {
			tell: func(s *story) { s.create(); s.Deleting("t").Applied(false, at(9.9)); s.deliver(15.1) },
			want: oracle.Report{After: 1},
		},
		"after two updates in time": {
			tell: func(s *story) {
				s.create()
				s.Updating("t", "2", at(20)).Applied(true, at(8))
				s.Updating("t", "3", at(20)).Applied(true, at(9))
				s.deliver(10.1)
				s.deliver(20.1, token("3"), webhookID("u_3"), askedFor(20))
			},
			want: oracle.Report{After: 1},
		},
		"in flight at a late delete": {
			tell: func(s *story) {
				s.create()
				s.Deleting("t").Applied(false, at(10.1))
				s.Creating("t", "2", at(20)).Applied(true, at(10.2))
				s.deliver(10.3)
				s.deliver(20.1, token("2"), webhookID("u_2"), askedFor(20))
			},
		},
		"in flight at a delete with an unknown outcome": {
			tell: func(s *story) {
				s.create()
				s.Deleting("t")
				s.Creating("t", "2", at(20)).Applied(true, at(10.2))
				s.deliver(10.3)
				s.deliver(20.1, token("2"), webhookID("u_2"), askedFor(20))
			},
		},
		"long after a late delete and a create": {
			tell: func(s *story) {
				s.create()
				s.Deleting("t").Applied(false, at(10.1))
				s.Creating("t", "2", at(20)).Applied(true, at(10.2))
				s.deliver(15.2)
				s.deliver(20.1, token("2"), webhookID("u_2"), askedFor(20))
			},
			want: oracle.Report{After: 1},
		},
		"before a delete in time": {
			tell: func(s *story) { s.create(); s.deliver(10.1); s.Deleting("t").Applied(true, at(10.2)) },
			want: oracle.Report{After: 1},
		},
		"before a reschedule and a delete in time": {
			tell: func(s *story) { s.create(); s.deliver(10.1, again(20)); s.Deleting("t").Applied(true, at(10.2)) },
		},
		"before a delete": {
			tell: func(s *story) { s.create(); s.deliver(10.1); s.Deleting("t").Applied(false, at(10.2)) },
		},

		"foreign payload": {tell: func(s *story) { s.deliver(10.1, token("x")) }, want: oracle.Report{Wrong: 1}},
		"another timer's payload": {
			tell: func(s *story) {
				s.Creating("u", "2", at(1000)).Applied(true, at(0))
				s.create()
				s.deliver(10.1)
				s.deliver(10.1, token("2"))
			},
			want: oracle.Report{Wrong: 1},
		},
		"refused and fired": {
			tell: func(s *story) { s.Creating("t", "1", at(10)).Refused(); s.deliver(10.1) },
			want: oracle.Report{Wrong: 1},
		},
		"another time": {
			tell: func(s *story) { s.create(); s.deliver(10.1, askedFor(9)) },
			want: oracle.Report{Wrong: 1},
		},

		"retried": {tell: func(s *story) { s.create(); s.deliver(10.1, failed); s.deliver(10.4, attempt(2)) }},
		"doubled": {tell: func(s *story) { s.create(); s.deliver(10.1); s.deliver(10.4) }, want: oracle.Report{Duplicates: 1}},
		"attempt doubled": {
			tell: func(s *story) {
				s.create()
				s.deliver(10.1, failed)
				s.deliver(10.2, failed)
				s.deliver(10.4, attempt(2))
			},
			want: oracle.Report{Duplicates: 1},
		},
		"attempt after success": {
			tell: func(s *story) { s.create(); s.deliver(10.1); s.deliver(10.4, attempt(2)) },
			want: oracle.Report{Duplicates: 1},
		},
		"rescheduled": {
			tell: func(s *story) {
				s.create()
				s.deliver(10.1, again(12))
				s.deliver(12.1, webhookID("u_2"), askedFor(12))
			},
		},
		"rescheduled to a time that had passed": {
			tell: func(s *story) {
				s.create()
				s.deliver(10.1, again(10.2))
				s.deliver(11.6, webhookID("u_2"), askedFor(11.5))
			},
		},
		"rescheduled to a time that was not requested": {
			tell: func(s *story) {
				s.create()
				s.deliver(10.1, again(12))
				s.deliver(12.6, webhookID("u_2"), askedFor(12.5))
			},
			want: oracle.Report{Wrong: 1},
		},
		"reschedule doubled": {
			tell: func(s *story) {
				s.create()
				s.deliver(10.1, again(12))
				s.deliver(10.2, again(13))
				s.deliver(13.1, webhookID("u_2"), askedFor(13))
			},
			want: oracle.Report{Duplicates: 1},
		},
		"followed up":          {tell: func(s *story) { s.expect(oracle.Done); s.deliver(10.1); s.followUp(oracle.Done) }},
		"dead and followed up": {tell: func(s *story) { s.expect(oracle.Dead); s.deliver(10.1, dead); s.followUp(oracle.Dead) }},
		"done without a URL for that": {
			tell: func(s *story) { s.expect(oracle.Dead); s.deliver(10.1) },
		},
		"lost follow-up": {
			tell: func(s *story) { s.expect(oracle.Done); s.deliver(10.1) },
			want: oracle.Report{LostFollowUps: 1},
		},
		"lost follow-up of a dead timer": {
			tell: func(s *story) { s.expect(oracle.Done, oracle.Dead); s.deliver(10.1, dead) },
			want: oracle.Report{LostFollowUps: 1},
		},
		"lost follow-up after a reschedule": {
			tell: func(s *story) {
				s.expect(oracle.Done)
				s.deliver(10.1, again(12))
				s.deliver(12.1, webhookID("u_2"), askedFor(12))
			},
			want: oracle.Report{LostFollowUps: 1},
		},
		"perhaps replaced before its end": {
			tell: func(s *story) { s.expect(oracle.Done); s.deliver(10.1); s.Deleting("t") },
		},
		"repeated follow-up": {
			tell: func(s *story) {
				s.expect(oracle.Done)
				s.deliver(10.1)
				s.followUp(oracle.Done)
				s.followUp(oracle.Done)
			},
			want: oracle.Report{RepeatedFollowUps: 1},
		},
		"two follow-ups": {
			tell: func(s *story) {
				s.expect(oracle.Done)
				s.deliver(10.1)
				s.followUp(oracle.Done)
				s.followUp(oracle.Done, func(f *oracle.FollowUp) { f.WebhookID = "f_2" })
			},
			want: oracle.Report{WrongFollowUps: 1},
		},
		"follow-up without a URL": {
			tell: func(s *story) { s.create(); s.deliver(10.1); s.followUp(oracle.Done) },
			want: oracle.Report{WrongFollowUps: 1},
		},
		"follow-up of an attempt that failed": {
			tell: func(s *story) {
				s.expect(oracle.Done)
				s.deliver(10.1, failed)
				s.followUp(oracle.Done)
				s.Deleting("t").Applied(false, at(11))
			},
			want: oracle.Report{WrongFollowUps: 1},
		},
		"follow-up of another outcome": {
			tell: func(s *story) { s.expect(oracle.Done, oracle.Dead); s.deliver(10.1); s.followUp(oracle.Dead) },
			want: oracle.Report{LostFollowUps: 1, WrongFollowUps: 1},
		},
		"follow-up of another generation": {
			tell: func(s *story) {
				s.expect(oracle.Done)
				s.deliver(10.1)
				s.followUp(oracle.Done, func(f *oracle.FollowUp) { f.Generation = "2" })
			},
			want: oracle.Report{LostFollowUps: 1, WrongFollowUps: 1},
		},
		"follow-up of a fired event that is heard later": {
			tell: func(s *story) { s.expect(oracle.Done); s.followUp(oracle.Done); s.Report(at(10.9)); s.deliver(10.1) },
		},
		"doubled under another id": {
			tell: func(s *story) { s.create(); s.deliver(10.1); s.deliver(10.4, webhookID("u_2")) },
			want: oracle.Report{Unattributable: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &story{Oracle: oracle.New()}
			c.tell(s)
			if got := s.Report(at(100)); !same(got, c.want) {
				t.Errorf("got %+v\nwant %+v\n%s", bad(got), c.want, got.String())
			}
		})
	}
}

func TestRecoveryIsMeasuredFromTheRestart(t *testing.T) {
	s := &story{Oracle: oracle.New()}
	s.create()
	s.Creating("u", "2", at(40)).Applied(true, at(0))
	s.Restarted(at(30))
	s.deliver(33.5)
	s.deliver(40.25, token("2"), webhookID("w_2"), askedFor(40), func(d *delivery) { d.Timer = "u" })
	r := s.Report(at(100))
	if r.Recovered != 1 || r.MaxRecovery != 3500*time.Millisecond {
		t.Errorf("recovered %d within %v, want 1 within 3.5s", r.Recovered, r.MaxRecovery)
	}
	if r.MaxLateness != 250*time.Millisecond {
		t.Errorf("lateness %v, want 250ms: what was due before the restart does not count", r.MaxLateness)
	}
	if r.Bad() != 0 || r.Fired != 2 {
		t.Errorf("got %s", r.String())
	}
	if h := s.Horizon(); !h.Equal(at(40)) {
		t.Errorf("horizon %v, want %v", h, at(40))
	}
}

// TestARoundCountsFromItsFault: a timer that was due before the fault and repeated attempts do not count as late in the
// round, and a new fault starts from zero.
func TestARoundCountsFromItsFault(t *testing.T) {
	s := &story{Oracle: oracle.New()}
	s.create()
	s.Creating("u", "2", at(40)).Applied(true, at(0))
	s.Creating("v", "3", at(80)).Applied(true, at(0))
	of := func(timer, of string, due float64) func(*delivery) {
		return func(d *delivery) { d.Timer, d.Token, d.WebhookID, d.ExecuteAt = timer, of, timer, at(due) }
	}
	check := func(want oracle.Round) {
		t.Helper()
		if got := s.Report(at(100)).Round; got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	s.Killed(at(20))
	s.deliver(31) // 21 s late, but due before the fault
	s.deliver(42, of("u", "2", 40), failed)
	s.deliver(49, of("u", "2", 40), attempt(2))
	s.deliver(50, of("u", "2", 40), attempt(2))
	check(oracle.Round{First: 1, MaxLateness: 2 * time.Second, Duplicates: 1})
	s.Restarted(at(60))
	check(oracle.Round{First: 1, MaxLateness: 2 * time.Second, Duplicates: 1})
	s.Killed(at(70))
	check(oracle.Round{})
	s.deliver(83, of("v", "3", 80))
	check(oracle.Round{First: 1, MaxLateness: 3 * time.Second})
}
