package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/flow"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// checkFlow refuses a flow key that no pattern of the command's namespace matches. Before it refuses, it reads the namespace from
// the store, because another process may have changed the settings.
func (s *Service) checkFlow(ctx context.Context, c *command, key string, received timer.Millis) error {
	if key == "" {
		return nil
	}
	if _, ok := c.namespace.Settings.Flows.Match(key); ok {
		return nil
	}
	ns, err := s.settingsReads.since(ctx, s.cfg.Directory, c.namespaceName, received, s.cfg.Clock)
	if err != nil {
		return err
	}
	c.namespace = ns
	if _, ok := ns.Settings.Flows.Match(key); ok {
		return nil
	}
	return timer.Invalid("flowKey", key, wantFlow(ns))
}

// wantFlow describes the flow keys that a namespace accepts.
func wantFlow(ns *store.Namespace) string {
	limits := ns.Settings.Flows.List()
	if len(limits) == 0 {
		return fmt.Sprintf("none: namespace %q has no flows (see its settings)", ns.Name)
	}
	const shown = 8
	var patterns []string
	for _, l := range limits[:min(len(limits), shown)] {
		patterns = append(patterns, l.Pattern)
	}
	more := ""
	if len(limits) > shown {
		more = fmt.Sprintf(" and %d more", len(limits)-shown)
	}
	return fmt.Sprintf("one that a pattern of the flows of namespace %q matches: %s%s", ns.Name, strings.Join(patterns, ", "), more)
}

// errNoFlows is the refusal if the store has no state of flows.
var errNoFlows = errors.New("this store does not support flows")

// ListFlows implements api.ServerInterface.
func (h *handler) ListFlows(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		l, err := decode.ReadFlowList(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, l.Namespace)
		if err != nil {
			return answer{}, err
		}
		if h.cfg.Flows == nil {
			return answer{}, errNoFlows
		}
		found, err := h.cfg.Flows.ListFlows(ctx, ns.Name, l.After, l.Limit)
		if err != nil {
			return answer{}, err
		}
		list := api.FlowList{Namespace: ns.Name, Flows: make([]api.Flow, 0, len(found))}
		now := flow.At(h.cfg.Clock())
		for i := range found {
			state, err := flow.Parse(found[i].State)
			if err != nil {
				return answer{}, err
			}
			limit, limited := ns.Settings.Flows.Match(found[i].Key)
			use := state.Use(now, &limit)
			out := api.Flow{
				FlowKey: found[i].Key, Running: use.Running, Waiting: use.Waiting, Backlog: use.Backlog, Dispatchers: use.Dispatchers,
			}
			if limited {
				out.Limit = renderFlowLimit(&limit)
			}
			list.Flows = append(list.Flows, out)
		}
		if len(found) == l.Limit {
			list.Next = found[len(found)-1].Key
		}
		return answer{status: http.StatusOK, body: list}, nil
	})
}

// ListTargets implements api.ServerInterface.
func (h *handler) ListTargets(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		l, err := decode.ReadTargetList(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, l.Namespace)
		if err != nil {
			return answer{}, err
		}
		list := api.TargetList{Namespace: ns.Name, Targets: []api.Target{}}
		if h.cfg.Targets != nil {
			list.Delivers, list.Targets = true, h.cfg.Targets(ns.Name, l.Limit)
		}
		return answer{status: http.StatusOK, body: list}, nil
	})
}

func renderFlowLimits(limits timer.FlowLimits) []api.FlowLimit {
	var all []api.FlowLimit
	for _, l := range limits.List() {
		all = append(all, renderFlowLimit(&l))
	}
	return all
}

func renderFlowLimit(l *timer.FlowLimit) api.FlowLimit {
	out := api.FlowLimit{Pattern: l.Pattern, Concurrency: l.Concurrency}
	if l.Rate.Count > 0 {
		out.Rate = api.FlowRate{Count: l.Rate.Count, Per: timer.FormatDuration(l.Rate.Per), Burst: l.Rate.Burst}
	}
	return out
}

// removeFlows removes the state of a namespace's flows.
func (s *Service) removeFlows(ctx context.Context, namespace string) error {
	if s.cfg.Flows == nil {
		return nil
	}
	for after := ""; ; {
		found, err := s.cfg.Flows.ListFlows(ctx, namespace, after, store.MaxFlowPage)
		if err != nil {
			return err
		}
		for _, f := range found {
			after, f.State = f.Key, ""
			if err := s.cfg.Flows.SwapFlow(ctx, f.Version, f); err != nil && !errors.Is(err, store.ErrConflict) {
				return err
			}
		}
		if len(found) < store.MaxFlowPage {
			return nil
		}
	}
}
