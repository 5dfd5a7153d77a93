package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// maxWritten is how many timers of a page are written in one call: the store's answers have payloads, which use memory.
const maxWritten = 64

// reserve waits until there is memory for one more page, with its text: items is the maximum number of items, each
// their maximum size in bytes. It returns the reserved bytes, to be released with h.pages.
func (h *handler) reserve(ctx context.Context, items, each int) (reserved int64, err error) {
	reserved = min(2*int64(min(items*each, store.MaxPageBytes)), int64(h.cfg.ListBytes))
	if h.pages.Acquire(ctx, reserved) == nil {
		return reserved, nil
	}
	return 0, &refusal{
		status: http.StatusTooManyRequests, code: api.ErrorCodeRateLimited, details: details{"limit": h.cfg.ListBytes},
		message: fmt.Sprintf("the pages of other lists take %d bytes; nothing was done, try again later, or with a smaller limit",
			h.cfg.ListBytes),
	}
}

// pageAnswer reserves memory for a page (see reserve), calls read, and keeps the memory of the text until it is sent.
func (h *handler) pageAnswer(ctx context.Context, items, each int, read func() (text []byte, err error)) (answer, error) {
	reserved, err := h.reserve(ctx, items, each)
	if err != nil {
		return answer{}, err
	}
	kept := int64(0)
	defer func() { h.pages.Release(reserved - kept) }()
	text, err := read()
	if err != nil {
		return answer{}, err
	}
	kept = min(reserved, int64(len(text)))
	return answer{status: http.StatusOK, text: text, sent: func() { h.pages.Release(kept) }}, nil
}

// encodePage encodes a page timer by timer, so that memory has at most the page and its text.
func encodePage(page *store.Page) ([]byte, error) {
	const besides = 1024 // a timer without its payload has about 700 bytes
	size := besides
	for i := range page.Timers {
		size += besides + len(page.Timers[i].Payload)
	}
	buf := bytes.NewBuffer(make([]byte, 0, size))
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	buf.WriteString(`{"timers":[`)
	for i := range page.Timers {
		if i > 0 {
			buf.WriteByte(',')
		}
		if err := e.Encode(renderTimer(&page.Timers[i])); err != nil {
			return nil, err
		}
		buf.Truncate(buf.Len() - 1) // Encode adds a newline
		page.Timers[i] = timer.Timer{}
	}
	buf.WriteByte(']')
	if len(page.Next) > 0 {
		fmt.Fprintf(buf, `,"nextCursor":%q`, decode.WriteCursor(page.Next)) // base64
	}
	buf.WriteString("}\n")
	return buf.Bytes(), nil
}
