package dynamostore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store/dynamostore"
)

// wire sends requests, counts them by operation, and injects faults. It is below net/http's tracing, as a real network
// is.
type wire struct {
	http.Client

	mu    sync.Mutex
	count map[string]int
	fault func(operation, body string) fault
	// hot, if not empty, is a shard for which the service has no capacity, in the form of the requests.
	hot string
}

// fault is the fault of one request.
type fault int

const (
	pass fault = iota
	// throttle: the service refuses the request because of a lack of capacity.
	throttle
	// loseAnswer: the service applies the request, and the answer is lost.
	loseAnswer
	// breakDown: the service answers 500 and does not apply the request.
	breakDown
	// fill: the service answers that the item collection is full.
	fill
	// estimate: the service applies the request and reports the size of shard 7.
	estimate
	// emptyPage: a Query's answer has no items, and a key from which to continue.
	emptyPage
)

// hook makes an engine's options use a new wire.
func hook(o *dynamostore.Options) *wire {
	w := &wire{count: map[string]int{}}
	w.Transport = w
	o.HTTPClient = w
	return w
}

// on sets the faults of later requests. nil: none.
func (w *wire) on(f func(operation, body string) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

// first injects a fault into the first request of an operation.
func (w *wire) first(operation string, f fault) {
	done := false
	w.on(func(op, _ string) fault {
		if op != operation || done {
			return pass
		}
		done = true
		return f
	})
}

// counted returns the number of requests of each operation that a call sends.
func (w *wire) counted(tb testing.TB, call func() error) map[string]int {
	tb.Helper()
	w.mu.Lock()
	clear(w.count)
	w.mu.Unlock()
	if err := call(); err != nil {
		tb.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.count)
}

// refuse makes the service have no capacity for a shard.
func (w *wire) refuse(id shard.ID) { w.hot = `"shard_id":{"N":"` + id.String() + `"}` }

// withoutHot sends a request that reads many items, without those of the hot shard, which the answer then reports as
// unprocessed. If there are no other items, it refuses the request.
func (w *wire) withoutHot(r *http.Request, body []byte) (*http.Response, error) {
	var asked struct {
		RequestItems           map[string]map[string]json.RawMessage
		ReturnConsumedCapacity string `json:",omitempty"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	left := map[string]map[string]json.RawMessage{}
	for table, ask := range asked.RequestItems {
		var keys, hot, rest []json.RawMessage
		if err := json.Unmarshal(ask["Keys"], &keys); err != nil {
			return nil, err
		}
		for _, key := range keys {
			if strings.Contains(string(key), w.hot) {
				hot = append(hot, key)
			} else {
				rest = append(rest, key)
			}
		}
		if len(rest) == 0 {
			return refuse(r, http.StatusBadRequest, "ProvisionedThroughputExceededException", "too fast"), nil
		}
		left[table] = maps.Clone(ask)
		left[table]["Keys"], _ = json.Marshal(hot)
		ask["Keys"], _ = json.Marshal(rest)
	}
	request, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(request)), int64(len(request))
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	var given map[string]any
	if err := json.NewDecoder(response.Body).Decode(&given); err != nil {
		return nil, err
	}
	given["UnprocessedKeys"] = left
	text, err := json.Marshal(given)
	return answer(r, http.StatusOK, string(text)), err
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.mu.Lock()
	w.count[operation]++
	f := pass
	if w.fault != nil {
		f = w.fault(operation, string(body))
	}
	w.mu.Unlock()
	switch {
	case w.hot == "" || !strings.Contains(string(body), w.hot) && !strings.Contains(string(body), strings.Replace(w.hot, "shard_id", ":shard", 1)):
	case operation == "BatchGetItem":
		return w.withoutHot(r, body)
	default:
		f = throttle
	}
	switch f {
	case throttle:
		return refuse(r, http.StatusBadRequest, "ProvisionedThroughputExceededException", "too fast"), nil
	case fill:
		return refuse(r, http.StatusBadRequest, "ItemCollectionSizeLimitExceededException", "Item collection size limit of 10 gigabytes exceeded"), nil
	case estimate:
		return answer(r, http.StatusOK,
			`{"ItemCollectionMetrics":{"ItemCollectionKey":{"shard_id":{"N":"7"}},"SizeEstimateRangeGB":[8.0,9.0]}}`), nil
	case emptyPage:
		return nothingYet(r, body)
	case breakDown:
		// The request must really be sent, because the connection's trace must see it.
		response, err := http.DefaultTransport.RoundTrip(ping(r))
		if err != nil {
			return nil, err
		}
		response.Body.Close()
		return refuse(r, http.StatusInternalServerError, "InternalServerError", "oh dear"), nil
	case loseAnswer:
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		response.Body.Close()
		return nil, errors.New("connection reset by peer")
	default:
		return http.DefaultTransport.RoundTrip(r)
	}
}

// nothingYet answers a Query with an empty page, as if a filter had removed all items: the read continues after the
// lower bound of the Query's range.
func nothingYet(r *http.Request, body []byte) (*http.Response, error) {
	var query struct {
		IndexName                 string
		ExpressionAttributeValues map[string]map[string]string
	}
	if err := json.Unmarshal(body, &query); err != nil {
		return nil, err
	}
	values := query.ExpressionAttributeValues
	last := map[string]any{"shard_id": values[":shard"], "sk": values[":from"]}
	if query.IndexName != "" {
		last = map[string]any{"shard_id": values[":shard"], "sk": map[string]string{"S": "t#"}, "due": values[":from"]}
	}
	text, err := json.Marshal(map[string]any{"Items": []any{}, "Count": 0, "ScannedCount": 0, "LastEvaluatedKey": last})
	return answer(r, http.StatusOK, string(text)), err
}

// ping returns a request that changes nothing, on the same trace.
func ping(r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	out.Method, out.Body, out.ContentLength = http.MethodGet, http.NoBody, 0
	return out
}

func refuse(r *http.Request, status int, code, message string) *http.Response {
	return answer(r, status, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":%q}`, code, message))
}

func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

// watcher sums the measurements of an Observer.
type watcher struct {
	mu                         sync.Mutex
	requests                   map[string]int
	total, index               map[string]float64
	empty                      float64 // queries that were counted as 0 units
	throttled, measured, fulls int
	full                       shard.ID
	gigabytes                  float64
}

func newWatcher() *watcher {
	return &watcher{requests: map[string]int{}, total: map[string]float64{}, index: map[string]float64{}}
}

func (w *watcher) Consumed(operation string, total, index float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests[operation]++
	w.total[operation] += total
	w.index[operation] += index
	if total == 0 && operation == "Query" {
		w.empty++
	}
}

func (w *watcher) Throttled() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.throttled++
}

func (w *watcher) Collection(_ shard.ID, gigabytes float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.measured++
	w.gigabytes = gigabytes
}

func (w *watcher) CollectionFull(id shard.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fulls++
	w.full = id
}
