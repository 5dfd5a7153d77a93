package decode

import (
	"math"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Fields are the parts of a timer's Spec in a body. In an update, null differs from absent: it selects the default,
// which depends on the namespace's settings.
type Fields struct {
	executeAt   optional[timer.Millis]
	executeIn   optional[time.Duration]
	local       *localFields // nil if none of them is given
	deliver     optional[timer.Deliver]
	callbackURL optional[string]
	timeout     timeoutField
	retry       retryFields
	payload     optional[[]byte]
	correlation optional[string]
	headers     optional[timer.Headers]
	topic, key  optional[string]
	request     optional[requestField]
	window      optional[time.Duration]
	expireAfter optional[time.Duration]
	expiresAt   optional[timer.Millis]
	flowKey     optional[string]
	onDone      optional[string]
	onDead      optional[string]
}

// optional is a field that may be absent, null or a value.
type optional[T any] struct {
	given, null bool
	v           T
}

// to returns the field's value for a patch: nil keeps the present value, and null becomes the default.
func (o *optional[T]) to(def T) *T {
	switch {
	case !o.given:
		return nil
	case o.null:
		return new(def) // and not &def, for which each call would allocate
	default:
		return &o.v
	}
}

var fieldNames = slices.Concat([]string{
	"executeAt", "executeIn", "deliver", "callbackUrl", "callbackTimeout", "callbackTimeoutSeconds",
	"retryPolicy", "payload", "correlationId", "headers", "topic", "key", "request", "window", "expireAfter", "expiresAt",
	"flowKey", "onDone", "onDead",
}, localNames)

const wantExecuteAt = "an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999"

// read decodes one field. If nulls is set, null means the default; otherwise the caller has removed nulls.
func (f *Fields) read(name string, v value, nulls bool) (err error) {
	switch name {
	case "executeAt":
		f.executeAt.given = true
		f.executeAt.v, err = readInstant(name, v)
	case "executeIn":
		f.executeIn.given = true
		f.executeIn.v, err = parseDuration(name, v)
	case "deliver":
		f.deliver, err = maybe(name, v, readDeliver)
	case "callbackUrl":
		f.callbackURL, err = maybe(name, v, readURL)
	case "callbackTimeout", "callbackTimeoutSeconds":
		err = f.timeout.read(name, v)
	case "retryPolicy":
		err = f.retry.read(v, nulls)
	case "payload":
		f.payload = optional[[]byte]{given: true, null: v.isNull(), v: v}
	case "correlationId":
		f.correlation, err = maybe(name, v, func(_ string, v value) (string, error) { return readCorrelationID(v) })
	case "headers":
		f.headers, err = maybe(name, v, readHeaders)
	case "topic":
		f.topic, err = maybe(name, v, readTopic)
	case "key":
		f.key, err = maybe(name, v, readEventKey)
	case "request":
		f.request, err = maybe(name, v, readRequest)
	case "window":
		f.window, err = maybe(name, v, readDuration)
	case "expireAfter":
		f.expireAfter, err = maybe(name, v, readPositive)
	case "expiresAt":
		f.expiresAt, err = maybe(name, v, readInstant)
	case "flowKey":
		f.flowKey, err = maybe(name, v, readFlowKey)
	case "onDone":
		f.onDone, err = maybe(name, v, readURL)
	case "onDead":
		f.onDead, err = maybe(name, v, readURL)
	default: // localNames
		if f.local == nil {
			f.local = new(localFields)
		}
		err = f.local.read(name, v)
	}
	return err
}

func (f *Fields) complete(create bool) error {
	if f.local != nil {
		if err := f.local.complete(f.executeAt.given, f.executeIn.given); err != nil {
			return err
		}
	}
	timed := f.executeAt.given || f.executeIn.given || f.local != nil
	switch {
	case f.executeAt.given && f.executeIn.given:
		return timer.Invalid("executeIn", f.executeIn.v, "only one of executeAt and executeIn")
	case create && !timed:
		const others = `, or executeIn, a duration such as "3s", or executeAtLocal and timeZone`
		return timer.Invalid("executeAt", missing{}, wantExecuteAt+others)
	case f.window.given && !timed:
		return timer.Invalid("window", f.window.shown(), "executeAt, executeIn or executeAtLocal with it")
	case f.expiresAt.given && f.expireAfter.given:
		return timer.Invalid("expiresAt", f.expiresAt.shown(), "only one of expireAfter and expiresAt")
	case f.request.given && !f.request.null && f.payload.given && !f.payload.null:
		return timer.Invalid("payload", f.payload.v, "no payload with a request; its body is request.body")
	default:
		return f.timeout.agree()
	}
}

// HasCorrelationID reports whether the body has a correlation id.
func (f *Fields) HasCorrelationID() bool { return f.correlation.given }

// SetCorrelationID sets the correlation id.
func (f *Fields) SetCorrelationID(id string) { f.correlation = optional[string]{given: true, v: id} }

// Spec returns the validated spec of a new timer. executeIn counts from received.
func (f *Fields) Spec(id timer.UUID, received timer.Millis, defaults *store.Settings, zones schedule.Zones) (timer.Spec, error) {
	local, err := f.resolve(zones)
	if err != nil {
		return timer.Spec{}, err
	}
	if err := f.checkWindow(received); err != nil {
		return timer.Spec{}, err
	}
	p := f.patch(id, received, defaults)
	p.Local = local
	return p.Apply(timer.Spec{CallbackTimeout: defaults.CallbackTimeout, Retry: defaults.Retry})
}

// Patch returns the changes of an update. It checks everything that does not depend on the timer; the store checks the
// rest, because it has the row.
func (f *Fields) Patch(id timer.UUID, received timer.Millis, defaults *store.Settings, zones schedule.Zones) (timer.Patch, error) {
	if f.callbackURL.given && !f.callbackURL.null {
		if err := timer.CheckCallbackURL(f.callbackURL.v); err != nil {
			return timer.Patch{}, err
		}
	}
	if n := max(len(f.payload.v), len(f.request.v.body)); n > timer.MaxPayload {
		return timer.Patch{}, &timer.PayloadTooLargeError{Size: n, Limit: timer.MaxPayload}
	}
	local, err := f.resolve(zones)
	if err != nil {
		return timer.Patch{}, err
	}
	if err := f.checkWindow(received); err != nil {
		return timer.Patch{}, err
	}
	p := f.patch(id, received, defaults)
	p.Local = local
	return p, nil
}

// checkWindow refuses a window in which the timer may expire before it is due.
func (f *Fields) checkWindow(received timer.Millis) error {
	if !f.expiresAt.given || f.expiresAt.null || f.window.v == 0 {
		return nil
	}
	start := f.executeAt.v
	if f.executeIn.given {
		start = received.Add(f.executeIn.v)
	}
	if end := start.Add(f.window.v); end > f.expiresAt.v {
		return timer.Invalid("window", f.window.v, "one that ends before expiresAt, not at "+end.String())
	}
	return nil
}

func (f *Fields) patch(id timer.UUID, received timer.Millis, defaults *store.Settings) timer.Patch {
	p := timer.Patch{
		ExecuteAt:       f.executeAt.to(0),
		Deliver:         f.deliver.to(timer.DeliverAuto),
		CallbackURL:     f.callbackURL.to(""),
		CallbackTimeout: f.timeout.to(defaults.CallbackTimeout),
		Retry:           f.retry.patch(&defaults.Retry),
		Payload:         f.payload.to(nil),
		CorrelationID:   f.correlation.to(""),
		Headers:         f.headers.to(""),
		Topic:           f.topic.to(""),
		EventKey:        f.key.to(""),
		FlowKey:         f.flowKey.to(""),
		OnDone:          f.onDone.to(""),
		OnDead:          f.onDead.to(""),
	}
	if f.executeIn.given {
		at := received.Add(f.executeIn.v)
		p.ExecuteAt = &at
	}
	p.ExpireAfter = f.expireAfter.to(0)
	switch {
	case f.expiresAt.null:
		p.ExpireAfter = new(time.Duration(0))
	case f.expiresAt.given:
		p.ExpiresAt = &f.expiresAt.v
	}
	if p.ExecuteAt != nil {
		p.Window = &f.window.v
		p.ExecuteAt = new(p.ExecuteAt.Add(timer.Spread(id, f.window.v)))
	}
	if f.request.given {
		p.Request = &f.request.v.Request
		if f.request.v.body != nil || p.Payload == nil {
			p.Payload = &f.request.v.body
		}
	}
	return p
}

// maybe decodes a field that may be null.
func maybe[T any](field string, v value, read func(field string, v value) (T, error)) (optional[T], error) {
	if v.isNull() {
		return optional[T]{given: true, null: true}, nil
	}
	t, err := read(field, v)
	return optional[T]{given: true, v: t}, err
}

func readInstant(field string, v value) (timer.Millis, error) {
	s, err := v.string(field, wantExecuteAt)
	if err != nil {
		return 0, err
	}
	m, err := timer.ParseMillis(s)
	return m, named(field, err)
}

// readBound decodes an instant that bounds a filter. It refuses the instant 0, which means "no bound" in List: a client that sends it
// probably did not set a variable, and its filter would select everything.
func readBound(field string, v value) (timer.Millis, error) {
	at, err := readInstant(field, v)
	if err == nil && at == 0 {
		err = timer.Invalid(field, raw(v), "a time other than 1970-01-01T00:00:00Z")
	}
	return at, err
}

func readDeliver(field string, v value) (timer.Deliver, error) {
	const want = `"callback", "event" or "both"`
	s, err := v.string(field, want)
	if err != nil {
		return "", err
	}
	switch d := timer.Deliver(s); d {
	case timer.DeliverCallback, timer.DeliverEvent, timer.DeliverBoth:
		return d, nil
	default:
		return "", timer.Invalid(field, s, want)
	}
}

func readURL(field string, v value) (string, error) {
	return v.string(field, "an absolute http or https URL with a host, at most 2048 bytes")
}

func readTopic(field string, v value) (string, error) {
	s, err := v.string(field, `a name of 1 to 249 letters, digits, dots, underscores or hyphens, not "." or ".."`)
	if err == nil {
		err = timer.CheckTopic(s)
	}
	return s, err
}

func readEventKey(field string, v value) (string, error) {
	s, err := v.string(field, "1 to 255 bytes of UTF-8 without control characters")
	if err == nil {
		err = timer.CheckEventKey(s)
	}
	return s, err
}

// parseDuration decodes a duration as given. It may be finer than a millisecond.
func parseDuration(field string, v value) (time.Duration, error) {
	const want = `a duration such as "200ms", "30s", "1h" or "1d12h", not negative`
	s, err := v.string(field, want)
	if err != nil {
		return 0, err
	}
	d, err := timer.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, timer.Invalid(field, s, want)
	}
	return d, nil
}

