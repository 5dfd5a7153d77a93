package postgresstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestATimerThatLivedMeanwhileHasNoSecondLife: another transaction creates and finishes the timer between the snapshot
// of a transaction and its insert. The test locks history, so that the transaction waits after it has its snapshot, and
// writes the final outcome of the other timer.
func TestATimerThatLivedMeanwhileHasNoSecondLife(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		ends := map[store.FinishKind]store.Put{store.FinishDone: putOf("done", now), store.FinishDead: putOf("dead", now)}
		for kind, p := range ends {
			if _, err := s.Write(t.Context(), now, []store.Op{p}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Finish(t.Context(), now, []store.Finish{finishOf(p, kind)}); err != nil {
				t.Fatal(err)
			}
		}
		kept, failing, dead := putOf("kept", now), putOf("failing", now), ends[store.FinishDead]
		kept.OnConflict, failing.OnConflict = store.Keep, store.Fail
		positioned := putOf("positioned", now)
		positioned.OnConflict = store.Fail
		for _, c := range []struct {
			name  string
			ref   store.Ref
			write func() (store.Written, error)
			right func(w store.Written) bool
		}{
			{
				"keep", kept.Ref,
				func() (store.Written, error) { return one(s.Write(t.Context(), now, []store.Op{kept})) },
				func(w store.Written) bool { return w.Kept && w.Timer.Status == timer.StatusDone },
			},
			{
				"fail", failing.Ref,
				func() (store.Written, error) { return one(s.Write(t.Context(), now, []store.Op{failing})) },
				func(w store.Written) bool { return errors.Is(w.Err, store.ErrExists) },
			},
			{
				"fail at a position", positioned.Ref,
				func() (store.Written, error) {
					move := store.Move{Topic: "commands", To: store.Position{Epoch: 1, Offset: 1}}
					return one(s.WriteAt(t.Context(), now, []store.Op{positioned}, move))
				},
				func(w store.Written) bool { return errors.Is(w.Err, store.ErrExists) },
			},
			{
				"rearm", dead.Ref,
				func() (store.Written, error) {
					return one(s.Rearm(t.Context(), now, []store.Rearm{{Ref: dead.Ref, Revision: 7, ExecuteAt: now}}))
				},
				func(w store.Written) bool { return errors.Is(w.Err, store.ErrNotFound) },
			},
		} {
			w, err := liveMeanwhile(t, inside, c.ref, ends[store.FinishDone].Ref, c.write)
			if err != nil || !c.right(w) {
				t.Errorf("%s: %+v, %v", c.name, w, err)
			}
			if n := count(t, inside, fmt.Sprintf("SELECT count(*) FROM timers WHERE timer_uuid = '%s'", c.ref.UUID)); n != 0 {
				t.Errorf("%s: the timer lives again", c.name)
			}
		}
	})
}

func one(written []store.Written, err error) (store.Written, error) {
	if err != nil {
		return store.Written{}, err
	}
	return written[0], nil
}

// liveMeanwhile runs a write, and before it continues writes a final outcome of the timer that is a copy of another
// timer's.
func liveMeanwhile(t *testing.T, inside string, ref, like store.Ref, write func() (store.Written, error)) (store.Written, error) {
	t.Helper()
	other, err := pgx.Connect(t.Context(), inside)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	run := func(sql string) {
		t.Helper()
		if _, err := other.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run("BEGIN")
	run("LOCK TABLE timer_history IN ACCESS EXCLUSIVE MODE")
	type answer struct {
		written store.Written
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		w, err := write()
		done <- answer{w, err}
	}()
	waitForLock(t, other)
	//nolint:unqueryvet // all columns, whatever they are
	run(fmt.Sprintf("CREATE TEMPORARY TABLE life AS SELECT * FROM timer_history WHERE timer_uuid = '%s'", like.UUID))
	// A new generation, a little later than any other final outcome.
	run(fmt.Sprintf(`UPDATE life SET shard_id = %d, timer_uuid = '%s', generation = generation + 1,
		finished_at = finished_at + interval '1 second'`, ref.Shard, ref.UUID))
	run(strings.Join([]string{"INSERT INTO timer_history SELECT * FROM life", "DROP TABLE life", "COMMIT"}, "; "))
	a := <-done
	return a.written, a.err
}
