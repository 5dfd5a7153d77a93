package postgresstore

import (
	"context"
	"errors"
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
		for what, call := range map[string]func(ctx context.Context) error{
			"write": func(ctx context.Context) error {
				_, err := s.Write(ctx, now, []store.Op{putOf("made", now), store.Update{Ref: held.Ref, Revision: 7}})
				return err
			},
			"finish": func(ctx context.Context) error {
				_, err := s.Finish(ctx, now, []store.Finish{finishOf(ends, store.FinishDone), finishOf(held, store.FinishRetry)})
				return err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := call(ctx)
			cancel()
			if !errors.Is(err, store.ErrOutcomeUnknown) || errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: got %v, want ErrOutcomeUnknown alone", what, err)
			}
		}
		for what, n := range map[string]int{"timer_id = 'made'": 1, "timer_id = 'ends'": 0} {
			if got := count(t, inside, "SELECT count(*) FROM timers WHERE "+what); got != n {
				t.Errorf("%s: %d rows, want %d", what, got, n)
			}
		}
	})
}
