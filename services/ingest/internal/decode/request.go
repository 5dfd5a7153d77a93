package decode

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// requestField is a request with its body.
type requestField struct {
	timer.Request

	body []byte
}

var requestNames = []string{"method", "body", "bodyBase64", "contentType", "reschedule"}

func readRequest(field string, v value) (requestField, error) {
	r := requestField{Request: timer.Request{Method: http.MethodPost}}
	var text, coded bool
	err := v.object(field, requestNames, func(name string, v value) (err error) {
		if v.isNull() {
			return nil // counts as absent
		}
		path := join(field, name)
		switch name {
		case "method":
			r.Method, err = readMethod(path, v)
		case "body":
			text = true
			r.body, err = readText(path, v)
		case "bodyBase64":
			coded = true
			r.body, err = readBase64(path, v)
		case "contentType":
			r.ContentType, err = v.string(path, "a media type such as text/plain; charset=utf-8, at most 255 bytes")
		case "reschedule":
			r.Reschedule, err = v.bool(path)
		}
		return err
	})
	switch {
	case err != nil:
	case text && coded:
		err = timer.Invalid(join(field, "bodyBase64"), "", "only one of body and bodyBase64")
	case text:
		r.ContentType = cmp.Or(r.ContentType, "text/plain; charset=utf-8")
	case coded:
		r.ContentType = cmp.Or(r.ContentType, "application/octet-stream")
	case r.ContentType != "":
		err = timer.Invalid(join(field, "contentType"), r.ContentType, "body or bodyBase64, or no contentType")
	}
	return r, err
}

func readMethod(field string, v value) (string, error) {
	want := "one of " + strings.Join(timer.Methods(), ", ")
	method, err := v.string(field, want)
	if err == nil && !slices.Contains(timer.Methods(), method) {
		err = timer.Invalid(field, method, want)
	}
	return method, err
}

// readText decodes a text, which may be empty.
func readText(field string, v value) ([]byte, error) {
	if string(v) == `""` {
		return []byte{}, nil
	}
	text, err := v.string(field, "a text without unpaired surrogates")
	return []byte(text), err
}

func readBase64(field string, v value) ([]byte, error) {
	const want = "standard base64 with padding (RFC 4648, section 4)"
	text, err := readText(field, v)
	if err != nil {
		return nil, timer.Invalid(field, raw(v), want)
	}
	body, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil {
		return nil, timer.Invalid(field, string(text), want)
	}
	return body, nil
}
