package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func namespaceTests() []test {
	return []test{
		{"Namespaces/BlocksNeverOverlap", namespaceBlocks},
		{"Namespaces/ATakenNameIsErrExists", namespaceTaken},
		{"Namespaces/GetAndList", namespaceGet},
		{"Namespaces/UpdateChangesSettingsOnly", namespaceUpdate},
		{"Namespaces/UpdateIsACompareAndSet", namespaceVersions},
		{"Namespaces/ConcurrentUpdatesLoseNothing", namespaceUpdateRace},
		{"Namespaces/ListPages", namespacePages},
		{"Namespaces/APageIsBoundedInBytes", namespaceBytes},
		{"Namespaces/EverySettingSurvives", namespaceSettings},
		{"Namespaces/NamesAreKeptByteForByte", namespaceNames},
		{"Namespaces/CreatedAtOnceTheyAreDisjoint", namespaceRace},
		{"Namespaces/OfManyWithOneNameOneIsCreated", namespaceNameRace},
		{"Namespaces/DeleteRemovesOneNamespace", namespaceDelete},
		{"Namespaces/DeleteIsACompareAndSet", namespaceDeleteVersion},
		{"Namespaces/BlocksOfDeletedNamespacesAreNotReused", namespaceDeletedBlocks},
		{"Namespaces/DeleteRemovesClaims", namespaceDeletedClaims},
		{"Namespaces/LateWritesSpareTheNewNamespace", namespaceDeletedAndCreatedAgain},
	}
}

// wantDisjoint fails if two blocks overlap.
func (w *world) wantDisjoint(all []store.Namespace) {
	w.t.Helper()
	owner := map[shard.ID]string{}
	for _, ns := range all {
		for _, id := range ns.Shards.In(0, 1) {
			if other, taken := owner[id]; taken {
				w.t.Fatalf("shard %s belongs to %q and to %q", id, other, ns.Name)
			}
			owner[id] = ns.Name
		}
	}
}

func namespaceBlocks(w *world) {
	all := []store.Namespace{w.ns}
	for i, count := range []int{1, 16, 1, shard.MaxPerNamespace, 3} {
		ns, err := w.store.CreateNamespace(w.ctx, store.Namespace{
			Name:     fmt.Sprint("ns", i),
			Shards:   shard.Block{Base: w.ns.Shards.Base, Count: count}, // the given base is ignored
			Settings: store.DefaultSettings(), CreatedAt: w.now, UpdatedAt: w.now,
		})
		w.check(err, "create")
		if ns.Shards.Count != count {
			w.t.Errorf("asked for %d shards, got %d", count, ns.Shards.Count)
		}
		all = append(all, ns)
	}
	w.wantDisjoint(all)
}

func namespaceTaken(w *world) {
	other := w.ns
	other.Shards.Count = 99
	other.Settings.HistoryRetention = time.Hour
	other.CreatedAt++
	other.Version = 7
	got, err := w.store.CreateNamespace(w.ctx, other)
	w.wantErr(err, store.ErrExists, "create a namespace twice")
	w.equal("the present one", got, w.ns)
	got, err = w.store.GetNamespace(w.ctx, w.ns.Name)
	w.check(err, "get")
	w.equal("namespace", got, w.ns)
	w.wantDisjoint([]store.Namespace{w.ns, w.namespace("next", 4)})
}

