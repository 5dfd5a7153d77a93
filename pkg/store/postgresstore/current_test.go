package postgresstore

import (
	"errors"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

// TestStartsThatFailAreNotCounted: two checks count a start of one timer, and the server refuses the second. A caller
// that gets ErrUnavailable repeats the call, so the first count must be rolled back.
func TestStartsThatFailAreNotCounted(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		p := putOf("a", now)
		if _, err := s.Write(t.Context(), now, []store.Op{p}); err != nil {
			t.Fatal(err)
		}
		execute(t, inside,
			`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF NEW.starts > 1 THEN RAISE EXCEPTION 'enough'; END IF; RETURN NEW; END $$`,
			"CREATE TRIGGER refuse BEFORE UPDATE ON timers FOR EACH ROW EXECUTE FUNCTION refuse()")
		check := store.Check{Ref: p.Ref, DueAt: now, Revision: p.Revision, CountStart: true}
		if _, err := s.Current(t.Context(), []store.Check{check, check}); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
		out, err := s.Current(t.Context(), []store.Check{{Ref: p.Ref, DueAt: now}})
		if err != nil || out[0].Timer.Starts != 0 {
			t.Errorf("%d starts are counted, %v; want none of a call that failed", out[0].Timer.Starts, err)
		}
		// A check of a row that has a different revision reads the row in the same transaction.
		out, err = s.Current(t.Context(), []store.Check{check, {Ref: p.Ref, Revision: p.Revision + 1, CountStart: true}})
		if err != nil || !out[0].Counted || out[1].Counted || out[1].Timer.Starts != 1 {
			t.Errorf("counted and not: %+v, %v", out, err)
		}
	})
}
