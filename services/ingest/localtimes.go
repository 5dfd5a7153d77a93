package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
)

// The instants of local times and of schedules depend on the time zone database, which is part of a release. After its start, a process
// computes them again in each namespace that was last checked with a different database, and then records its database in the settings of
// the namespace. The progress within a namespace is not stored: if the process stops, the next process checks all timers of the namespace
// again, and writes only those that have not been moved yet. Before the first move, the database of the namespace is recorded as unknown,
// so that the next process checks the namespace even if it has the database that was recorded before.
//
// A write of a process that has ended may be applied later, and move a timer to an instant of its database. So a namespace whose
// database was unknown at the end of its check is checked again after ZonesSettle, before the database is recorded.

const (
	// localTimesPage is the size of a page. After each localTimesProgress timers, the progress is logged.
	localTimesPage     = 500
	localTimesProgress = 100_000
	// maxZonesRetry is the longest pause after a failed operation.
	maxZonesRetry = time.Minute
	// maxKeptLogged is how many timers without an instant are logged for each namespace.
	maxKeptLogged = 10
)

// localTimes are the results of a check.
type localTimes struct {
	// checked counts the timers with a local time and the schedules, and moved those with another instant now. kept counts those that have
	// no instant in the database, so they keep the one that they had.
	checked, moved, kept int
	// overtaken: a process with another database has recorded its own while the timers were checked.
	overtaken bool
	// repeated: an earlier check has logged the timers without an instant.
	repeated bool
}

func (l *localTimes) add(o localTimes) {
	l.checked += o.checked
	l.moved += o.moved
	l.kept += o.kept
}

// unrecorded is a namespace that was checked, and whose database is not recorded yet.
type unrecorded struct {
	ns    store.Namespace
	from  string
	found localTimes
}

