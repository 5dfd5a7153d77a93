package storetest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/pkg/store"
)

func apiKeyTests() []test {
	return []test{
		{"APIKeys/AreStoredUnchanged", apiKeysStored},
		{"APIKeys/ATakenNameIsErrExists", apiKeysTaken},
		{"APIKeys/PutIsACompareAndSet", apiKeysVersions},
		{"APIKeys/DeleteRemovesOne", apiKeysDelete},
		{"APIKeys/ConcurrentPutsLoseNothing", apiKeysRace},
		{"APIKeys/OfManyWithOneNameOneIsCreated", apiKeysNameRace},
	}
}

func (w *world) apiKeys(s store.Store) store.APIKeys {
	w.t.Helper()
	k, ok := store.As[store.APIKeys](s)
	w.need(AnyAPIKeys, ok)
	return k
}

func (w *world) wantAPIKeys(want ...store.APIKey) {
	w.t.Helper()
	got, err := w.apiKeys(w.store).ListAPIKeys(w.ctx)
	w.check(err, "list API keys")
	byName := func(a, b store.APIKey) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(got, byName)
	slices.SortFunc(want, byName)
	if !slices.Equal(got, want) {
		w.t.Fatalf("API keys\n got %.300v\nwant %.300v", got, want)
	}
}

func apiKeysStored(w *world) {
	k := w.apiKeys(w.store)
	w.wantAPIKeys()
	large := store.APIKey{Name: strings.Repeat("n", 255), Body: strings.Repeat(`{"é":"\u0000"} `, store.MaxAPIKeyBody/16)}
	small := store.APIKey{Name: "A-key.with_signs", Body: "{}"}
	other := store.APIKey{Name: "a-key.with_signs", Body: "{ }"} // names are compared byte for byte
	for _, key := range []store.APIKey{large, small, other} {
		w.check(k.PutAPIKey(w.ctx, key), "create %.20s", key.Name)
	}
	large.Version, small.Version, other.Version = 1, 1, 1
	w.wantAPIKeys(large, small, other)
	for _, key := range []store.APIKey{large, small, other} {
		got, err := k.GetAPIKey(w.ctx, key.Name)
		w.check(err, "get %.20s", key.Name)
		w.equal("key", got, key)
	}
	_, err := k.GetAPIKey(w.ctx, "a-key")
	w.wantErr(err, store.ErrNotFound, "get an unknown key")
	if w.subject.Reopen != nil {
		w.store = w.subject.Reopen(w.t)
		w.wantAPIKeys(large, small, other)
	}
}

func apiKeysTaken(w *world) {
	k := w.apiKeys(w.store)
	w.check(k.PutAPIKey(w.ctx, store.APIKey{Name: "a", Body: "one"}), "create")
	w.wantErr(k.PutAPIKey(w.ctx, store.APIKey{Name: "a", Body: "two"}), store.ErrExists, "create again")
	w.wantAPIKeys(store.APIKey{Name: "a", Version: 1, Body: "one"})
}

func apiKeysVersions(w *world) {
	k := w.apiKeys(w.store)
	w.check(k.PutAPIKey(w.ctx, store.APIKey{Name: "a", Body: "one"}), "create")
	w.check(k.PutAPIKey(w.ctx, store.APIKey{Name: "b", Body: "other"}), "create")
	w.check(k.PutAPIKey(w.ctx, store.APIKey{Name: "a", Version: 1, Body: "two"}), "replace")
	for _, version := range []int64{1, 3} {
		w.wantErr(k.PutAPIKey(w.ctx, store.APIKey{Name: "a", Version: version, Body: "three"}), store.ErrConflict, "replace version %d", version)
	}
	w.wantErr(k.PutAPIKey(w.ctx, store.APIKey{Name: "c", Version: 1, Body: "none"}), store.ErrNotFound, "replace an unknown key")
	w.wantAPIKeys(store.APIKey{Name: "a", Version: 2, Body: "two"}, store.APIKey{Name: "b", Version: 1, Body: "other"})
}

func apiKeysDelete(w *world) {
	k := w.apiKeys(w.store)
	for _, name := range []string{"a", "b"} {
		w.check(k.PutAPIKey(w.ctx, store.APIKey{Name: name, Body: "one"}), "create")
	}
	w.check(k.DeleteAPIKey(w.ctx, "a"), "delete")
	w.wantAPIKeys(store.APIKey{Name: "b", Version: 1, Body: "one"})
	w.wantErr(k.DeleteAPIKey(w.ctx, "a"), store.ErrNotFound, "delete again")
	w.wantErr(k.PutAPIKey(w.ctx, store.APIKey{Name: "a", Version: 1, Body: "two"}), store.ErrNotFound, "replace a deleted key")
	w.check(k.PutAPIKey(w.ctx, store.APIKey{Name: "a", Body: "new"}), "create again")
	w.wantAPIKeys(store.APIKey{Name: "a", Version: 1, Body: "new"}, store.APIKey{Name: "b", Version: 1, Body: "one"})
}

// apiKeysRace increments a number in the body from several handles.
func apiKeysRace(w *world) {
	const each = 8
	w.check(w.apiKeys(w.store).PutAPIKey(w.ctx, store.APIKey{Name: "a", Body: "0"}), "create")
	increment := func(k store.APIKeys) error {
		for {
			present, err := k.GetAPIKey(w.ctx, "a")
			if err != nil {
				return err
			}
			count, err := strconv.Atoi(present.Body)
			if err != nil {
				return err
			}
			present.Body = strconv.Itoa(count + 1)
			if err := k.PutAPIKey(w.ctx, present); !errors.Is(err, store.ErrConflict) {
				return err
			}
		}
	}
	errs := make([]error, racers)
	w.race(func(r int, s store.Store) {
		k := w.apiKeys(s)
		for range each {
			errs[r] = errors.Join(errs[r], increment(k))
		}
	})
	for _, err := range errs {
		w.check(err, "increment")
	}
	w.wantAPIKeys(store.APIKey{Name: "a", Version: 1 + each*racers, Body: strconv.Itoa(each * racers)})
}

func apiKeysNameRace(w *world) {
	errs := make([]error, racers)
	w.race(func(r int, s store.Store) {
		errs[r] = w.apiKeys(s).PutAPIKey(w.ctx, store.APIKey{Name: "a", Body: "{}"})
	})
	created := 0
	for _, err := range errs {
		if err == nil {
			created++
			continue
		}
		w.wantErr(err, store.ErrExists, "create at the same time")
	}
	if created != 1 {
		w.t.Errorf("%d of %d creations succeeded, want 1", created, racers)
	}
	w.wantAPIKeys(store.APIKey{Name: "a", Version: 1, Body: "{}"})
}
