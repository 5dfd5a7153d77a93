package decode

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
)

// Encryption has the parameters for encrypting secrets in settings.
type Encryption struct {
	Namespace string
	Keys      encryption.Keyring
	Now       timer.Millis
}

// secretFields is one command about signing secrets. null removes all of them.
type secretFields struct {
	given, null         bool
	set, rotate, remove string
	overlap             time.Duration
}

var secretNames = []string{"set", "rotate", "overlap", "remove"}

const (
	wantKeyText = "whsec_ and the base64 of 24 to 64 random bytes"
	wantOverlap = `a duration from "1s" to "8760h"`
	maxOverlap  = 365 * 24 * time.Hour
)

func (f *secretFields) read(v value) error {
	f.given, f.null = true, v.isNull()
	if f.null {
		return nil
	}
	commands := 0
	command := func(field string, v value, to *string, want string) (err error) {
		commands++
		*to, err = v.string(field, want)
		return err
	}
	err := v.object("secrets", secretNames, func(name string, v value) (err error) {
		if v.isNull() {
			return nil // counts as absent
		}
		switch field := "secrets." + name; name {
		case "set":
			err = command(field, v, &f.set, wantKeyText)
		case "rotate":
			err = command(field, v, &f.rotate, wantKeyText)
		case "remove":
			err = command(field, v, &f.remove, "the id of a secret, as an answer gave it")
		case "overlap":
			f.overlap, err = readDuration(field, v)
			if err == nil && (f.overlap < time.Second || f.overlap > maxOverlap) {
				err = timer.Invalid(field, raw(v), wantOverlap)
			}
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case commands != 1:
		return timer.Invalid("secrets", fmt.Sprintf("%d commands", commands), "exactly one of set, rotate and remove")
	case f.overlap != 0 && f.rotate == "":
		return timer.Invalid("secrets.overlap", f.overlap, "overlap only together with rotate")
	default:
		return nil
	}
}

// apply executes the command. The first secret never expires, so that callbacks stay signed until the last secret is
// removed.
func (f *secretFields) apply(now *store.Secrets, with *Encryption) (store.Secrets, error) {
	live := now.Live(with.Now)
	var err error
	switch {
	case !f.given:
	case f.null:
		live = nil
	case f.remove != "":
		live, err = without(live, f.remove)
	case f.set != "":
		live, err = newest(nil, "secrets.set", f.set, with, live)
	default:
		live, err = f.rotated(live, with)
	}
	var out store.Secrets
	if err != nil {
		return out, err
	}
	copy(out[:], live)
	out[0].ExpiresAt = 0
	for i := range out {
		out[i].Encrypted = with.reencrypt(store.SecretContext(with.Namespace), out[i].Encrypted)
	}
	return out, nil
}

func (f *secretFields) rotated(live []store.Secret, with *Encryption) ([]store.Secret, error) {
	const field = "secrets.rotate"
	secret, err := parseSecret(field, f.rotate)
	if err != nil {
		return nil, err
	}
	if len(live) > 0 && live[0].ID == secret.ID() {
		return live, nil // a repetition, because the answer to the first request was lost
	}
	rest, err := without(live, secret.ID())
	if err != nil {
		rest = live
	}
	if len(rest) == store.MaxSecrets {
		return nil, timer.Invalid(field, "a third secret", "one of the two live ones removed first: "+idsOf(live))
	}
	for i := range rest {
		rest[i].ExpiresAt = 0
		if f.overlap != 0 {
			rest[i].ExpiresAt = with.Now.Add(f.overlap)
		}
	}
	return newest(rest, field, f.rotate, with, live)
}

// newest puts a secret before others. A secret that is already live keeps its creation time.
func newest(others []store.Secret, field, text string, with *Encryption, live []store.Secret) ([]store.Secret, error) {
	secret, err := parseSecret(field, text)
	if err != nil {
		return nil, err
	}
	made := store.Secret{ID: secret.ID(), CreatedAt: with.Now}
	for _, known := range live {
		if known.ID == made.ID {
			made.CreatedAt = known.CreatedAt
		}
	}
	if made.Encrypted, err = with.encrypt(field, store.SecretContext(with.Namespace), secret.Reveal()); err != nil {
		return nil, err
	}
	return append([]store.Secret{made}, others...), nil
}

func parseSecret(field, text string) (webhook.Secret, error) {
	secret, err := webhook.ParseSecret(text)
	return secret, named(field, err)
}

func without(live []store.Secret, id string) ([]store.Secret, error) {
	var rest []store.Secret
	for _, s := range live {
		if s.ID != id {
			rest = append(rest, s)
		}
	}
	if len(rest) == len(live) {
		return nil, timer.Invalid("secrets.remove", id, "the id of a live secret: "+idsOf(live))
	}
	return rest, nil
}

func idsOf(live []store.Secret) string {
	if len(live) == 0 {
		return "the namespace has none"
	}
	ids := make([]string, len(live))
	for i, s := range live {
		ids[i] = s.ID
	}
	return strings.Join(ids, ", ")
}

func (w *Encryption) encrypt(field, place, secret string) (string, error) {
	encrypted, err := w.Keys.Encrypt(place, []byte(secret))
	if errors.Is(err, encryption.ErrNoKey) {
		err = timer.Invalid(field, hidden{}, "a service that was started with a secret key (--secret-key, TIMERBUS_SECRET_KEY): "+
			"without a key, secrets cannot be stored")
	}
	return encrypted, err
}

// reencrypt encrypts a text again if it was encrypted with an older key. A text that cannot be decrypted here is not
// changed.
func (w *Encryption) reencrypt(place, encrypted string) string {
	if encrypted == "" || w.Keys.IsCurrent(encrypted) {
		return encrypted
	}
	secret, err := w.Keys.Decrypt(place, encrypted)
	if err != nil {
		return encrypted
	}
	again, err := w.Keys.Encrypt(place, secret)
	if err != nil {
		return encrypted
	}
	return again
}

// hidden replaces a value that may be a secret in errors.
type hidden struct{}

func (hidden) String() string { return "the given value" }

// redact removes values from errors about a body that may contain secrets, except for fields known to be harmless: a
// misspelt field may contain a secret, too.
func redact(err error) error {
	invalid, ok := errors.AsType[*timer.InvalidError](err)
	if !ok {
		return err
	}
	if invalid.Field == "callbackAuth.type" || invalid.Value == (missing{}).String() {
		return err
	}
	field, _, _ := strings.Cut(invalid.Field, ".")
	switch field {
	case "name", "numShards", "preset", "ifVersion", "retryPolicy", "callbackTimeout", "callbackTimeoutSeconds", "historyRetention",
		"deadRetention", "keepPayload", "finalStatuses", "headers", "eventTopics", "hostConcurrency", "quota", "flows", "results":
		return err
	}
	out := *invalid
	out.Value = hidden{}.String()
	return &out
}

// readHeaders decodes an object of header names and values.
func readHeaders(field string, v value) (timer.Headers, error) {
	const want = "an object of names and strings, such as {\"X-Team\":\"billing\"}"
	if v[0] != '{' {
		return "", timer.Invalid(field, hidden{}, want)
	}
	var fields []timer.Header
	err := v.pairs(func(key, v value) error {
		name := key.text()
		if v[0] != '"' || loneSurrogate(v) {
			return timer.Invalid(field, name, "a string as the value of each name")
		}
		if fields = append(fields, timer.Header{Name: name, Value: v.text()}); len(fields) > timer.MaxHeaders {
			return timer.Invalid(field, "more", fmt.Sprintf("at most %d", timer.MaxHeaders))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return timer.NewHeaders(fields)
}

// readStatuses decodes an array of statuses.
func readStatuses(field string, v value) (timer.StatusCodes, error) {
	const want = "an array of statuses from 400 to 499, such as [400, 422]"
	var set timer.StatusCodes
	if v[0] != '[' {
		return set, timer.Invalid(field, raw(v), want)
	}
	var err error
	v.each(func(element value) {
		if err != nil {
			return
		}
		var code int
		if code, err = element.integer(field, 400, 499, want); err == nil {
			set, err = set.With(code)
		}
	})
	return set, err
}
