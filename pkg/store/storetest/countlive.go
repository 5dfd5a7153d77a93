package storetest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
)

func countLiveTests() []test {
	return []test{{"CountLive/OfTheNamespaceUpToTheLimit", countLive}}
}

// countLive: quotas count timers that are not finished, of one namespace only.
func countLive(w *world) {
	count := func(what string, limit, want int) {
		w.t.Helper()
		got, err := w.store.CountLive(w.ctx, w.ns, limit)
		w.check(err, "count")
		w.equal(what, got, want)
	}
	count("nothing", 10, 0)
	w.oneOfEach()
	other := *w
	other.ns = w.namespace("other", 2)
	other.put("x", w.now)
	count("scheduled, retrying, parked and paused", 10, 4)
	count("as many as the limit", 4, 4)
	count("more than the limit", 2, 2)
	w.mustWrite(store.Delete{Ref: w.ref("scheduled")})
	count("after a delete", 10, 3)
	for i := range 40 {
		w.put(fmt.Sprint("more", i), w.now+hour)
	}
	count("of many shards", 100, 43)
	count("of many shards, up to the limit", 17, 17)
}
