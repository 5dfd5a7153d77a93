package ingest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

// unreadable is a source of namespaces that fails while err is set.
type unreadable struct {
	store.Namespaces
	err atomic.Pointer[error]
}

func (u *unreadable) failure(ctx context.Context) error {
	switch err := u.err.Load(); {
	case err == nil:
		return nil
	case errors.Is(*err, context.DeadlineExceeded): // it does not answer
		<-ctx.Done()
		return ctx.Err()
	default:
		return *err
	}
}

func (u *unreadable) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	if err := u.failure(ctx); err != nil {
		return store.Namespace{}, err
	}
	return u.Namespaces.GetNamespace(ctx, name)
}

func (u *unreadable) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	if err := u.failure(ctx); err != nil {
		return store.NamespacePage{}, err
	}
	return u.Namespaces.ListNamespaces(ctx, after, limit)
}

// TestI1_ACommandIsNotRefusedWhileItsNamespaceCannotBeRead: a process that has not read the namespace must not send
// commands to the dead topic during an outage of the store. They wait, unacknowledged, and are applied after it.
func TestI1_ACommandIsNotRefusedWhileItsNamespaceCannotBeRead(t *testing.T) {
	for name, cause := range map[string]error{
		"unavailable":     store.ErrUnavailable,
		"unknown outcome": store.ErrOutcomeUnknown,
		"hanging":         context.DeadlineExceeded,
		"other":           errors.New("driver: bad connection"),
	} {
		for _, c := range []struct{ eventType, data string }{
			{event.TypeCreate, `{"namespace":"cold","id":"a","executeIn":"1h"}`},
			{event.TypeUpdate, `{"namespace":"cold","timerId":"a","payload":1}`},
			{event.TypeDelete, `{"namespace":"cold","timerId":"a"}`},
		} {
			t.Run(name+"/"+c.eventType, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var source unreadable
					w := newWorld(t, func(cfg *ingest.Config) {
						source.Namespaces = cfg.Store.(store.Namespaces) //nolint:errcheck // the store of the test implements it.
						cfg.Directory = store.NewDirectory(&source)
					})
					results, dead := w.listen(bus.Results), w.listen(bus.Dead)
					synctest.Wait()
					w.makeNamespace("cold", 4) // after the process has read the other namespaces
					source.err.Store(&cause)
					w.command("1", c.eventType, c.data)
					time.Sleep(time.Minute)
					dead.empty(t)
					results.empty(t)
					w.wantPending(1) // during the outage
					source.err.Store(nil)
					time.Sleep(time.Minute)
					if c.eventType == event.TypeCreate {
						if a := results.next(t); a.CommandID != "1" || a.TimerID != "a" {
							t.Errorf("after the outage: %s", a.event.Data)
						}
					} else if a := dead.next(t); a.Error != "TIMER_NOT_FOUND" {
						t.Errorf("after the outage: %s", a.event.Data)
					}
					w.wantPending(0)
				})
			})
		}
	}
}
