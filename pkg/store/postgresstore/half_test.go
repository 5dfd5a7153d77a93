package postgresstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/store"
)

// TestABatchThatIsHalfDoneIsUnknown: its first statement is committed, and its second one fails, because another
// transaction has locked a row. A caller that gets ErrUnavailable would attribute the committed changes to another
// writer.
func TestABatchThatIsHalfDoneIsUnknown(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		held, ends := putOf("held", now), putOf("ends", now)
		if _, err := s.Write(t.Context(), now, []store.Op{held, ends}); err != nil {
			t.Fatal(err)
		}
		other, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		if _, err := other.Exec(t.Context(), "BEGIN"); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Exec(t.Context(), "SELECT FROM timers WHERE timer_uuid = $1 FOR UPDATE", [16]byte(held.Ref.UUID)); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what string
			call func(ctx context.Context) error
			row  string // of the part that is done
			rows int
		}{
			{"write", func(ctx context.Context) error {
				_, err := s.Write(ctx, now, []store.Op{putOf("made", now), store.Update{Ref: held.Ref, Revision: 7}})
				return err
			}, "made", 1},
			{"finish", func(ctx context.Context) error {
				_, err := s.Finish(ctx, now, []store.Finish{finishOf(ends, store.FinishDone), finishOf(held, store.FinishRetry)})
				return err
			}, "ends", 0},
		} {
			before := waiting(t, inside)
			ctx, cancel := context.WithCancel(t.Context())
			answer := make(chan error, 1)
			go func() { answer <- c.call(ctx) }()
			halfDone := func() bool {
				waits := slices.ContainsFunc(waiting(t, inside), func(pid int) bool { return !slices.Contains(before, pid) })
				return waits && count(t, inside, "SELECT count(*) FROM timers WHERE timer_id = '"+c.row+"'") == c.rows
			}
			for until := time.Now().Add(time.Minute); !halfDone(); {
				select {
				case err := <-answer:
					t.Fatalf("%s: ended before the batch was half done: %v", c.what, err)
				default:
				}
				if time.Now().After(until) {
					t.Fatalf("%s: the batch is not half done after a minute", c.what)
				}
			}
			cancel()
			if err := <-answer; !errors.Is(err, store.ErrOutcomeUnknown) || errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: got %v, want ErrOutcomeUnknown alone", c.what, err)
			}
		}
	})
}

// waiting returns the processes of the database's sessions that wait for a lock.
func waiting(t *testing.T, address string) []int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(),
		"SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	if err != nil {
		t.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	return pids
}
