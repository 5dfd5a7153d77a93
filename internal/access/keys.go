package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// tokenStart begins every token of an API key. The key's name, _ and the secret follow.
	tokenStart = "tb_"
	// freshFor is how long a key, or the list of all keys, is used without reading it again. So it bounds how long other
	// processes accept a key that was revoked, and refuse one that was created.
	freshFor = 5 * time.Second
	// everyKey identifies the read of all keys. No key has an empty name.
	everyKey = ""
	// readTimeout bounds a read of keys, and retryAfter is the shortest time between the beginnings of two reads of a key if
	// the first one failed.
	readTimeout = 2 * time.Second
	retryAfter  = 250 * time.Millisecond
)

// Limits of API keys.
const (
	MaxKeys = 1000
	// MaxOverlap bounds how long the earlier token is accepted after a rotation, and DefaultOverlap is its default.
	MaxOverlap     = 30 * 24 * time.Hour
	DefaultOverlap = 24 * time.Hour
)

// Errors of Keys, in addition to those of the store and timer.InvalidError.
var (
	ErrKeyExists   = errors.New("an API key with this name exists")
	ErrKeyNotFound = errors.New("there is no API key with this name")
)

// Key is an API key.
type Key struct {
	Name   string  `json:"-"`
	Grants []Grant `json:"grants"`
	// Secrets are the accepted secrets, the newest first: at most two.
	Secrets   []Secret     `json:"secrets"`
	CreatedAt timer.Millis `json:"createdAt"`
	// CreatedBy is the caller who created the key.
	CreatedBy string `json:"createdBy"`

	version int64
}

// Secret is the hash of a token with its validity.
type Secret struct {
	// Hash is the SHA-256 of the token, in hexadecimal digits. Tokens are random, so they need no slower hash.
	Hash      string       `json:"hash"`
	CreatedAt timer.Millis `json:"createdAt"`
	ExpiresAt timer.Millis `json:"expiresAt,omitempty"` // 0: never
}

func (s *Secret) expired(now timer.Millis) bool { return s.ExpiresAt != 0 && s.ExpiresAt <= now }

// Keys are the API keys in a store. Each process caches those that its clients use.
type Keys struct {
	store store.APIKeys
	clock timer.Clock
	watch timer.Stopwatch
	reads singleflight.Group

	mu    sync.RWMutex
	cache map[string]cached
	// listedAt is when the read of the last complete list began. A name that is missing in a fresh list has no key, so
	// unknown names cost at most one read in freshFor.
	listedAt time.Duration
	// changes counts the changes by this process. What was read before a change is not cached after it.
	changes int
}

// cached is a key, or the error of a key that cannot be used, and when its read began. It is read again from next on.
type cached struct {
	key      Key
	err      error
	at, next time.Duration
}

// found is the result of a read of keys that began at a time.
type found struct {
	keys map[string]cached
	at   time.Duration
}

// errUnchecked reports a key that could not be read for so long that it may have been revoked.
var errUnchecked = fmt.Errorf("the API key cannot be read: %w", store.ErrUnavailable)

// NewKeys returns the API keys in a store.
func NewKeys(s store.APIKeys, clock timer.Clock) *Keys {
	return &Keys{store: s, clock: clock, watch: timer.NewStopwatch(), cache: map[string]cached{}, listedAt: -freshFor}
}

// Create creates a key whose token is accepted until expiresAt, 0 for always. Only its result contains the token.
func (k *Keys) Create(ctx context.Context, name string, grants []Grant, expiresAt timer.Millis, by string) (Key, string, error) {
	all, err := k.store.ListAPIKeys(ctx)
	if err != nil {
		return Key{}, "", err
	}
	if len(all) >= MaxKeys {
		return Key{}, "", timer.Invalid("name", name, fmt.Sprintf("no more than %d API keys: revoke one first", MaxKeys))
	}
	now := k.clock()
	key := Key{Name: name, Grants: grants, CreatedAt: now, CreatedBy: by}
	token := key.add(now, expiresAt)
	key, err = k.put(ctx, key)
	return key, token, err
}

