package postgresstore

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

var (
	// currentByKey looks for the row at the due_at of the event: there it is next to other due rows, in pages that the
	// poll has just read.
	currentByKey = statement{"current_by_key", "SELECT a.place, " + timerColumns + `
FROM unnest($1::bigint[], $2::timestamptz[], $3::uuid[]) WITH ORDINALITY AS a(shard_id, due_at, timer_uuid, place)
JOIN timers t ON ` + atKey}

	currentByUUID = statement{"current_by_uuid", "SELECT a.place, " + timerColumns + `
FROM unnest($1::bigint[], $2::uuid[]) WITH ORDINALITY AS a(shard_id, timer_uuid, place)
JOIN timers t ON ` + byUUID}

	countStarts = statement{"count_starts", `UPDATE timers t SET starts = t.starts + 1
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[]) WITH ORDINALITY AS a(shard_id, timer_uuid, revision, place)
WHERE ` + byUUID + ` AND t.revision = a.revision
RETURNING a.place, ` + timerColumns}
)

// Current implements store.Outcomes. Checks that count a start are writes. The other checks, nearly all, are reads.
func (s *Store) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	out := make([]store.Checked, len(checks))
	reads, counts := engine.SplitChecks(checks)
	if len(reads) > 0 {
		err := s.read(ctx, "check rows", func(c *conn) error { return c.current(ctx, checks, reads, out) })
		if err != nil {
			return nil, err
		}
	}
	if len(counts) == 0 {
		return out, nil
	}
	if err := s.countStarts(ctx, checks, counts, out); err != nil {
		return nil, err
	}
	return out, nil
}

// current reads the rows of the checks at the given places.
func (c *conn) current(ctx context.Context, checks []store.Check, places []int, out []store.Checked) error {
	at := func(i int) *store.Check { return &checks[places[i]] }
	ref := func(i int) store.Ref { return at(i).Ref }
	n := len(places)
	found := make([]bool, n)
	var scan scanner
	read := func(r *record) {
		place := int(r.int8()) - 1
		t, _ := scan.timer(r)
		if r.err == nil {
			found[place] = true
			out[places[place]] = store.Checked{Found: true, Timer: t}
		}
	}
	err := c.exchange(ctx, call{
		statement: currentByKey,
		args:      [][]byte{refShards(n, ref), instants(n, func(i int) timer.Millis { return at(i).DueAt }), refUUIDs(n, ref)},
		row:       read,
	})
	if err != nil {
		return err
	}
	var missed []int
	for i, place := range places {
		if !found[i] {
			out[place] = store.Checked{}
			missed = append(missed, place)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	places, n = missed, len(missed)
	found = make([]bool, n)
	return c.exchange(ctx, call{statement: currentByUUID, args: [][]byte{refShards(n, ref), refUUIDs(n, ref)}, row: read})
}

// countStarts performs the checks at the given places, and counts a start if the row has the revision. All counts and
// the reads of the remaining rows are one transaction, so that a counted start is either in an answer or has an unknown
// outcome.
func (s *Store) countStarts(ctx context.Context, checks []store.Check, places []int, out []store.Checked) error {
	// Two counts for the same timer need two statements.
	turns := engine.Rounds(places, func(i int) store.Ref { return checks[i].Ref })
	for _, turn := range turns {
		slices.SortFunc(turn, func(a, b int) int { return byRef(checks[a].Ref, checks[b].Ref) })
	}
	return s.write(ctx, "count starts", snapshot, func(t *transaction) error {
		calls := make([]call, len(turns))
		for i, turn := range turns {
			calls[i] = countCall(checks, turn, out)
		}
		if err := t.exchange(ctx, calls...); err != nil {
			return err
		}
		missed := slices.DeleteFunc(slices.Clone(places), func(place int) bool { return out[place].Found })
		if len(missed) > 0 {
			if err := t.conn.current(ctx, checks, missed, out); err != nil {
				return err
			}
		}
		return t.commit(ctx)
	})
}

// countCall performs checks of different timers.
func countCall(checks []store.Check, places []int, out []store.Checked) call {
	n := len(places)
	at := func(i int) *store.Check { return &checks[places[i]] }
	ref := func(i int) store.Ref { return at(i).Ref }
	for _, place := range places {
		out[place] = store.Checked{}
	}
	var scan scanner
	return call{
		statement: countStarts,
		args:      [][]byte{refShards(n, ref), refUUIDs(n, ref), int8s(n, func(i int) int64 { return int64(at(i).Revision) })},
		row: func(r *record) {
			place := int(r.int8()) - 1
			found, _ := scan.timer(r)
			if r.err == nil {
				found.Starts--
				out[places[place]] = store.Checked{Found: true, Timer: found, Counted: true}
			}
		},
	}
}
