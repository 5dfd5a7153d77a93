package timer

import (
	"mime"
	"net/http"
	"slices"
	"strings"
)

// Request is the HTTP request of a callback with a body that the user has chosen. The zero value is the usual request: a POST
// with a JSON object that describes the timer and contains its payload.
type Request struct {
	// Method is one of Methods.
	Method string
	// ContentType is the media type of the body, which is the Spec's Payload. It is empty if the request has no body.
	ContentType string
	// Reschedule: a JSON answer may reschedule the timer or say that it is not ok. Otherwise only the status counts.
	Reschedule bool
}

// MaxContentType is the longest content type, in bytes.
const MaxContentType = 255

// Methods lists the methods of a Request.
func Methods() []string { return []string{"GET", "POST", "PUT", "PATCH", "DELETE"} }

// Raw reports whether the callback has a request of the user.
func (r *Request) Raw() bool { return r.Method != "" }

func (s *Spec) checkRequest() error {
	r := &s.Request
	switch {
	case *r == Request{}:
		return nil
	case !slices.Contains(Methods(), r.Method):
		return Invalid("request.method", r.Method, "one of "+strings.Join(Methods(), ", "))
	case s.Way() != DeliverCallback:
		return Invalid("request", r.Method, "a timer with a callbackUrl, delivered by callback only")
	case r.ContentType == "" && len(s.Payload) > 0:
		return Invalid("request.contentType", "", "a media type, because the request has a body")
	case r.ContentType == "":
		return nil
	case r.Method == http.MethodGet:
		return Invalid("request.body", s.Payload, "no body, because the method is GET")
	}
	_, _, err := mime.ParseMediaType(r.ContentType)
	printable := !strings.ContainsFunc(r.ContentType, func(c rune) bool { return c < ' ' || c > '~' })
	if err != nil || len(r.ContentType) > MaxContentType || !printable || !strings.Contains(r.ContentType, "/") {
		return Invalid("request.contentType", r.ContentType, "a media type such as text/plain; charset=utf-8, at most 255 bytes")
	}
	return nil
}