// List returns all keys by name.
func (k *Keys) List(ctx context.Context) ([]Key, error) {
	all, err := k.store.ListAPIKeys(ctx)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(all))
	for i := range all {
		if keys[i], err = parse(&all[i]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	return keys, nil
}

// Rotate gives a key a new token, which is accepted until expiresAt, 0 for always. The newest earlier token is accepted
// for the time of overlap, and older ones are not.
func (k *Keys) Rotate(ctx context.Context, name string, overlap time.Duration, expiresAt timer.Millis) (Key, string, error) {
	for {
		key, err := k.read(ctx, name)
		if err != nil {
			return Key{}, "", err
		}
		now := k.clock()
		key.Secrets = key.Secrets[:1]
		last := &key.Secrets[0]
		if end := now.Add(overlap); last.ExpiresAt == 0 || last.ExpiresAt > end {
			last.ExpiresAt = end
		}
		if last.expired(now) {
			key.Secrets = nil
		}
		token := key.add(now, expiresAt)
		key, err = k.put(ctx, key)
		// Each conflict means that another change succeeded, so the loop ends.
		if !errors.Is(err, store.ErrConflict) {
			return key, token, err
		}
	}
}

// Revoke deletes a key. Processes that have it in their cache accept its tokens for at most 5 s more.
func (k *Keys) Revoke(ctx context.Context, name string) error {
	err := k.store.DeleteAPIKey(ctx, name)
	k.forget(name)
	return keyError(err)
}

// add adds a secret and returns its token.
func (key *Key) add(now, expiresAt timer.Millis) (token string) {
	token = tokenStart + key.Name + "_" + rand.Text()
	key.Secrets = slices.Insert(key.Secrets, 0, Secret{Hash: hash(token), CreatedAt: now, ExpiresAt: expiresAt})
	return token
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func (k *Keys) put(ctx context.Context, key Key) (Key, error) {
	body, err := json.Marshal(key)
	if err != nil {
		return Key{}, err
	}
	if len(body) > store.MaxAPIKeyBody {
		return Key{}, timer.Invalid("grants", fmt.Sprintf("%d bytes", len(body)), fmt.Sprintf("at most %d bytes", store.MaxAPIKeyBody))
	}
	if err := k.store.PutAPIKey(ctx, store.APIKey{Name: key.Name, Version: key.version, Body: string(body)}); err != nil {
		return Key{}, keyError(err)
	}
	k.forget(key.Name)
	return key, nil
}

// keyError converts the errors of the store that have a meaning to callers.
func keyError(err error) error {
	switch {
	case errors.Is(err, store.ErrExists):
		return ErrKeyExists
	case errors.Is(err, store.ErrNotFound):
		return ErrKeyNotFound
	default:
		return err
	}
}

func (k *Keys) forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.cache, name)
	k.listedAt = -freshFor
	k.changes++
	k.reads.Forget(name)
	k.reads.Forget(everyKey)
}

func (k *Keys) read(ctx context.Context, name string) (Key, error) {
	stored, err := k.store.GetAPIKey(ctx, name)
	if err != nil {
		return Key{}, keyError(err)
	}
	return parse(&stored)
}

func parse(stored *store.APIKey) (Key, error) {
	key := Key{Name: stored.Name, version: stored.Version}
	err := json.Unmarshal([]byte(stored.Body), &key)
	if err == nil && len(key.Secrets) == 0 {
		err = errors.New("it has no secret")
	}
	if err != nil {
		return Key{}, fmt.Errorf("API key %q: %w", stored.Name, err)
	}
	return key, nil
}

