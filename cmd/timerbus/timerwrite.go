package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// timerFlags are the fields of a timer, or of the template of a schedule.
type timerFlags struct {
	at, in, expireAt string // of a timer only
	local            localFlags

	callback, payload, deliver, correlationID string
	timeout                                   time.Duration
	retry                                     retryFlags
	headers                                   []string
	topic, key                                string
	request                                   requestFlags
	window, expireAfter                       time.Duration
	flowKey, onDone, onDead                   string
}

// add adds the flags of a timer.
func (f *timerFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.at, "at", "", "when to fire, such as 2030-01-31T09:00:00Z")
	c.Flags().StringVar(&f.in, "in", "", "when to fire, from now, such as 15m")
	f.local.add(c)
	c.Flags().StringVar(&f.expireAt, "expire-at", "", "like --expire-after, but a time, such as 2030-01-31T10:00:00Z")
	f.addTemplate(c, "fire at a time within this window that begins at --at, --at-local or --in, always the same for an id (at most 7d)")
}

// addTemplate adds the flags that do not depend on a time.
func (f *timerFlags) addTemplate(c *cobra.Command, windowUsage string) {
	c.Flags().StringVar(&f.callback, "callback-url", "", "URL to call")
	c.Flags().StringVar(&f.payload, "payload", "", "JSON to deliver; @file reads a file, - reads the input")
	c.Flags().StringVar(&f.deliver, "deliver", "", "callback, event or both (default: callback if there is a URL, else event)")
	c.Flags().StringVar(&f.correlationID, "correlation-id", "", "correlation id in callbacks, events and history")
	durationFlag(c, &f.timeout, "callback-timeout", 0, "time limit of one attempt, 1s to 5m (default: the namespace's)")
	c.Flags().StringArrayVar(&f.headers, "header", nil, headerUsage)
	c.Flags().StringVar(&f.topic, "topic", "", "topic of the event, one that the namespace allows (default: the common topic)")
	c.Flags().StringVar(&f.key, "key", "", "key of the event on that topic (default: namespace/id)")
	f.request.add(c)
	durationFlag(c, &f.window, "window", 0, windowUsage)
	durationFlag(c, &f.expireAfter, "expire-after", 0, "deliver until this long after the planned time, or not at all, such as 1h")
	c.Flags().StringVar(&f.flowKey, "flow-key", "", "flow whose limits apply; a pattern of the namespace's flows must match it")
	c.Flags().StringVar(&f.onDone, "on-done", "", "URL to call when the timer is done (default: the namespace's)")
	c.Flags().StringVar(&f.onDead, "on-dead", "", "URL to call when the timer is dead or has expired (default: the namespace's)")
	f.retry.add(c)
	completeWith(c, "deliver", "callback", "event", "both")
}

// apply sets the fields whose flags of addTemplate are given.
func (f *timerFlags) apply(c *cobra.Command, stdin io.Reader, t *client.CreateTimerRequest) (err error) {
	for flag, set := range map[string]func(){
		"callback-url":     func() { t.CallbackURL = f.callback },
		"deliver":          func() { t.Deliver = client.Deliver(f.deliver) },
		"correlation-id":   func() { t.CorrelationID = f.correlationID },
		"callback-timeout": func() { t.CallbackTimeout = f.timeout.String() },
		"topic":            func() { t.Topic = f.topic },
		"key":              func() { t.Key = f.key },
		"window":           func() { t.Window = f.window.String() },
		"expire-after":     func() { t.ExpireAfter = f.expireAfter.String() },
		"flow-key":         func() { t.FlowKey = f.flowKey },
		"on-done":          func() { t.OnDone = f.onDone },
		"on-dead":          func() { t.OnDead = f.onDead },
	} {
		if c.Flags().Changed(flag) {
			set()
		}
	}
	f.retry.apply(c, &t.RetryPolicy)
	if c.Flags().Changed("payload") {
		if t.Payload, err = payloadJSON(f.payload, stdin); err != nil {
			return err
		}
	}
	if f.request.given(c) {
		if t.Request, err = f.request.request(c, stdin); err != nil {
			return err
		}
	}
	if c.Flags().Changed("header") {
		t.Headers, err = headerMap(f.headers)
	}
	return err
}

// instant parses the time of a flag; the zero Instant if it is empty.
func instant(flag, text string) (client.Instant, error) {
	if text == "" {
		return client.Instant{}, nil
	}
	at, err := timer.ParseMillis(text)
	if err != nil {
		return client.Instant{}, usagef("%s: %w", flag, err)
	}
	return client.At(at.Time()), nil
}

