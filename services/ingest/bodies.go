package ingest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/timer"
)

// bodies bounds the memory of request bodies, of each one and of all together.
type bodies struct {
	limit int // of one body
	total int64
	used  atomic.Int64
}

// firstPiece is the memory that a body gets before any of it has arrived, in bytes.
const firstPiece = 8 << 10

// read reads a body. It allocates memory as the body arrives, so that a slow client uses memory for the bytes sent and
// not for those declared. release returns the memory. It must be called when the body is not used any more, also after
// an error.
func (b *bodies) read(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	taken := 0
	release = func() { b.used.Add(-int64(taken)) }
	most := b.limit + 1 // one more to detect the end
	if r.ContentLength >= 0 {
		if r.ContentLength > int64(b.limit) {
			return nil, release, bodyTooLarge(b.limit)
		}
		most = int(r.ContentLength) + 1
	}
	from := http.MaxBytesReader(w, r.Body, int64(b.limit))
	for {
		if len(body) == cap(body) {
			size := min(max(2*cap(body), firstPiece), most)
			if size == taken { // longer than declared, which an HTTP server does not pass on
				return nil, release, bodyTooLarge(most - 1)
			}
			if !b.take(size - taken) {
				return nil, release, b.full()
			}
			taken = size
			body = append(make([]byte, 0, size), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		var tooLarge *http.MaxBytesError
		switch {
		case errors.Is(err, io.EOF):
			return body, release, nil
		case errors.As(err, &tooLarge):
			return nil, release, bodyTooLarge(b.limit)
		case err != nil:
			return nil, release, timer.Invalid("body", body, "a complete body")
		}
	}
}

func (b *bodies) take(n int) bool {
	if b.used.Add(int64(n)) <= b.total {
		return true
	}
	b.used.Add(-int64(n))
	return false
}

func (b *bodies) full() *refusal {
	return &refusal{
		status: http.StatusTooManyRequests, code: api.ErrorCodeRateLimited, details: details{"limit": b.total},
		message: fmt.Sprintf("the bodies of all requests exceed %d bytes; nothing was applied, try again later", b.total),
	}
}
