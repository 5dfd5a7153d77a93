package ingest

import (
	"context"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// ListShards implements api.ServerInterface.
func (h *handler) ListShards(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		name, err := decode.ReadNamespace(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, name)
		if err != nil {
			return answer{}, err
		}
		states, err := h.cfg.Store.Inspect(ctx, ns.Shards.In(0, 1))
		if err != nil {
			return answer{}, err
		}
		list := api.ShardList{Namespace: ns.Name, Shards: make([]api.Shard, len(states))}
		now := h.cfg.Clock()
		for i := range states {
			list.Shards[i] = h.renderShard(&states[i], now)
		}
		return answer{status: http.StatusOK, body: list}, nil
	})
}

func (s *Service) renderShard(state *store.ShardState, now timer.Millis) api.Shard {
	out := api.Shard{
		Shard: int(state.Shard), Partition: int(shard.PartitionOf(state.Shard, s.cfg.Bus.Partitions())),
		Version: state.Version, Held: state.Held, Node: state.Owner.Node,
		ClaimedAt: optionalInstant(state.ClaimedAt),
	}
	if state.Held {
		out.Owner = state.Owner.Incarnation.String()
	}
	if state.Watermark != store.MinKey() {
		out.Watermark = instant(state.Watermark.DueAt)
	}
	if state.NextDueAt != timer.Never {
		out.NextDueAt = instant(state.NextDueAt)
		if late := now.Sub(state.NextDueAt); late > 0 {
			out.OverdueFor = timer.FormatDuration(late.Round(time.Millisecond))
		}
	}
	return out
}