func namespaceGet(w *world) {
	_, err := w.store.GetNamespace(w.ctx, "nobody")
	w.wantErr(err, store.ErrNotFound, "get an unknown namespace")
	want := map[string]store.Namespace{w.ns.Name: w.ns}
	for i, name := range []string{"b", "a", "c"} {
		ns := store.Namespace{
			Name: name, Shards: shard.Block{Count: i + 1},
			Settings: store.Settings{
				Retry: timer.RetryPolicy{
					MaxAttempts: i + 1, MaxAttemptsDuration: time.Duration(i) * time.Hour,
					InitialInterval: time.Millisecond, BackoffMultiplier: 1.1, MaxInterval: time.Minute,
				},
				CallbackTimeout: 3 * time.Second, HistoryRetention: store.MaxHistoryRetention, DeadRetention: time.Hour, HostConcurrency: 1 + i,
				Results: store.ResultsFailures,
			},
			Version: 5, CreatedAt: w.now, UpdatedAt: w.now + 1, // the given version is ignored
		}
		made, err := w.store.CreateNamespace(w.ctx, ns)
		w.check(err, "create")
		ns.Shards.Base, ns.Version = made.Shards.Base, 1
		w.equal("answer", made, ns)
		want[name] = ns
	}
	all, err := w.allNamespaces()
	w.check(err, "list")
	w.equal("list", all, []store.Namespace{want["a"], want["b"], want["c"], want["default"]})
	for name, ns := range want {
		got, err := w.store.GetNamespace(w.ctx, name)
		w.check(err, "get")
		w.equal(name, got, ns)
	}
}

func namespaceUpdate(w *world) {
	other := w.namespace("other", 2)
	want := w.ns
	want.Settings.HistoryRetention = store.MinHistoryRetention
	want.Settings.DeadRetention = store.MaxHistoryRetention
	want.Settings.CallbackTimeout = 7 * time.Second
	want.Settings.HostConcurrency = store.MaxHostConcurrency
	want.Settings.Retry.MaxAttempts = 9
	want.UpdatedAt = w.now + hour
	asked := want
	want.Version++
	asked.Shards.Count = 77
	asked.CreatedAt = 1
	got, err := w.store.UpdateNamespace(w.ctx, asked)
	w.check(err, "update")
	w.equal("answer", got, want)
	got, err = w.store.GetNamespace(w.ctx, w.ns.Name)
	w.check(err, "get")
	w.equal("namespace", got, want)
	got, err = w.store.GetNamespace(w.ctx, "other")
	w.check(err, "get")
	w.equal("the other one", got, other)
	asked.Name = "nobody"
	_, err = w.store.UpdateNamespace(w.ctx, asked)
	w.wantErr(err, store.ErrNotFound, "update an unknown namespace")
	_, err = w.store.GetNamespace(w.ctx, "nobody")
	w.wantErr(err, store.ErrNotFound, "get it after the update")
}

func (w *world) allNamespaces() ([]store.Namespace, error) {
	var all []store.Namespace
	for ns, err := range store.AllNamespaces(w.ctx, w.store) {
		if err != nil {
			return nil, err
		}
		all = append(all, ns)
	}
	return all, nil
}