// payloadJSON reads the value of --payload: the JSON, @FILE for a file, or - for the input.
func payloadJSON(given string, stdin io.Reader) (json.RawMessage, error) {
	if given == "" {
		return nil, nil
	}
	raw, err := readValue(given, stdin)
	if err != nil {
		return nil, usagef("--payload: %w", err)
	}
	if !json.Valid(raw) {
		return nil, usagef(`--payload: %q is not accepted: want JSON, such as '{"order":17}' or '"text"'`, short(string(raw), 80))
	}
	return raw, nil
}

func (t *timerCommands) create() *cobra.Command {
	var f timerFlags
	var onConflict string
	c := &cobra.Command{
		Use:   "create ID (--in DURATION | --at TIME | --at-local TIME --time-zone ZONE)",
		Short: "Create a timer, or replace the one with its id",
		Example: `  timerbus timer create order-17 --in 15m --callback-url https://shop.example/expire --payload '{"order":17}'
  timerbus timer create reminder-17 --at-local 2030-01-31T09:00:00 --time-zone Europe/Berlin --callback-url https://shop.example/remind`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cmp.Or(one(c, "at", "in", "at-local"), f.local.check(c)); err != nil {
				return err
			}
			service, err := t.client()
			if err != nil {
				return err
			}
			request := client.CreateTimerRequest{
				Namespace: t.namespace, ID: t.id, ExecuteIn: f.in, OnConflict: client.OnConflict(onConflict),
				ExecuteAtLocal: f.local.at, TimeZone: f.local.zone,
				Gap: api.ScheduleGap(f.local.gap), Repeated: api.TimerRepeated(f.local.repeated),
			}
			if request.ExecuteAt, err = instant("--at", f.at); err != nil {
				return err
			}
			if request.ExpiresAt, err = instant("--expire-at", f.expireAt); err != nil {
				return err
			}
			if err := f.apply(c, t.stdin, &request); err != nil {
				return err
			}
			written, err := service.CreateTimer(c.Context(), request)
			return t.wrote("created", written, err)
		},
	}
	f.add(c)
	c.Flags().StringVar(&onConflict, "on-conflict", "", "replace, keep or fail (default replace)")
	completeWith(c, "on-conflict", "replace", "keep", "fail")
	return t.identified(c)
}

// clearable are the values of --clear. Each excludes the flag of the same name.
func clearable() []string {
	return []string{
		"callback-timeout", "callback-url", "correlation-id", "deliver", "expire-after", "header", "key", "on-dead", "on-done", "payload",
		"request", "retry", "topic",
	}
}

func (t *timerCommands) update() *cobra.Command {
	var f timerFlags
	var cleared []string
	var ifGeneration string
	c := &cobra.Command{
		Use: "update ID", Short: "Change fields of a timer; the others are kept",
		Example: `  timerbus timer update order-17 --in 1h --clear payload,retry`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cmp.Or(atMostOne(c, "at", "in", "at-local"), f.local.check(c)); err != nil {
				return err
			}
			service, err := t.client()
			if err != nil {
				return err
			}
			request := client.UpdateTimerRequest{
				Namespace: t.namespace, TimerID: t.id, ExecuteIn: f.in, IfGeneration: ifGeneration,
				ExecuteAtLocal: f.local.at, TimeZone: f.local.zone,
				Gap: api.ScheduleGap(f.local.gap), Repeated: api.TimerRepeated(f.local.repeated),
			}
			if request.ExecuteAt, err = instant("--at", f.at); err != nil {
				return err
			}
			if request.Payload, err = payloadJSON(f.payload, t.stdin); err != nil {
				return err
			}
			if err := f.changes(c, t.stdin, &request); err != nil {
				return err
			}
			if err := clearFields(c, cleared, &request); err != nil {
				return err
			}
			written, err := service.UpdateTimer(c.Context(), request)
			return t.wrote("updated", written, err)
		},
	}
	f.add(c)
	c.Flags().StringSliceVar(&cleared, "clear", nil, "reset to the default: "+strings.Join(clearable(), ", "))
	completeWith(c, "clear", clearable()...)
	c.Flags().StringVar(&ifGeneration, "if-generation", "", "only if the timer still has this generation")
	return t.identified(c)
}

func (t *timerCommands) runNow() *cobra.Command {
	var ifGeneration string
	c := &cobra.Command{
		Use: "run-now ID", Short: "Deliver a timer now instead of at its planned time",
		RunE: func(c *cobra.Command, _ []string) error {
			service, err := t.client()
			if err != nil {
				return err
			}
			written, err := service.RunTimerNow(c.Context(), client.RunTimerRequest{
				Namespace: t.namespace, TimerID: t.id, IfGeneration: ifGeneration,
			})
			return t.wrote("started", written, err)
		},
	}
	c.Flags().StringVar(&ifGeneration, "if-generation", "", "only if the timer still has this generation")
	return t.identified(c)
}

