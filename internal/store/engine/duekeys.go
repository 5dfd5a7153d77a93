package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// maxPerShard bounds how many index entries of one shard one statement reads.
const maxPerShard = 2000

// KeysPerShard returns how many keys of each shard DueKeys reads. Timers are spread over shards by a hash, so the number of
// a shard's keys in a page is about Poisson distributed. A page ends early if a shard has more, so a larger number than
// the mean is read: four standard deviations and five more.
func KeysPerShard(limit, shards int) int {
	mean := float64(limit) / float64(max(1, shards))
	return min(limit, maxPerShard, int(mean+4*math.Sqrt(mean))+5)
}

// MergeKeys returns the page of the first keys of all shards, at most perShard of each. It ends at the last key of the first shard
// that may have more keys.
func MergeKeys(found []store.DueKey, limit, perShard int) store.DueKeys {
	slices.SortFunc(found, func(a, b store.DueKey) int { return a.Compare(b.Key) })
	read := map[shard.ID]int{}
	for i, k := range found {
		read[k.Shard]++
		if i+1 == limit || read[k.Shard] == perShard {
			return store.DueKeys{Keys: found[:i+1], More: true}
		}
	}
	return store.DueKeys{Keys: found}
}

const (
	// rowsTogether is how many rows a list in due order reads together. Their payloads are in memory at the same time.
	rowsTogether = 32
	// maxRowsLooked bounds how many rows a page reads if few of them have the status that is listed.
	maxRowsLooked = 2000

	dueCursor     = "due1"
	dueCursorSize = len(dueCursor) + 8 + 16 + crc32.Size
)

// DuePage reads one page of a list in due order. keys is the engine's DueKeys. rows reads rows by their keys, in any order;
// rows that do not exist are left out.
func DuePage(
	ctx context.Context, q *store.ListQuery, keys func(context.Context, store.DueKeysQuery) (store.DueKeys, error),
	rows func(context.Context, []store.Ref) ([]timer.Timer, error),
) (store.Page, error) {
	after, err := dueStart(q)
	if err != nil {
		return store.Page{}, fmt.Errorf("list timers of %q: %w: %w", q.Namespace.Name, store.ErrInvalid, err)
	}
	found, err := keys(ctx, store.DueKeysQuery{
		Namespace: q.Namespace, After: after, Before: q.DueBefore, Limit: dueKeysOf(q),
	})
	if err != nil {
		return store.Page{}, err
	}
	var page store.Page
	var size store.PageBytes
	for len(found.Keys) > 0 {
		some := found.Keys[:min(len(found.Keys), rowsTogether)]
		refs := make([]store.Ref, len(some))
		for i, k := range some {
			refs[i] = store.Ref{Shard: k.Shard, UUID: k.UUID}
		}
		read, err := rows(ctx, refs)
		if err != nil {
			return store.Page{}, err
		}
		byKey := make(map[store.Key]*timer.Timer, len(read))
		for i := range read {
			byKey[store.Key{DueAt: read[i].DueAt, UUID: read[i].UUID}] = &read[i]
		}
		for _, k := range some {
			// A row that has moved since is listed at its new key, if that is later.
			t := byKey[k.Key]
			if t == nil || t.Status.Held() || !q.Selects(t) {
				after, found.Keys = k.Key, found.Keys[1:]
				continue
			}
			if q.WithoutPayloads {
				t.Payload = nil
			}
			if len(page.Timers) == q.Limit || !size.Fits(t) {
				page.Next = dueCursorAt(after)
				return page, nil
			}
			page.Timers = append(page.Timers, *t)
			after, found.Keys = k.Key, found.Keys[1:]
		}
	}
	if found.More {
		page.Next = dueCursorAt(after)
	}
	return page, nil
}

// dueKeysOf returns how many keys a page reads: one more than it has timers shows whether there is a next page.
func dueKeysOf(q *store.ListQuery) int {
	if q.Status == "" {
		return q.Limit + 1
	}
	return maxRowsLooked
}

func dueCursorAt(k store.Key) store.Cursor {
	b := make([]byte, 0, dueCursorSize)
	b = append(b, dueCursor...)
	b = binary.BigEndian.AppendUint64(b, uint64(k.DueAt))
	b = append(b, k.UUID[:]...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// dueStart returns the key after which the page begins, or a timer.InvalidError.
func dueStart(q *store.ListQuery) (store.Key, error) {
	after := store.MinKey()
	if q.DueFrom != 0 {
		after = store.MaxKeyAt(q.DueFrom - 1)
	}
	if len(q.After) == 0 {
		return after, nil
	}
	b := []byte(q.After)
	if len(b) != dueCursorSize || string(b[:len(dueCursor)]) != dueCursor ||
		crc32.ChecksumIEEE(b[:dueCursorSize-crc32.Size]) != binary.BigEndian.Uint32(b[dueCursorSize-crc32.Size:]) {
		return after, timer.Invalid("cursor", b, "the cursor of the previous page, with the same namespace, status and order")
	}
	b = b[len(dueCursor):]
	at := store.Key{DueAt: timer.Millis(binary.BigEndian.Uint64(b)), UUID: timer.UUID(b[8:24])}
	if after.After(at) {
		at = after
	}
	return at, nil
}
