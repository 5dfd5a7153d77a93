package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/doctor"
	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

const partitions = 4

// world is a healthy cluster, which tests damage.
type world struct {
	t      *testing.T
	db     *memstore.Database
	faults *faultstore.Faults
	schema store.Schema
	found  bus.Inspection
	o      doctor.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, db: memstore.NewDatabase(), faults: faultstore.New(nil),
		schema: store.Schema{Version: 3, Known: 3, Oldest: 2, OldestProgram: "0.2"},
		found:  bus.Inspection{Clock: time.Now()},
	}
	for _, topic := range bus.Topics() {
		w.found.Topics = append(w.found.Topics, bus.TopicState{Topic: topic, Name: "timerbus-" + string(topic), Partitions: partitions})
	}
	w.o = doctor.Options{
		Schema:     func(context.Context) (store.Schema, error) { return w.schema, nil },
		Store:      func(context.Context) (store.Store, error) { return w.faults.Wrap(w.db.Open()), nil },
		Bus:        func(context.Context) (bus.Inspection, error) { return w.found, nil },
		Partitions: partitions, Limits: doctor.Limits{Timeout: 5 * time.Second, Overdue: 10 * time.Second},
		Clock: timer.SystemClock, Random: rand.Uint64,
	}
	return w
}

// founded is a world with a namespace whose shards have an owner.
func founded(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	s, now := w.db.Open(), timer.SystemClock()
	if _, err := store.Identify(t.Context(), s, partitions, now, rand.Uint64); err != nil {
		t.Fatal(err)
	}
	ns := w.namespace("default")
	if _, err := s.Claim(t.Context(), now, store.Owner{Incarnation: timer.UUID{1}, Node: "one"}, ns.Shards.In(0, 1)); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) namespace(name string) store.Namespace {
	w.t.Helper()
	ns, err := w.db.Open().CreateNamespace(w.t.Context(), store.Namespace{
		Name: name, Shards: shard.Block{Count: 16}, Settings: store.DefaultSettings(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ns
}

// put writes a timer that was due for the given duration, and returns its finish as a function of the kind.
func (w *world) put(id string, ago time.Duration) store.Written {
	w.t.Helper()
	ns, err := w.db.Open().GetNamespace(w.t.Context(), "default")
	if err != nil {
		w.t.Fatal(err)
	}
	past := timer.SystemClock().Add(-ago)
	written, err := w.db.Open().Write(w.t.Context(), past, []store.Op{store.Put{
		Ref: store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}, Namespace: ns.Name, ID: id,
		Revision: timer.NewRevisions(timer.SystemClock, rand.Uint64).Next(),
		Spec:     timer.Spec{ExecuteAt: past, Deliver: timer.DeliverEvent, CallbackTimeout: time.Second, Retry: timer.DefaultRetryPolicy()},
	}})
	if err = errors.Join(err, written[0].Err); err != nil {
		w.t.Fatal(err)
	}
	return written[0]
}

func (w *world) finish(id string, kind store.FinishKind) {
	w.t.Helper()
	row := w.put(id, time.Second).Timer
	ns, err := w.db.Open().GetNamespace(w.t.Context(), "default")
	if err != nil {
		w.t.Fatal(err)
	}
	errs, err := w.db.Open().Finish(w.t.Context(), timer.SystemClock(), []store.Finish{{
		Ref: store.Ref{Shard: ns.Shards.Place(id), UUID: row.UUID}, DueAt: row.DueAt, Kind: kind, If: store.Guard{Revision: row.Revision},
		Next: row.Revision + 1, Record: store.Record{Attempt: 1, FinishedAt: timer.SystemClock(), Error: "no", KeepFor: time.Hour},
	}})
	if err != nil || errs[0] != nil {
		w.t.Fatal(err, errs)
	}
}

func (w *world) run() map[string]doctor.Result {
	w.t.Helper()
	results := map[string]doctor.Result{}
	for _, r := range doctor.Run(w.t.Context(), &w.o) {
		if _, twice := results[r.Check]; twice {
			w.t.Errorf("two results of %s", r.Check)
		}
		if (r.Status == doctor.Failed || r.Status == doctor.Warning) && r.Advice == "" || r.Found == "" {
			w.t.Errorf("%+v does not say what to do", r)
		}
		results[r.Check] = r
	}
	if len(results) != 14 {
		w.t.Errorf("%d checks have a result, want 14: %v", len(results), results)
	}
	return results
}

func TestAHealthyClusterPasses(t *testing.T) {
	w := founded(t)
	for _, r := range w.run() {
		if r.Status != doctor.OK {
			t.Errorf("%+v", r)
		}
	}
	// The probe is deleted.
	page, err := w.db.Open().List(t.Context(), timer.SystemClock(), store.ListQuery{
		Namespace: store.Namespace{Name: "default", Shards: shard.Block{Count: 16}}, Limit: 10,
	})
	if err != nil || len(page.Timers) != 0 {
		t.Errorf("the doctor leaves %v, %v", page.Timers, err)
	}
}

func TestEachCheckFails(t *testing.T) {
	unavailable := fmt.Errorf("dial: %w", store.ErrUnavailable)
	for name, c := range map[string]struct {
		damage func(*world)
		check  string
		status doctor.Status
		found  string
		advice string
	}{
		"the database is away": {
			func(w *world) {
				w.o.Schema = func(context.Context) (store.Schema, error) { return store.Schema{}, unavailable }
			}, "store", doctor.Failed, "dial", "check --store",
		},
		"the store cannot be opened": {
			func(w *world) {
				w.o.Store = func(context.Context) (store.Store, error) { return nil, errors.New("GRANT SELECT") }
			}, "store", doctor.Failed, "GRANT SELECT", "check --store",
		},
		"the database hangs": {
			func(w *world) {
				w.o.Timeout = 50 * time.Millisecond
				w.o.Schema = func(context.Context) (store.Schema, error) { select {} } // ignores its ctx
			}, "store", doctor.Failed, "no answer within 50ms", "check --store",
		},
		"no schema":         {func(w *world) { w.schema.Version = 0 }, "schema", doctor.Failed, "no schema yet", "migrate up"},
		"missing migration": {func(w *world) { w.schema.Version = 2 }, "schema", doctor.Failed, "needs 3", "migrate up"},
		"too new a schema": {
			func(w *world) { w.schema = store.Schema{Version: 5, Known: 3, Oldest: 4, OldestProgram: "0.4"} },
			"schema", doctor.Failed, "timerbus 0.4 or newer", "newest release",
		},
		"writes fail": {
			func(w *world) {
				w.faults.Follow(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.FailBefore}, "Write"))
			},
			"store write", doctor.Failed, "unavailable", "grant the user the rights",
		},
		"writes hang": {
			func(w *world) {
				w.o.Timeout = 50 * time.Millisecond
				w.faults.Follow(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Freeze}, "Write"))
			}, "store write", doctor.Failed, "no answer within 50ms", "delete the timer timerbus-doctor-",
		},
		"the answer of the write is lost": {
			func(w *world) {
				w.faults.Follow(faultstore.OnCall("Write", 1, faultstore.Fault{Kind: faultstore.FailAfter}))
			},
			"store write", doctor.Failed, "outcome unknown", "grant the user the rights",
		},
		"the clock is slow": {
			func(w *world) {
				w.faults.Follow(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Delay, For: 260 * time.Millisecond}, "Time"))
			}, "store clock", doctor.Failed, "read in", "less than 250ms",
		},
		"the clock cannot be read": {
			func(w *world) {
				w.faults.Follow(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.FailBefore}, "Time"))
			},
			"store clock", doctor.Failed, "unavailable", "stop their work",
		},
		"the clock of this machine is wrong": {
			func(w *world) { w.o.Clock = func() timer.Millis { return timer.SystemClock().Add(-time.Minute) } },
			"store clock", doctor.Warning, "1m0s ahead of this machine's clock", "NTP",
		},
		"another number of partitions": {
			func(w *world) { w.o.Partitions = 8 }, "partitions", doctor.Failed, "the cluster has 4, the setting is 8", "--partitions 4",
		},
		"the bus is away": {
			func(w *world) {
				w.o.Bus = func(context.Context) (bus.Inspection, error) { return bus.Inspection{}, bus.ErrUnavailable }
			}, "bus", doctor.Failed, "bus unavailable", "check --bus",
		},
		"the bus refuses the user": {
			func(w *world) {
				w.o.Bus = func(context.Context) (bus.Inspection, error) { return bus.Inspection{}, errors.New("wrong password") }
			}, "bus", doctor.Failed, "wrong password", "correct the bus URL",
		},
		"a topic is missing": {
			func(w *world) {
				w.found.Topics[2] = bus.TopicState{Topic: bus.Due, Name: "timerbus-due", Missing: true}
			},
			"bus topics", doctor.Failed, "missing: timerbus-due", "prefix",
		},
		"a topic has no leader": {
			func(w *world) { w.found.Topics[2].Err = errors.New("no leader") },
			"bus topics", doctor.Failed, "timerbus-due: no leader", "start the servers",
		},
		"a topic has another number of partitions": {
			func(w *world) { w.found.Topics[2].Partitions = 5 },
			"bus partitions", doctor.Failed, "the cluster has 4; timerbus-due has 5", "another prefix",
		},
		"a topic has too few partitions": {
			func(w *world) { w.found.MorePartitions, w.found.Topics[2].Partitions = true, 3 },
			"bus partitions", doctor.Failed, "timerbus-due has 3", "another prefix",
		},
		"partitions were added": {
			func(w *world) { w.found.MorePartitions, w.found.Topics[2].Partitions = true, 5 },
			"bus partitions", doctor.OK, "more were added to 1 topics", "",
		},
		"a right is missing": {
			func(w *world) { w.found.Topics[0].Denied = []string{"WRITE"} },
			"bus rights", doctor.Failed, "timerbus-commands: WRITE", "grant them",
		},
		"the bus's clock is wrong": {
			func(w *world) { w.found.Clock = time.Now().Add(-time.Hour) },
			"bus clock", doctor.Warning, "behind this machine's clock", "executeIn",
		},
		"shards without an owner": {
			func(w *world) { w.namespace("other") }, "shards", doctor.Failed, "16 of 32 have no owner, in partitions 0, 1, 2, 3", "start a scheduler",
		},
		"shards cannot be read": {
			func(w *world) {
				w.faults.Follow(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.FailBefore}, "Inspect"))
			},
			"shards", doctor.Failed, "read shards of namespace default", "--timeout",
		},
		"an overdue timer": {func(w *world) { w.put("late", time.Minute) }, "overdue", doctor.Failed, "overdue by 1m0", "dispatchers are ready"},
		"a timer just due": {func(w *world) { w.put("soon", time.Second) }, "overdue", doctor.OK, "overdue by 1", ""},
		"a parked timer":   {func(w *world) { w.finish("poison", store.FinishParked) }, "parked", doctor.Warning, "1, in namespaces default", "timer retry"},
		"a dead timer":     {func(w *world) { w.finish("gone", store.FinishDead) }, "dead", doctor.Warning, "1, in namespaces default", "--status dead"},
		"dead timers hang": {
			func(w *world) {
				w.o.Timeout = 50 * time.Millisecond
				w.faults.Follow(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Freeze}, "List"))
			}, "dead", doctor.Failed, "count dead timers of namespace default", "--timeout",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := founded(t)
			c.damage(w)
			results := w.run()
			got := results[c.check]
			if got.Status != c.status || !strings.Contains(got.Found, c.found) || !strings.Contains(got.Advice, c.advice) {
				t.Errorf("%+v, want %s with %q and %q", got, c.status, c.found, c.advice)
			}
			failed := false
			for _, r := range results {
				failed = failed || r.Status == doctor.Failed
				if r.Status == doctor.Failed && r.Check != c.check && name != "writes hang" && name != "dead timers hang" {
					t.Errorf("%+v fails too", r)
				}
			}
			all := make([]doctor.Result, 0, len(results))
			for _, r := range results {
				all = append(all, r)
			}
			if doctor.Healthy(all) == failed {
				t.Errorf("healthy is %v", !failed)
			}
		})
	}
}