func namespacePages(w *world) {
	want := []string{"A", "a", "a-", "a.b", "b", "default", "z"}
	for _, name := range []string{"z", "b", "a.b", "a", "A", "a-"} {
		w.namespace(name, 1)
	}
	for _, limit := range []int{1, 2, 3, 6, 7, 8, store.MaxNamespacePage} {
		var got []string
		for after := ""; len(got) <= len(want); {
			page, err := w.store.ListNamespaces(w.ctx, after, limit)
			w.check(err, "list")
			if len(page.Namespaces) > limit || page.Next != "" && page.Next != page.Namespaces[len(page.Namespaces)-1].Name {
				w.t.Fatalf("a page of %d with the next %q, the limit is %d", len(page.Namespaces), page.Next, limit)
			}
			for i := range page.Namespaces {
				got = append(got, page.Namespaces[i].Name)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		w.equal(fmt.Sprintf("pages of %d", limit), got, want)
	}
	// A page begins after the given name, whether or not such a namespace exists.
	page, err := w.store.ListNamespaces(w.ctx, "aa", 2)
	w.check(err, "list")
	if len(page.Namespaces) != 2 || page.Namespaces[0].Name != "b" || page.Next != "default" {
		w.t.Errorf("behind aa there are %+v", page)
	}
	page, err = w.store.ListNamespaces(w.ctx, "z", 2)
	w.check(err, "list")
	if len(page.Namespaces) != 0 || page.Next != "" {
		w.t.Errorf("behind the last one there are %+v", page)
	}
}

func namespaceBytes(w *world) {
	settings := store.DefaultSettings()
	settings.TLS = store.TLS{CA: strings.Repeat("c", 32<<10), Certificate: strings.Repeat("d", 32<<10), EncryptedKey: strings.Repeat("e", 36<<10)}
	const each, n = 100 << 10, 100 // 10 MB in all
	for i := range n {
		_, err := w.store.CreateNamespace(w.ctx, store.Namespace{Name: fmt.Sprintf("large%03d", i), Shards: shard.Block{Count: 1}, Settings: settings})
		w.check(err, "create")
	}
	seen := 0
	for after := ""; ; {
		page, err := w.store.ListNamespaces(w.ctx, after, store.MaxNamespacePage)
		w.check(err, "list")
		if size := len(page.Namespaces) * each; size > store.MaxPageBytes+each {
			w.t.Errorf("a page has %d bytes, want %d at most", size, store.MaxPageBytes)
		}
		seen += len(page.Namespaces)
		if after = page.Next; after == "" {
			break
		}
	}
	w.equal("namespaces seen", seen, n+1)
}

// namespaceVersions: if two callers have read the same state, the second one to update gets a conflict with the state
// that the first has written.
func namespaceVersions(w *world) {
	w.equal("version of a new namespace", w.ns.Version, int64(1))
	first, second := w.ns, w.ns
	first.Settings.Retry.MaxAttempts = 7
	second.Settings.HistoryRetention = time.Hour
	made, err := w.store.UpdateNamespace(w.ctx, first)
	w.check(err, "first update")
	first.Version = 2
	w.equal("after the first update", made, first)
	for _, version := range []int64{1, 0, 3, -1} {
		second.Version = version
		present, err := w.store.UpdateNamespace(w.ctx, second)
		w.wantErr(err, store.ErrConflict, "update of version %d", version)
		w.equal("the present state", present, first)
	}
	got, err := w.store.GetNamespace(w.ctx, w.ns.Name)
	w.check(err, "get")
	w.equal("after the conflicts", got, first)
	// An update without a change increments the version too.
	got, err = w.store.UpdateNamespace(w.ctx, first)
	w.check(err, "update without a change")
	w.equal("version", got.Version, int64(3))
}

// namespaceUpdateRace: all racers increment a setting with retries after conflicts, and no increment is lost.
func namespaceUpdateRace(w *world) {
	const each, racers = 8, 4
	handles := w.handles(racers)
	errs := make([]error, racers)
	var group sync.WaitGroup
	for r := range racers {
		group.Go(func() {
			for range each {
				ns, err := handles[r].GetNamespace(w.ctx, w.ns.Name)
				for err == nil {
					ns.Settings.Retry.MaxAttempts++
					if ns, err = handles[r].UpdateNamespace(w.ctx, ns); err == nil {
						break
					}
					if errors.Is(err, store.ErrConflict) {
						err = nil // ns is the present state then
					}
				}
				if err != nil {
					errs[r] = err
					return
				}
			}
		})
	}
	group.Wait()
	for r := range racers {
		w.check(errs[r], "update by racer %d", r)
	}
	got, err := w.store.GetNamespace(w.ctx, w.ns.Name)
	w.check(err, "get")
	if want := w.ns.Settings.Retry.MaxAttempts + each*racers; got.Settings.Retry.MaxAttempts != want || got.Version != 1+each*racers {
		w.t.Errorf("after %d increments %d of version %d, want %d of version %d",
			each*racers, got.Settings.Retry.MaxAttempts, got.Version, want, 1+each*racers)
	}
}

// deliverySettings returns settings in which all fields of callbacks and events are set.
func (w *world) deliverySettings() store.Settings {
	var err error
	s := store.DefaultSettings()
	for _, code := range []int{400, 404, 463, 464, 499} {
		var err error
		s.FinalStatuses, err = s.FinalStatuses.With(code)
		w.check(err, "status %d", code)
	}
	s.Secrets = store.Secrets{
		{ID: "0a1b2c3d", CreatedAt: w.now, Encrypted: "v1:k:" + strings.Repeat("A", 200)},
		{ID: "ffffffff", CreatedAt: w.now - hour, ExpiresAt: w.now + hour, Encrypted: "v1:k:B+/"},
	}
	s.TLS = store.TLS{
		CA:          "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
		Certificate: strings.Repeat("certificate\n", 5000), EncryptedKey: "v1:k:" + strings.Repeat("C", 9000),
	}
	s.Headers = "X-Team: billing\n"
	s.KeepPayload = max(s.HistoryRetention, 7*24*time.Hour)
	s.Auth = store.CallbackAuth{
		Type: store.AuthOAuth2, TokenURL: "https://id.example/token?a=b&c=%20", ClientID: "ä<\"\\🕰", Scopes: "read write",
		Audience: "https://api.example/", EncryptedSecret: "v1:k:" + strings.Repeat("D", 12_000),
	}
	s.EventTopics = "*.audit billing.timeouts orders.*"
	s.Quota = store.Quota{MaxPending: 5, CreatesPerSecond: 6, MaxPayload: 7}
	s.OnDone, s.OnDead = "https://example.com/done", "http://example.com/dead?ä"
	s.Flows, err = timer.NewFlowLimits([]timer.FlowLimit{
		{Pattern: "tenant-*/ä\"", Rate: timer.FlowRate{Count: 5, Per: time.Minute, Burst: 2}}, {Pattern: "*", Concurrency: 3},
	})
	w.check(err, "the suite's own limits")
	s.DeletingSince = w.now + 8
	s.ZoneVersion = "2025c"
	s.Results = store.ResultsOff
	return s
}

func namespaceSettings(w *world) {
	all := w.deliverySettings()
	single := store.DefaultSettings()
	single.Secrets[0] = all.Secrets[0]
	trust := store.DefaultSettings()
	trust.TLS.CA = all.TLS.CA
	basic, bearer := store.DefaultSettings(), store.DefaultSettings()
	basic.Auth = store.CallbackAuth{Type: store.AuthBasic, Username: "u", EncryptedSecret: "v1:k:e"}
	bearer.Auth = store.CallbackAuth{Type: store.AuthBearer, EncryptedSecret: "v1:k:f"}
	static := store.DefaultSettings()
	static.Headers = "Authorization: Bearer x\nX-Team: billing\n"
	largest := store.DefaultSettings()
	largest.Headers, largest.HostConcurrency = largestHeaders(), store.MaxHostConcurrency
	largest.Quota = store.Quota{
		MaxPending: store.MaxPendingQuota, CreatesPerSecond: store.MaxCreateQuota, MaxPayload: timer.MaxPayload,
	}
	largest.Results = store.ResultsFailures
	largest.OnDone = "https://example.com/" + strings.Repeat("d", timer.MaxCallbackURL-20)
	largest.OnDead = largest.OnDone[:timer.MaxCallbackURL-1] + "e"
	patterns := make([]string, timer.MaxTopicPatterns)
	for i := range patterns {
		patterns[i] = fmt.Sprintf("%0*d", timer.MaxTopic, i)
	}
	var err error
	largest.EventTopics, err = timer.NewTopicPatterns(patterns)
	w.check(err, "the suite's own patterns")
	limits := make([]timer.FlowLimit, timer.MaxFlowLimits)
	for i := range limits {
		limits[i] = timer.FlowLimit{
			Pattern: fmt.Sprintf("%0*d", timer.MaxFlowKey, i), Concurrency: timer.MaxFlowConcurrency,
			Rate: timer.FlowRate{Count: timer.MaxFlowCount, Per: timer.MaxFlowPeriod, Burst: timer.MaxFlowCount},
		}
	}
	largest.Flows, err = timer.NewFlowLimits(limits)
	w.check(err, "the suite's own limits")
	for i, settings := range []store.Settings{all, single, store.DefaultSettings(), trust, basic, bearer, static, largest} {
		w.check(settings.Check(), "the suite's own settings")
		made, err := w.store.CreateNamespace(w.ctx, store.Namespace{
			Name: fmt.Sprint("made", i), Shards: shard.Block{Count: 1}, Settings: settings, CreatedAt: w.now, UpdatedAt: w.now,
		})
		w.check(err, "create")
		w.equal("made", made.Settings, settings)
		got, err := w.store.GetNamespace(w.ctx, made.Name)
		w.check(err, "get")
		w.equal("got", got, made)
		changed := w.ns // overwrites the settings of the previous update
		changed.Settings, changed.Version = settings, int64(i)+1
		got, err = w.store.UpdateNamespace(w.ctx, changed)
		w.check(err, "update")
		changed.Version++
		w.equal("changed", got, changed)
		list, err := w.allNamespaces()
		w.check(err, "list")
		w.equal("listed", list[0], changed)
	}
}

func namespaceNames(w *world) {
	names := []string{"Default", "DEFAULT", "default.", "default_", "default-", "0", "00", strings.Repeat("n", timer.MaxNamespace)}
	for _, name := range names {
		if ns := w.namespace(name, 1); ns.Name != name {
			w.t.Errorf("%q came back as %q", name, ns.Name)
		}
	}
	all, err := w.allNamespaces()
	w.check(err, "list")
	if len(all) != len(names)+1 {
		w.t.Errorf("%d namespaces, want %d", len(all), len(names)+1)
	}
	for i := range all[1:] {
		if all[i].Name >= all[i+1].Name {
			w.t.Errorf("%q is listed before %q; names order as bytes", all[i].Name, all[i+1].Name)
		}
	}
}

func namespaceRace(w *world) {
	const each, racers = 5, 4
	handles := w.handles(racers)
	made := make([][]store.Namespace, racers)
	errs := make([]error, racers)
	var group sync.WaitGroup
	for r := range racers {
		group.Go(func() {
			for i := range each {
				ns, err := handles[r].CreateNamespace(w.ctx, store.Namespace{
					Name: fmt.Sprintf("%d-%d", r, i), Shards: shard.Block{Count: i + 1}, Settings: store.DefaultSettings(),
				})
				if err != nil {
					errs[r] = err
					return
				}
				made[r] = append(made[r], ns)
			}
		})
	}
	group.Wait()
	all := []store.Namespace{w.ns}
	for r := range racers {
		w.check(errs[r], "create by racer %d", r)
		all = append(all, made[r]...)
	}
	w.wantDisjoint(all)
	listed, err := w.allNamespaces()
	w.check(err, "list")
	if len(listed) != len(all) {
		w.t.Errorf("%d namespaces are listed, want %d", len(listed), len(all))
	}
}

func namespaceNameRace(w *world) {
	const racers = 6
	handles := w.handles(racers)
	made := make([]store.Namespace, racers)
	errs := make([]error, racers)
	var group sync.WaitGroup
	for r := range racers {
		group.Go(func() {
			made[r], errs[r] = handles[r].CreateNamespace(w.ctx, store.Namespace{
				Name: "wanted", Shards: shard.Block{Count: r + 1}, Settings: store.DefaultSettings(),
			})
		})
	}
	group.Wait()
	created := 0
	for r := range racers {
		if errs[r] == nil {
			created++
		} else {
			w.wantErr(errs[r], store.ErrExists, "racer %d", r)
		}
		w.equal(fmt.Sprintf("what racer %d was told", r), made[r], made[0])
	}
	if created != 1 {
		w.t.Errorf("%d racers created the namespace", created)
	}
}