// readDuration decodes a duration and truncates it to milliseconds. It refuses a duration under 1 ms, because zero
// means "no limit" for some fields.
func readDuration(field string, v value) (time.Duration, error) {
	d, err := parseDuration(field, v)
	if err == nil && d > 0 && d < time.Millisecond {
		err = timer.Invalid(field, raw(v), `at least "1ms"`)
	}
	return d.Truncate(time.Millisecond), err
}

// readPositive decodes a duration of at least a millisecond.
func readPositive(field string, v value) (time.Duration, error) {
	d, err := readDuration(field, v)
	if err == nil && d == 0 {
		err = timer.Invalid(field, raw(v), `"1ms" to "87600h"`)
	}
	return d, err
}

// timeoutField is callbackTimeout or callbackTimeoutSeconds.
type timeoutField struct{ text, seconds optional[time.Duration] }

const wantSeconds = "a number of seconds, 1 to 300"

func (t *timeoutField) read(name string, v value) (err error) {
	if name == "callbackTimeout" {
		t.text, err = maybe(name, v, readDuration)
		return err
	}
	t.seconds, err = maybe(name, v, func(field string, v value) (time.Duration, error) {
		n, err := v.number(field, wantSeconds)
		if err == nil && (n < timer.MinCallbackTimeout.Seconds() || n > timer.MaxCallbackTimeout.Seconds()) {
			err = timer.Invalid(field, raw(v), wantSeconds)
		}
		return time.Duration(math.Round(n*1000)) * time.Millisecond, err
	})
	return err
}

