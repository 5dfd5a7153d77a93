package decode

import (
	"fmt"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Expiry is when a new token of an API key ends.
type Expiry struct {
	at optional[timer.Millis]
	in optional[time.Duration]
}

// Ends returns the end of a token that is created now, 0 for none.
func (e *Expiry) Ends(now timer.Millis) (timer.Millis, error) {
	ends := e.at.v
	switch {
	case e.at.given && e.in.given:
		return 0, timer.Invalid("expiresIn", e.in.v, "only one of expiresAt and expiresIn")
	case e.in.given:
		ends = now.Add(e.in.v)
	case !e.at.given:
		return 0, nil
	}
	if ends <= now || ends > timer.MaxMillis {
		return 0, timer.Invalid("expiresAt", ends, "a time in the future, before the year 10000")
	}
	return ends, nil
}

func (e *Expiry) read(name string, v value) (err error) {
	if name == "expiresAt" {
		e.at.given = true
		e.at.v, err = readInstant(name, v)
		return err
	}
	e.in.given = true
	e.in.v, err = parseDuration(name, v)
	return err
}

// KeyCreate is the body of keys/create.
type KeyCreate struct {
	Name   string
	Grants []access.Grant
	Expiry
}

// ReadKeyCreate decodes the body of keys/create.
func ReadKeyCreate(body []byte) (KeyCreate, error) {
	var c KeyCreate
	err := members(body, []string{"name", "grants", "expiresAt", "expiresIn"}, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "name":
			c.Name, err = readNamespace(name, v)
		case name == "grants":
			c.Grants, err = readGrants(name, v)
		default:
			err = c.read(name, v)
		}
		return err
	})
	switch {
	case err != nil:
		return c, err
	case c.Name == "":
		return c, errNoName()
	case len(c.Grants) == 0:
		return c, timer.Invalid("grants", missing{}, wantGrants)
	}
	return c, nil
}

// KeyRotate is the body of keys/rotate.
type KeyRotate struct {
	Name    string
	Overlap time.Duration
	Expiry
}

// ReadKeyRotate decodes the body of keys/rotate.
func ReadKeyRotate(body []byte) (KeyRotate, error) {
	c := KeyRotate{Overlap: access.DefaultOverlap}
	err := members(body, []string{"name", "overlap", "expiresAt", "expiresIn"}, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "name":
			c.Name, err = readNamespace(name, v)
		case name == "overlap":
			if c.Overlap, err = parseDuration(name, v); err == nil && c.Overlap > access.MaxOverlap {
				err = timer.Invalid(name, c.Overlap, "0s to 30d")
			}
		default:
			err = c.read(name, v)
		}
		return err
	})
	if err == nil && c.Name == "" {
		err = errNoName()
	}
	return c, err
}

// ReadKeyName decodes the body of keys/revoke.
func ReadKeyName(body []byte) (string, error) { return ReadNamespaceName(body) }

// ReadNothing decodes a body without fields.
func ReadNothing(body []byte) error {
	return members(body, nil, func(string, value) error { return nil })
}

const wantGrants = `an array of 1 to 32 objects such as {"verbs": ["read", "write"], "namespaces": ["billing-*"]}`

func readGrants(field string, v value) ([]access.Grant, error) {
	values, err := readArray(field, v, access.MaxGrants, wantGrants)
	if err != nil {
		return nil, err
	}
	grants := make([]access.Grant, len(values))
	for i, v := range values {
		path := fmt.Sprintf("%s[%d]", field, i)
		if grants[i], err = readGrant(path, v); err != nil {
			return nil, err
		}
	}
	return grants, nil
}

func readGrant(path string, v value) (access.Grant, error) {
	var g access.Grant
	err := v.object(path, []string{"verbs", "namespaces"}, func(name string, v value) error {
		field := join(path, name)
		texts, err := readTexts(field, v, access.MaxPatterns, "an array of texts")
		if name == "namespaces" {
			g.Namespaces = texts
			return err
		}
		for _, verb := range texts {
			g.Verbs = append(g.Verbs, access.Verb(verb))
		}
		return err
	})
	if err == nil {
		err = g.Check(path)
	}
	return g, err
}

// readTexts decodes an array of at most limit texts.
func readTexts(field string, v value, limit int, want string) ([]string, error) {
	values, err := readArray(field, v, limit, want)
	texts := make([]string, len(values))
	for i := 0; i < len(values) && err == nil; i++ {
		texts[i], err = values[i].string(field, want)
	}
	return texts, err
}

// readArray returns the elements of an array with at most limit elements.
func readArray(field string, v value, limit int, want string) ([]value, error) {
	if v[0] != '[' {
		return nil, timer.Invalid(field, raw(v), want)
	}
	var all []value
	more := false
	v.each(func(element value) {
		if len(all) == limit {
			more = true
			return
		}
		all = append(all, element)
	})
	if more {
		return nil, timer.Invalid(field, "more", fmt.Sprintf("at most %d elements", limit))
	}
	return all, nil
}