// caller returns the caller with the token of a key. If stale is set and the key cannot be read, it is accepted as it was
// last read.
func (k *Keys) caller(ctx context.Context, token string, stale bool) (Caller, error) {
	name := token[len(tokenStart):max(len(tokenStart), strings.LastIndexByte(token, '_'))]
	if timer.CheckNamespace(name) != nil {
		return Caller{}, denied("the token of the API key is damaged")
	}
	key, err := k.lookup(ctx, name, stale)
	if errors.Is(err, ErrKeyNotFound) {
		return Caller{}, denied("the API key does not exist or was revoked")
	}
	if err != nil {
		return Caller{}, err
	}
	given, now := []byte(hash(token)), k.clock()
	for i := range key.Secrets {
		s := &key.Secrets[i]
		if subtle.ConstantTimeCompare(given, []byte(s.Hash)) != 1 {
			continue
		}
		if s.expired(now) {
			return Caller{}, denied(fmt.Sprintf("the token of API key %s expired at %s", name, s.ExpiresAt))
		}
		return Caller{Name: "key " + name, Grants: key.Grants}, nil
	}
	return Caller{}, denied("the API key does not exist or was revoked, or its token was replaced")
}

// lookup returns a key that was read within freshFor. If stale is set, it returns a key that it cannot read as it was last
// read.
func (k *Keys) lookup(ctx context.Context, name string, stale bool) (Key, error) {
	for {
		k.mu.RLock()
		known, ok := k.cache[name]
		listedAt := k.listedAt
		k.mu.RUnlock()
		switch now := k.watch.Elapsed(); {
		case ok && now < known.next:
			return k.use(known, stale)
		case !ok && now-listedAt < freshFor:
			return Key{}, ErrKeyNotFound
		}
		flight, read := everyKey, k.readAll
		if ok {
			flight, read = name, func(ctx context.Context) (found, error) { return k.renew(ctx, name) }
		}
		done := k.reads.DoChan(flight, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
			defer cancel()
			return read(ctx)
		})
		select {
		case result := <-done:
			if result.Err != nil {
				return Key{}, result.Err
			}
			answer, _ := result.Val.(found)
			if k.watch.Elapsed()-answer.at >= freshFor {
				continue // the process was suspended during the read: the key may have changed since
			}
			if known, ok = answer.keys[name]; !ok {
				return Key{}, ErrKeyNotFound
			}
			return k.use(known, stale)
		case <-ctx.Done():
			return Key{}, ctx.Err()
		}
	}
}

// use returns a cached key, unless it was read too long ago.
func (k *Keys) use(known cached, stale bool) (Key, error) {
	if !stale && k.watch.Elapsed()-known.at >= freshFor {
		return Key{}, errUnchecked
	}
	return known.key, known.err
}

// renew reads a known key into the cache. If there is no such key, the result is empty. If the store does not answer, the
// result is the key as it was last read.
func (k *Keys) renew(ctx context.Context, name string) (found, error) {
	changes, at := k.begin()
	key, err := k.read(ctx, name)
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.cache[name]
	switch {
	case errors.Is(err, ErrKeyNotFound):
		delete(k.cache, name)
		return found{at: at}, nil
	case err == nil:
		known = cached{key: key, at: at, next: at + freshFor}
	case ok && (store.IsTransient(err) || errors.Is(err, context.DeadlineExceeded)):
		// Requests are refused until a read succeeds, so the next try follows soon, but not every request makes one.
		known.next = at + retryAfter
	default:
		return found{}, err
	}
	if changes == k.changes {
		k.cache[name] = known
	}
	return found{map[string]cached{name: known}, at}, nil
}

// readAll replaces the cache with all keys.
func (k *Keys) readAll(ctx context.Context) (found, error) {
	changes, at := k.begin()
	all, err := k.store.ListAPIKeys(ctx)
	if err != nil {
		return found{}, err
	}
	keys := make(map[string]cached, len(all))
	for i := range all {
		key, err := parse(&all[i])
		keys[all[i].Name] = cached{key, err, at, at + freshFor}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if changes == k.changes {
		k.cache, k.listedAt = maps.Clone(keys), at
	}
	return found{keys, at}, nil
}

// begin returns the number of changes and the time before a read.
func (k *Keys) begin() (changes int, at time.Duration) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.changes, k.watch.Elapsed()
}