// changes copies the given flags to the request.
func (f *timerFlags) changes(c *cobra.Command, stdin io.Reader, request *client.UpdateTimerRequest) error {
	if c.Flags().Changed("callback-url") {
		request.CallbackURL = client.Set(f.callback)
	}
	if c.Flags().Changed("deliver") {
		request.Deliver = client.Set(client.Deliver(f.deliver))
	}
	if c.Flags().Changed("correlation-id") {
		request.CorrelationID = client.Set(f.correlationID)
	}
	if c.Flags().Changed("callback-timeout") {
		request.CallbackTimeout = client.Set(f.timeout.String())
	}
	if c.Flags().Changed("topic") {
		request.Topic = client.Set(f.topic)
	}
	if c.Flags().Changed("key") {
		request.Key = client.Set(f.key)
	}
	if f.request.given(c) {
		r, err := f.request.request(c, stdin)
		if err != nil {
			return err
		}
		request.Request = client.Set(r)
	}
	if c.Flags().Changed("window") {
		request.Window = f.window.String()
	}
	if c.Flags().Changed("expire-after") {
		request.ExpireAfter = client.Set(f.expireAfter.String())
	}
	if c.Flags().Changed("expire-at") {
		at, err := instant("--expire-at", f.expireAt)
		if err != nil {
			return err
		}
		request.ExpiresAt = client.Set(at)
	}
	if c.Flags().Changed("flow-key") {
		request.FlowKey = client.Set(f.flowKey)
	}
	if c.Flags().Changed("on-done") {
		request.OnDone = client.Set(f.onDone)
	}
	if c.Flags().Changed("on-dead") {
		request.OnDead = client.Set(f.onDead)
	}
	if policy, given := f.retry.input(c); given {
		request.RetryPolicy = client.Set(policy)
	}
	if !c.Flags().Changed("header") {
		return nil
	}
	headers, err := headerMap(f.headers)
	request.Headers = client.Set(headers)
	return err
}

func clearFields(c *cobra.Command, fields []string, request *client.UpdateTimerRequest) error {
	for _, field := range fields {
		switch field {
		case "callback-url":
			request.CallbackURL = client.Clear[string]()
		case "callback-timeout":
			request.CallbackTimeout = client.Clear[string]()
		case "correlation-id":
			request.CorrelationID = client.Clear[string]()
		case "deliver":
			request.Deliver = client.Clear[client.Deliver]()
		case "expire-after":
			request.ExpireAfter = client.Clear[string]()
		case "flow-key":
			request.FlowKey = client.Clear[string]()
		case "on-dead":
			request.OnDead = client.Clear[string]()
		case "on-done":
			request.OnDone = client.Clear[string]()
		case "header":
			request.Headers = client.Clear[client.Headers]()
		case "key":
			request.Key = client.Clear[string]()
		case "topic":
			// A key has no meaning without a topic.
			request.Topic, request.Key = client.Clear[string](), client.Clear[string]()
		case "payload":
			request.Payload = json.RawMessage("null")
		case "request":
			if !request.Request.IsZero() {
				return usagef("--clear request and the flags of a request exclude each other")
			}
			request.Request = client.Clear[client.TimerRequest]()
		case "retry":
			if !request.RetryPolicy.IsZero() {
				return usagef("--clear retry and the flags of a retry policy exclude each other")
			}
			request.RetryPolicy = client.Clear[client.RetryPolicyInput]()
		default:
			return usagef("--clear: %q is not accepted: want some of %s", field, strings.Join(clearable(), ", "))
		}
		if c.Flags().Changed(field) {
			return usagef("--clear %s and --%s exclude each other", field, field)
		}
	}
	return nil
}

// wrote prints the result of a create or update.
func (t *timerCommands) wrote(verb string, w client.Written, err error) error {
	if err != nil {
		return err
	}
	if t.json {
		return printJSON(t.stdout, w.Timer)
	}
	_, err = fmt.Fprintf(t.stdout, "%s %s in namespace %s: fires %s\n",
		verb, printable(w.ID), w.Namespace, when(w.ExecuteAt, time.Now()))
	if err == nil && !w.InTime {
		_, err = fmt.Fprintln(t.stdout, "its earlier delivery may have gone out")
	}
	return err
}
