package ingest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// checkTopic refuses a topic that the command's namespace does not allow, or that is a topic of Timerbus. Before it
// refuses, it reads the namespace from the store, because another process may have changed the settings.
func (s *Service) checkTopic(ctx context.Context, c *command, topic string, received timer.Millis) error {
	if topic == "" {
		return nil
	}
	if ours := s.cfg.Prefix + "."; strings.HasPrefix(topic, ours) {
		return timer.Invalid("topic", topic, fmt.Sprintf("a name that does not begin with %q: that prefix is reserved for Timerbus", ours))
	}
	if c.namespace.Settings.EventTopics.Allow(topic) {
		return nil
	}
	ns, err := s.settingsReads.since(ctx, s.cfg.Directory, c.namespaceName, received, s.cfg.Clock)
	if err != nil {
		return err
	}
	c.namespace = ns
	if ns.Settings.EventTopics.Allow(topic) {
		return nil
	}
	return timer.Invalid("topic", topic, wantTopic(ns))
}

// wantTopic describes the topics that a namespace allows.
func wantTopic(ns *store.Namespace) string {
	const shown = 8
	allowed := ns.Settings.EventTopics.List()
	if len(allowed) == 0 {
		return fmt.Sprintf("none: namespace %q allows no user topics (see its eventTopics)", ns.Name)
	}
	more := ""
	if len(allowed) > shown {
		more = fmt.Sprintf(" and %d more", len(allowed)-shown)
	}
	return fmt.Sprintf("one that namespace %q allows: %s%s", ns.Name, strings.Join(allowed[:min(len(allowed), shown)], ", "), more)
}

// settingsReads records when checkTopic last read each namespace from the store, so that a batch of refused timers
// causes only one read. It has at most one entry for each existing namespace.
type settingsReads struct {
	mu   sync.Mutex
	last map[string]timer.Millis
}

// since returns a namespace as the store had it at the given time or later.
func (r *settingsReads) since(
	ctx context.Context, d *store.Directory, name string, at timer.Millis, clock timer.Clock,
) (*store.Namespace, error) {
	r.mu.Lock()
	last, known := r.last[name]
	r.mu.Unlock()
	if known && last >= at {
		return d.Lookup(ctx, name)
	}
	now := clock()
	ns, err := d.Renew(ctx, name)
	if err != nil {
		return ns, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]timer.Millis{}
	}
	r.last[name] = max(r.last[name], now)
	return ns, nil
}
