package engine

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Policies caches the last policy read or written, because nearly all timers of a namespace have the same one.
type Policies struct {
	text   string
	policy timer.RetryPolicy
}

// Format is FormatPolicy with the cache.
func (m *Policies) Format(p *timer.RetryPolicy) string {
	if m.text == "" || m.policy != *p {
		m.text, m.policy = FormatPolicy(p), *p
	}
	return m.text
}

// Last returns the cached policy and its text. The text is empty if there is none.
func (m *Policies) Last() (text string, policy timer.RetryPolicy) { return m.text, m.policy }

// Parse is ParsePolicy with the cache.
func (m *Policies) Parse(text string) (timer.RetryPolicy, error) {
	if text == m.text && text != "" {
		return m.policy, nil
	}
	p, err := ParsePolicy(text)
	if err != nil {
		return p, err
	}
	m.text, m.policy = text, p
	return p, nil
}

// FormatPolicy returns the stored form of a retry policy, which the schemas document: attempts, their duration, first
// interval, multiplier, largest interval.
func FormatPolicy(p *timer.RetryPolicy) string {
	return strings.Join([]string{
		strconv.Itoa(p.MaxAttempts),
		p.MaxAttemptsDuration.String(),
		p.InitialInterval.String(),
		strconv.FormatFloat(p.BackoffMultiplier, 'g', -1, 64),
		p.MaxInterval.String(),
	}, " ")
}

// ParsePolicy parses the stored form.
func ParsePolicy(text string) (p timer.RetryPolicy, err error) {
	fields := strings.Split(text, " ")
	if len(fields) != 5 {
		return p, fmt.Errorf("retry policy %q: want five fields", text)
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
		return timer.RetryPolicy{}, fmt.Errorf("retry policy %q: %w", text, err)
	}
	return p, nil
}