// checkLocalTimes checks all namespaces. It returns when that is done, or ctx ends.
func (s *Service) checkLocalTimes(ctx context.Context) {
	var all localTimes
	var again []unrecorded
	namespaces := 0
	for after := ""; ; {
		var page store.NamespacePage
		ok := s.retryLocalTimes(ctx, func(ctx context.Context) (err error) {
			page, err = s.cfg.Store.ListNamespaces(ctx, after, store.MaxNamespacePage)
			return err
		})
		if !ok {
			return
		}
		for i := range page.Namespaces {
			ns := &page.Namespaces[i]
			if ns.Settings.ZoneVersion == s.cfg.Zones.Version || ns.Settings.DeletingSince != 0 {
				continue
			}
			if namespaces++; namespaces == 1 {
				s.cfg.Logger.Info("time zone database: checking local times", "version", s.cfg.Zones.Version)
			}
			c := unrecorded{ns: *ns, from: cmp.Or(ns.Settings.ZoneVersion, "unknown")}
			switch recorded, ok := s.checkNamespace(ctx, &c); {
			case !ok:
				return
			case recorded:
				all.add(c.found)
			default:
				again = append(again, c)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(again) > 0 && !timer.Sleep(ctx, s.cfg.ZonesSettle) {
		return
	}
	for i := range again {
		again[i].found.repeated = true
		if _, ok := s.checkNamespace(ctx, &again[i]); !ok {
			return
		}
		all.add(again[i].found)
	}
	if namespaces > 0 {
		s.cfg.Logger.Info("time zone database: all local times checked", "version", s.cfg.Zones.Version,
			"namespaces", namespaces, "checked", all.checked, "moved", all.moved, "kept", all.kept)
	}
}

// checkNamespace checks the local times of a namespace, and records the database, unless it must be checked again. It repeats this if a
// process with another database has recorded its own in the meantime. ok is false if ctx has ended.
func (s *Service) checkNamespace(ctx context.Context, c *unrecorded) (recorded, ok bool) {
	for again := true; again; {
		moved, repeated := c.found.moved, c.found.repeated
		c.found, ok = s.checkAll(ctx, &c.ns, repeated)
		c.found.moved += moved
		if again = c.found.overtaken; ok && !again {
			if c.ns.Settings.ZoneVersion == "" && !repeated {
				return false, true
			}
			ok = s.retryLocalTimes(ctx, func(ctx context.Context) (err error) {
				again, err = s.recordZones(ctx, &c.ns, s.cfg.Zones.Version)
				return err
			})
		}
		if !ok {
			return false, false
		}
	}
	if c.found.checked > 0 {
		s.cfg.Logger.Info("time zone database: local times of a namespace checked", "namespace", c.ns.Name,
			"checked", c.found.checked, "moved", c.found.moved, "kept", c.found.kept, "from", c.from, "to", s.cfg.Zones.Version)
	}
	return true, true
}

// checkAll checks the local times of a namespace once. It returns false if ctx has ended.
func (s *Service) checkAll(ctx context.Context, ns *store.Namespace, repeated bool) (localTimes, bool) {
	found := localTimes{repeated: repeated}
	q := store.ListQuery{Namespace: *ns, Limit: localTimesPage, WithoutPayloads: true}
	for read, progress := 0, localTimesProgress; ; {
		var page store.Page
		ok := s.retryLocalTimes(ctx, func(ctx context.Context) error {
			now, err := s.writeNow()
			if err == nil {
				page, err = s.cfg.Store.List(ctx, now, q)
			}
			if err == nil {
				err = s.checkPage(ctx, ns, page.Timers, now, &found)
			}
			return err
		})
		if !ok {
			return found, false
		}
		if read += len(page.Timers); read >= progress {
			progress += localTimesProgress
			s.cfg.Logger.Info("time zone database: still checking local times", "namespace", ns.Name, "timers", read, "moved", found.moved)
		}
		if q.After = page.Next; len(q.After) == 0 {
			break
		}
	}
	return found, true
}

// retryLocalTimes repeats an operation until it succeeds. It returns false if ctx has ended.
func (s *Service) retryLocalTimes(ctx context.Context, operation func(ctx context.Context) error) bool {
	for pause := s.cfg.ZonesRetry; ; pause = min(2*pause, maxZonesRetry) {
		limited, cancel := context.WithTimeout(ctx, s.cfg.StoreTimeout)
		err := operation(limited)
		cancel()
		if ctx.Err() != nil {
			return false
		}
		s.recordResult("check local times", err)
		if err == nil {
			return true
		}
		if !timer.Sleep(ctx, pause) {
			return false
		}
	}
}

// checkPage moves the timers of a page whose instant differs in the present database. If it returns an error, the caller must read and
// check the page again; found.moved already counts the timers that were moved.
func (s *Service) checkPage(ctx context.Context, ns *store.Namespace, timers []timer.Timer, now timer.Millis, found *localTimes) error {
	var page localTimes
	keep := func(name string, id any, err error) {
		if page.kept++; !found.repeated && found.kept+page.kept <= maxKeptLogged {
			s.cfg.Logger.Warn("time zone database: a timer keeps its time", "namespace", ns.Name, name, id, "error", err)
		}
	}
	add := func(items []commit.Item, t *timer.Timer) []commit.Item {
		switch at, err := s.instantNow(t, now); {
		case err != nil:
			keep("timer", t.ID, err)
		case at != t.ExecuteAt:
			return append(items, commit.Item{Size: smallOp, Op: store.Update{
				Ref: refOf(ns, t.ID), Revision: s.cfg.Revisions.Next(), IfGeneration: t.Generation,
				Patch: timer.Patch{ExecuteAt: &at, Local: t.Local}, // the window of the timer is kept
			}})
		}
		return items
	}
	var items []commit.Item
	for i := range timers {
		if timers[i].Local != nil || timers[i].Schedule != "" {
			page.checked++
			items = add(items, &timers[i])
		}
	}
	if len(items) > 0 {
		overtaken, err := s.recordZones(ctx, ns, "")
		found.overtaken = found.overtaken || overtaken
		if err != nil {
			return err
		}
	}
	for some := range slices.Chunk(items, maxWritten) {
		for tries := 1; len(some) > 0; tries++ {
			var changed []commit.Item
			for i, committed := range s.committer.Submit(ctx, some...) {
				w := committed.Written
				switch {
				case committed.Err != nil:
					return committed.Err
				case w.Err == nil:
					found.moved++
				case errors.Is(w.Err, store.ErrNotFound): // it was deleted, or has ended
				case !errors.Is(w.Err, store.ErrConflict): // a repetition would be refused, too
					if update, ok := some[i].Op.(store.Update); ok {
						keep("uuid", update.Ref.UUID, w.Err)
					}
				case tries == maxTries:
					return fmt.Errorf("timer %q in namespace %q changes too often: %w", w.Timer.ID, ns.Name, w.Err)
				default:
					changed = add(changed, &w.Timer)
				}
			}
			some = changed
		}
	}
	found.add(page)
	return nil
}

// instantNow returns the instant of a timer with a local time, or of a schedule, by the present database. A timer whose instant has passed
// keeps it, because its delivery may have begun; so does one that was attempted or is parked. An error means that the database has no
// instant: the time zone is unknown, the clocks skip the local time, or the schedule has no further occurrence.
func (s *Service) instantNow(t *timer.Timer, now timer.Millis) (timer.Millis, error) {
	waits := t.Status == timer.StatusScheduled || t.Status == timer.StatusPaused
	switch {
	case !waits || t.Attempts > 0 || t.ExecuteAt <= now:
		return t.ExecuteAt, nil
	case t.Schedule != "":
		return s.nextOccurrence(t, now)
	case t.Local == nil: // another client has changed it
		return t.ExecuteAt, nil
	}
	at, err := schedule.Resolve(t.Local, s.cfg.Zones.Load)
	if at = at.Add(timer.Spread(t.UUID, t.Window)); err == nil && at > timer.MaxMillis {
		err = errNoInstant
	}
	return at, err
}

var errNoInstant = errors.New("the time zone database has no instant for it")

// nextOccurrence returns the next instant of a schedule, which is the present one if an answer has determined it.
func (s *Service) nextOccurrence(t *timer.Timer, now timer.Millis) (timer.Millis, error) {
	sched, err := schedule.Parse(t.Schedule, s.cfg.Zones.Load)
	if err != nil {
		return 0, err
	}
	state, err := schedule.ParseState(t.ScheduleState)
	if err != nil {
		return 0, err
	}
	if sched.Moved(&state) {
		return t.ExecuteAt, nil
	}
	at, ok := sched.Next(&state, now)
	if !ok {
		return 0, errNoInstant
	}
	return at, nil
}

// recordZones records in the settings of a namespace that its local times were checked with a database; "": that they are being moved. It
// updates ns. again is set if a process with another database has recorded its own since ns was read: the local times must be checked
// again, and version is recorded only if it is "".
func (s *Service) recordZones(ctx context.Context, ns *store.Namespace, version string) (again bool, err error) {
	present, err := s.cfg.Store.GetNamespace(ctx, ns.Name)
	for {
		recorded := present.Settings.ZoneVersion
		again = again || recorded != "" && recorded != ns.Settings.ZoneVersion && recorded != s.cfg.Zones.Version
		switch {
		case errors.Is(err, store.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case recorded == version || present.Settings.DeletingSince != 0 || present.Shards.Base != ns.Shards.Base:
			// Another process has recorded it, or the namespace was deleted and perhaps created again.
			ns.Settings.ZoneVersion = version
			return again, nil
		case again && version != "":
			*ns = present
			return true, nil
		}
		now, err := s.writeNow()
		if err != nil {
			return false, err
		}
		present.Settings.ZoneVersion, present.UpdatedAt = version, max(now, present.UpdatedAt+1)
		updated, err := s.cfg.Store.UpdateNamespace(ctx, present)
		if err == nil {
			s.cfg.Directory.Learn(updated)
			*ns = updated
			return again, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return false, err
		}
		present = updated
	}
}
