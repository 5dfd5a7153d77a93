package postgresstore

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// policyMemo remembers the last policy of a batch: nearly all timers of a namespace share one.
type policyMemo struct {
	text   string
	policy timer.RetryPolicy
}

// format writes a policy as the column's comment in the schema says.
func (m *policyMemo) format(p *timer.RetryPolicy) string {
	if m.text == "" || m.policy != *p {
		m.policy = *p
		m.text = strings.Join([]string{
			strconv.Itoa(p.MaxAttempts),
			p.MaxAttemptsDuration.String(),
			p.InitialInterval.String(),
			strconv.FormatFloat(p.BackoffMultiplier, 'g', -1, 64),
			p.MaxInterval.String(),
		}, " ")
	}
	return m.text
}

// read reads the column.
func (m *policyMemo) read(r *record) timer.RetryPolicy {
	if m.text != "" && r.isText(m.text) {
		r.at++
		return m.policy
	}
	text := r.text()
	p, err := parsePolicy(text)
	if err != nil {
		r.failf("%w", err)
		return p
	}
	m.text, m.policy = text, p
	return p
}

func parsePolicy(text string) (p timer.RetryPolicy, err error) {
	fields := strings.Split(text, " ")
	if len(fields) != 5 {
		return p, fmt.Errorf("a retry policy column holds %q: want five fields", text)
	}
	number := func(field string) (n int) {
		if err == nil {
			n, err = strconv.Atoi(field)
		}
		return n
	}
	duration := func(field string) (d time.Duration) {
		if err == nil {
			d, err = time.ParseDuration(field)
		}
		return d
	}
	p.MaxAttempts = number(fields[0])
	p.MaxAttemptsDuration = duration(fields[1])
	p.InitialInterval = duration(fields[2])
	if err == nil {
		p.BackoffMultiplier, err = strconv.ParseFloat(fields[3], 64)
	}
	p.MaxInterval = duration(fields[4])
	if err != nil {
		return timer.RetryPolicy{}, fmt.Errorf("a retry policy column holds %q: %w", text, err)
	}
	return p, nil
}