func (t *timeoutField) agree() error {
	if t.text.given && t.seconds.given && t.text != t.seconds {
		return timer.Invalid("callbackTimeoutSeconds", t.seconds.shown(), "the same as callbackTimeout, or only one of the two")
	}
	return nil
}

func (t *timeoutField) to(def time.Duration) *time.Duration {
	if t.text.given {
		return t.text.to(def)
	}
	return t.seconds.to(def)
}

// shown returns the value for an error message.
func (o *optional[T]) shown() any {
	if o.null {
		return "null"
	}
	return o.v
}

// retryFields are the parts of a retry policy in a body.
type retryFields struct {
	given, null bool

	maxAttempts         optional[int]
	maxRetries          optional[int]
	maxAttemptsDuration optional[time.Duration]
	initialInterval     optional[time.Duration]
	backoffMultiplier   optional[float64]
	maxInterval         optional[time.Duration]
}

var retryNames = []string{
	"maxAttempts", "maxRetries", "maxAttemptsDuration", "initialInterval", "backoffMultiplier", "maxInterval",
}

func (r *retryFields) read(v value, nulls bool) error {
	r.given, r.null = true, v.isNull()
	if r.null {
		return nil
	}
	err := v.object("retryPolicy", retryNames, func(name string, v value) (err error) {
		if v.isNull() && !nulls {
			return nil
		}
		field := "retryPolicy." + name
		switch name {
		case "maxAttempts":
			r.maxAttempts, err = maybe(field, v, func(field string, v value) (int, error) {
				return v.integer(field, 1, timer.MaxMaxAttempts, "1 to 1000")
			})
		case "maxRetries":
			r.maxRetries, err = maybe(field, v, func(field string, v value) (int, error) {
				n, err := v.integer(field, 0, timer.MaxMaxAttempts-1, "0 to 999")
				return n + 1, err
			})
		case "maxAttemptsDuration":
			r.maxAttemptsDuration, err = maybe(field, v, readDuration)
		case "initialInterval":
			r.initialInterval, err = maybe(field, v, readDuration)
		case "backoffMultiplier":
			r.backoffMultiplier, err = maybe(field, v, func(field string, v value) (float64, error) {
				return v.number(field, "1 to 100")
			})
		case "maxInterval":
			r.maxInterval, err = maybe(field, v, readDuration)
		}
		return err
	})
	if err == nil && r.maxAttempts.given && r.maxRetries.given && r.maxAttempts != r.maxRetries {
		err = timer.Invalid("retryPolicy.maxRetries", r.retries(), "maxAttempts − 1, or only one of the two")
	}
	return err
}

// retries returns maxRetries as given, for an error message.
func (r *retryFields) retries() any {
	if r.maxRetries.null {
		return "null"
	}
	return r.maxRetries.v - 1
}

func (r *retryFields) patch(def *timer.RetryPolicy) *timer.RetryPatch {
	switch {
	case !r.given:
		return nil
	case r.null:
		d := *def
		return &timer.RetryPatch{
			MaxAttempts: &d.MaxAttempts, MaxAttemptsDuration: &d.MaxAttemptsDuration,
			InitialInterval: &d.InitialInterval, BackoffMultiplier: &d.BackoffMultiplier, MaxInterval: &d.MaxInterval,
		}
	}
	attempts := r.maxAttempts
	if !attempts.given {
		attempts = r.maxRetries
	}
	return &timer.RetryPatch{
		MaxAttempts:         attempts.to(def.MaxAttempts),
		MaxAttemptsDuration: r.maxAttemptsDuration.to(def.MaxAttemptsDuration),
		InitialInterval:     r.initialInterval.to(def.InitialInterval),
		BackoffMultiplier:   r.backoffMultiplier.to(def.BackoffMultiplier),
		MaxInterval:         r.maxInterval.to(def.MaxInterval),
	}
}
