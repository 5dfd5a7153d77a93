package postgresstore

import (
	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/timer"
)

// policyMemo caches the last policy of a batch.
type policyMemo struct{ engine.Policies }

// read parses the column. If the text equals the last one, it makes no copy.
func (m *policyMemo) read(r *record) timer.RetryPolicy {
	if text, policy := m.Last(); text != "" && r.isText(text) {
		r.at++
		return policy
	}
	p, err := m.Parse(r.text())
	if err != nil {
		r.failf("%w", err)
	}
	return p
}