// TestAStoreWithoutACluster: nothing is created.
func TestAStoreWithoutACluster(t *testing.T) {
	w := newWorld(t)
	for i := range w.found.Topics {
		w.found.Topics[i] = bus.TopicState{Topic: w.found.Topics[i].Topic, Name: w.found.Topics[i].Name, Missing: true}
	}
	results := w.run()
	for check, want := range map[string]doctor.Status{
		"store": doctor.OK, "partitions": doctor.Warning, "store write": doctor.Skipped, "bus topics": doctor.Warning,
		"bus partitions": doctor.Skipped, "shards": doctor.Skipped,
	} {
		if results[check].Status != want {
			t.Errorf("%+v, want %s", results[check], want)
		}
	}
	if w.faults.Calls("Init") != 0 || w.faults.Calls("Write") != 0 {
		t.Error("the doctor writes to a store without a cluster")
	}
}

// TestALostAnswerLeavesNoProbe: the write was applied and its answer was lost.
func TestALostAnswerLeavesNoProbe(t *testing.T) {
	w := founded(t)
	w.faults.Follow(faultstore.OnCall("Write", 1, faultstore.Fault{Kind: faultstore.FailAfter}))
	w.run()
	counts, err := w.db.Open().Count(t.Context(), timer.SystemClock())
	if err != nil || counts.Pending != 0 || w.faults.Calls("Write") != 2 {
		t.Errorf("%+v after %d writes, %v", counts, w.faults.Calls("Write"), err)
	}
}
