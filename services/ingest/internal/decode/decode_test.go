package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const received timer.Millis = 1_900_000_000_000

func readSpec(body string) (timer.Spec, error) {
	c, err := ReadCreate([]byte(body))
	if err != nil {
		return timer.Spec{}, err
	}
	defaults := store.DefaultSettings()
	return c.Spec(timer.UUIDOf(c.Namespace, c.ID), received, &defaults, zone.Load)
}

// base is the spec of a create with only an id and executeAt 2030-01-31T09:00:00Z.
func base() timer.Spec {
	return timer.Spec{
		ExecuteAt: 1896080400000, CallbackTimeout: 30 * time.Second, Retry: timer.DefaultRetryPolicy(),
	}
}

func TestCreateIsRead(t *testing.T) {
	const at = `"id":"a","executeAt":"2030-01-31T09:00:00Z"`
	for name, c := range map[string]struct {
		body string
		want func(*timer.Spec)
	}{
		"least":            {`{` + at + `}`, func(*timer.Spec) {}},
		"white space":      {" {\n\t" + at + "\r\n} ", func(*timer.Spec) {}},
		"nulls are absent": {`{` + at + `,"namespace":null,"executeIn":null,"deliver":null,"callbackUrl":null,"callbackTimeout":null,"callbackTimeoutSeconds":null,"retryPolicy":null,"payload":null,"correlationId":null,"onConflict":null}`, func(*timer.Spec) {}},
		"executeIn":        {`{"timerId":"a","executeIn":"1h30m"}`, func(s *timer.Spec) { s.ExecuteAt = received + 5_400_000 }},
		"executeIn days":   {`{"timerId":"a","executeIn":"1d12h"}`, func(s *timer.Spec) { s.ExecuteAt = received + 36*3_600_000 }},
		"executeIn fine":   {`{"timerId":"a","executeIn":"2.0009s"}`, func(s *timer.Spec) { s.ExecuteAt = received + 2000 }},
		"executeIn 0":      {`{"timerId":"a","executeIn":"0s"}`, func(s *timer.Spec) { s.ExecuteAt = received }},
		"offset, fraction": {`{"id":"a","executeAt":"2030-01-31T10:00:00.0009+01:00"}`, func(*timer.Spec) {}},
		"escapes":          {`{"\u0069d":"\ud83d\ude00\"\\","executeAt":"2030-01-31T09:00:00Z","callbackUrl":"http:\/\/h"}`, func(s *timer.Spec) { s.CallbackURL = "http://h" }},
		"timeout":          {`{` + at + `,"callbackTimeout":"1m"}`, func(s *timer.Spec) { s.CallbackTimeout = time.Minute }},
		"timeout seconds":  {`{` + at + `,"callbackTimeoutSeconds":2.5}`, func(s *timer.Spec) { s.CallbackTimeout = 2500 * time.Millisecond }},
		"timeouts agree":   {`{` + at + `,"callbackTimeoutSeconds":2,"callbackTimeout":"2s"}`, func(s *timer.Spec) { s.CallbackTimeout = 2 * time.Second }},
		"payload as it is": {`{` + at + `,"payload": {"a" : [1, "}\"", {"b":{}}]} }`, func(s *timer.Spec) { s.Payload = []byte(`{"a" : [1, "}\"", {"b":{}}]}`) }},
		"payload false":    {`{` + at + `,"payload":false}`, func(s *timer.Spec) { s.Payload = []byte(`false`) }},
		"payload repeats keys, which are not ours": {`{` + at + `,"payload":{"a":1,"a":2}}`, func(s *timer.Spec) { s.Payload = []byte(`{"a":1,"a":2}`) }},
		"policy": {`{` + at + `,"retryPolicy":{"maxAttempts":7,"maxAttemptsDuration":"1d","initialInterval":"200ms","backoffMultiplier":1.5,"maxInterval":"1m"}}`, func(s *timer.Spec) {
			s.Retry = timer.RetryPolicy{MaxAttempts: 7, MaxAttemptsDuration: 24 * time.Hour, InitialInterval: 200 * time.Millisecond, BackoffMultiplier: 1.5, MaxInterval: time.Minute}
		}},
		"part of a policy":  {`{` + at + `,"retryPolicy":{"initialInterval":"1s","maxInterval":null}}`, func(s *timer.Spec) { s.Retry.InitialInterval = time.Second }},
		"maxRetries":        {`{` + at + `,"retryPolicy":{"maxRetries":0}}`, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 }},
		"maxRetries agrees": {`{` + at + `,"retryPolicy":{"maxRetries":2,"maxAttempts":3.0}}`, func(s *timer.Spec) { s.Retry.MaxAttempts = 3 }},
		"deliver":           {`{` + at + `,"deliver":"both","callbackUrl":"https://h/p?q"}`, func(s *timer.Spec) { s.Deliver, s.CallbackURL = timer.DeliverBoth, "https://h/p?q" }},
		"headers":           {`{` + at + `,"headers":{"x-team":"a: b","X-Order":"\u0031"}}`, func(s *timer.Spec) { s.Headers = "X-Order: 1\nX-Team: a: b\n" }},
		"no headers":        {`{` + at + `,"headers":{}}`, func(*timer.Spec) {}},
		"null headers":      {`{` + at + `,"headers":null}`, func(*timer.Spec) {}},
		"topic":             {`{` + at + `,"topic":"orders.timeouts"}`, func(s *timer.Spec) { s.Topic = "orders.timeouts" }},
		"topic and key": {
			`{` + at + `,"deliver":"both","callbackUrl":"https://h/","topic":"o","key":"K 7/ä"}`, func(s *timer.Spec) {
				s.Deliver, s.CallbackURL, s.Topic, s.EventKey = timer.DeliverBoth, "https://h/", "o", "K 7/ä"
			},
		},
		"null topic":         {`{` + at + `,"topic":null,"key":null}`, func(*timer.Spec) {}},
		"correlation id":     {`{` + at + `,"correlationId":"ü"}`, func(s *timer.Spec) { s.CorrelationID = "ü" }},
		"both ids, the same": {`{` + at + `,"timerId":"a"}`, func(*timer.Spec) {}},
		"local time": {
			`{"id":"a","executeAtLocal":"2030-01-31T10:00","timeZone":"Europe/Berlin"}`,
			func(s *timer.Spec) { s.Local = &timer.LocalTime{At: "2030-01-31T10:00", Zone: "Europe/Berlin"} },
		},
		"local time, defaults": {
			`{"id":"a","timeZone":"Europe/Berlin","gap":"next","repeated":"first","executeAtLocal":"2030-01-31T10:00:00.000"}`,
			func(s *timer.Spec) { s.Local = &timer.LocalTime{At: "2030-01-31T10:00:00.000", Zone: "Europe/Berlin"} },
		},
		"local time, nulls": {
			`{"id":"a","timeZone":"UTC","gap":null,"repeated":null,"executeAtLocal":"2030-01-31T09:00:00","executeAt":null,"executeIn":null}`,
			func(s *timer.Spec) { s.Local = &timer.LocalTime{At: "2030-01-31T09:00:00", Zone: "UTC"} },
		},
		"local time in a gap": {
			`{"id":"a","executeAtLocal":"2030-03-31T02:30:00","timeZone":"Europe/Berlin"}`, func(s *timer.Spec) {
				s.ExecuteAt = 1901149200000
				s.Local = &timer.LocalTime{At: "2030-03-31T02:30:00", Zone: "Europe/Berlin"}
			},
		},
		"repeated local time": {
			`{"id":"a","executeAtLocal":"2030-10-27T02:30:00","timeZone":"Europe/Berlin","gap":"skip","repeated":"second"}`, func(s *timer.Spec) {
				s.ExecuteAt = 1919295000000
				s.Local = &timer.LocalTime{
					At: "2030-10-27T02:30:00", Zone: "Europe/Berlin", Gap: timer.GapSkip, Repeated: timer.RepeatedSecond,
				}
			},
		},
		"local time with a window": {
			`{"id":"a","executeAtLocal":"2030-01-31T10:00","timeZone":"Europe/Berlin","window":"1h"}`, func(s *timer.Spec) {
				s.Window = time.Hour
				s.ExecuteAt = s.ExecuteAt.Add(timer.Spread(timer.UUIDOf("default", "a"), time.Hour))
				s.Local = &timer.LocalTime{At: "2030-01-31T10:00", Zone: "Europe/Berlin"}
			},
		},
		"local time with expiresAt": {
			`{"id":"a","executeAtLocal":"2030-01-31T10:00","timeZone":"Europe/Berlin","expiresAt":"2030-01-31T09:30:00Z"}`, func(s *timer.Spec) {
				s.ExpireAfter = 30 * time.Minute
				s.Local = &timer.LocalTime{At: "2030-01-31T10:00", Zone: "Europe/Berlin"}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readSpec(c.body)
			if err != nil {
				t.Fatal(err)
			}
			want := base()
			c.want(&want)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s\n got %+v\nwant %+v", c.body, got, want)
			}
		})
	}
}

func TestCreateIsRefused(t *testing.T) {
	const at = `"id":"a","executeAt":"2030-01-31T09:00:00Z"`
	for name, c := range map[string]struct{ body, want string }{
		"empty":              {``, `body: "" is not accepted: want one JSON object (unexpected end of JSON input, byte 0)`},
		"cut off":            {`{"id":`, `body: "{\"id\":" is not accepted: want one JSON object (unexpected end of JSON input, byte 6)`},
		"trailing":           {`{` + at + `}x`, `body: "{\"id\":\"a\",\"executeAt\":\"2030-01-31T09:00:00Z\"}x" is not accepted: want one JSON object (invalid character 'x' after top-level value, byte 46)`},
		"two documents":      {`{}{}`, `body: "{}{}" is not accepted: want one JSON object (invalid character '{' after top-level value, byte 3)`},
		"array":              {`[]`, `body: [] is not accepted: want one JSON object`},
		"null":               {`null`, `body: null is not accepted: want one JSON object`},
		"no UTF-8":           {"{\"id\":\"a\xff\"}", `body: "\xff\"}" is not accepted: want UTF-8, invalid at byte 8`},
		"unknown field":      {`{` + at + `,"colour":"red"}`, `colour: "red" is not accepted: want only the fields namespace, id, timerId, executeAt, executeIn, deliver, callbackUrl, callbackTimeout, callbackTimeoutSeconds, retryPolicy, payload, correlationId, headers, topic, key, request, window, expireAfter, expiresAt, flowKey, onDone, onDead, executeAtLocal, timeZone, gap, repeated, onConflict`},
		"other case":         {`{"ID":"a"}`, `ID: "a" is not accepted: want only the fields namespace, id, timerId, executeAt, executeIn, deliver, callbackUrl, callbackTimeout, callbackTimeoutSeconds, retryPolicy, payload, correlationId, headers, topic, key, request, window, expireAfter, expiresAt, flowKey, onDone, onDead, executeAtLocal, timeZone, gap, repeated, onConflict`},
		"twice":              {`{` + at + `,"\u0069d":"b"}`, `id: "b" is not accepted: want a field at most once`},
		"no id":              {`{"executeIn":"3s"}`, `id: nothing is not accepted: want id or timerId: 1 to 255 bytes of UTF-8 without control characters`},
		"id number":          {`{"id":7,"executeIn":"3s"}`, `id: 7 is not accepted: want 1 to 255 bytes of UTF-8 without control characters`},
		"id empty":           {`{"id":"","executeIn":"3s"}`, `id: "" is not accepted: want 1 to 255 bytes of UTF-8 without control characters`},
		"id control":         {`{"id":"a\u0007","executeIn":"3s"}`, `id: "a\u0007" is not accepted: want 1 to 255 bytes of UTF-8 without control characters`},
		"id half character":  {`{"id":"\ud800","executeIn":"3s"}`, `id: "\ud800" is not accepted: want 1 to 255 bytes of UTF-8 without control characters`},
		"id other half":      {`{"id":"\udc00x","executeIn":"3s"}`, `id: "\udc00x" is not accepted: want 1 to 255 bytes of UTF-8 without control characters`},
		"id half, then text": {`{"id":"\\\ud800\n","executeIn":"3s"}`, `id: "\\\ud800\n" is not accepted: want 1 to 255 bytes of UTF-8 without control characters`},
		"id long":            {`{"id":"` + strings.Repeat("x", 256) + `","executeIn":"3s"}`, `id: "` + strings.Repeat("x", 79) + `… is not accepted: want 1 to 255 bytes of UTF-8 without control characters`},
		"ids differ":         {`{"id":"a","timerId":"b","executeIn":"3s"}`, `timerId: "b" is not accepted: want the same as id, or only one of the two`},
		"namespace":          {`{"namespace":"a b",` + at + `}`, `namespace: "a b" is not accepted: want 1 to 255 letters, digits, dots, underscores or hyphens`},
		"namespace bool":     {`{"namespace":true,` + at + `}`, `namespace: true is not accepted: want 1 to 255 letters, digits, dots, underscores or hyphens`},
		"no time":            {`{"id":"a"}`, `executeAt: nothing is not accepted: want an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999, or executeIn, a duration such as "3s", or executeAtLocal and timeZone`},
		"bad time":           {`{"id":"a","executeAt":"tomorrow"}`, `executeAt: "tomorrow" is not accepted: want an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999`},
		"time number":        {`{"id":"a","executeAt":1896080400}`, `executeAt: 1896080400 is not accepted: want an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999`},
		"two times":          {`{` + at + `,"executeIn":"3s"}`, `executeIn: 3s is not accepted: want only one of executeAt and executeIn`},
		"local and instant":  {`{` + at + `,"executeAtLocal":"2030-01-31T09:00:00","timeZone":"UTC"}`, `executeAtLocal: "2030-01-31T09:00:00" is not accepted: want only one of executeAt, executeIn and executeAtLocal`},
		"local and duration": {`{"id":"a","executeIn":"1s","executeAtLocal":"2030-01-31T09:00:00","timeZone":"UTC"}`, `executeAtLocal: "2030-01-31T09:00:00" is not accepted: want only one of executeAt, executeIn and executeAtLocal`},
		"local without zone": {`{"id":"a","executeAtLocal":"2030-01-31T09:00:00"}`, `timeZone: nothing is not accepted: want a name of the IANA time zone database, such as "Europe/Berlin", because executeAtLocal is given`},
		"zone without local": {`{` + at + `,"timeZone":"UTC"}`, `timeZone: "UTC" is not accepted: want executeAtLocal with it`},
		"gap without local":  {`{` + at + `,"gap":"next"}`, `gap: "next" is not accepted: want executeAtLocal and timeZone with it`},
		"repeated alone":     {`{` + at + `,"repeated":"second"}`, `repeated: "second" is not accepted: want executeAtLocal and timeZone with it`},
		"local with offset":  {`{"id":"a","executeAtLocal":"2030-01-31T09:00:00Z","timeZone":"UTC"}`, `executeAtLocal: "2030-01-31T09:00:00Z" is not accepted: want a local time without an offset, such as 2030-01-31T09:00:00, with at most milliseconds, in the years 1 to 9999`},
		"local number":       {`{"id":"a","executeAtLocal":7,"timeZone":"UTC"}`, `executeAtLocal: 7 is not accepted: want a local time without an offset, such as 2030-01-31T09:00:00, with at most milliseconds, in the years 1 to 9999`},
		"zone unknown":       {`{"id":"a","executeAtLocal":"2030-01-31T09:00:00","timeZone":"Europe/Atlantis"}`, `timeZone: "Europe/Atlantis" is not accepted: want a name of the IANA database, such as "Europe/Berlin"`},
		"zone empty":         {`{"id":"a","executeAtLocal":"2030-01-31T09:00:00","timeZone":""}`, `timeZone: "" is not accepted: want a name of the IANA time zone database, such as "Europe/Berlin"`},
		"both instants":      {`{"id":"a","executeAtLocal":"2030-01-31T09:00:00","timeZone":"UTC","repeated":"both"}`, `repeated: "both" is not accepted: want "first" or "second"`},
		"gap":                {`{"id":"a","executeAtLocal":"2030-01-31T09:00:00","timeZone":"UTC","gap":"previous"}`, `gap: "previous" is not accepted: want "next" or "skip"`},
		"skipped local time": {`{"id":"a","executeAtLocal":"2030-03-31T02:30:00","timeZone":"Europe/Berlin","gap":"skip"}`, `executeAtLocal: "2030-03-31T02:30:00" is not accepted: want a local time that exists, or gap "next": in Europe/Berlin, the clocks go from 2030-03-31T02:00:00 to 2030-03-31T03:00:00`},
		"executeIn negative": {`{"id":"a","executeIn":"-3s"}`, `executeIn: "-3s" is not accepted: want a duration such as "200ms", "30s", "1h" or "1d12h", not negative`},
		"executeIn number":   {`{"id":"a","executeIn":3}`, `executeIn: 3 is not accepted: want a duration such as "200ms", "30s", "1h" or "1d12h", not negative`},
		"executeIn overflow": {`{"id":"a","executeIn":"99999999h"}`, `executeIn: "99999999h" is not accepted: want a duration such as "200ms", "30s", "1h" or "1d12h", not negative`},
		"scheme":             {`{` + at + `,"callbackUrl":"ftp://h"}`, `callbackUrl: "ftp://h" is not accepted: want an absolute http or https URL with a host, at most 2048 bytes`},
		"url empty":          {`{` + at + `,"callbackUrl":""}`, `callbackUrl: "" is not accepted: want an absolute http or https URL with a host, at most 2048 bytes`},
		"url long":           {`{` + at + `,"callbackUrl":"http://h/` + strings.Repeat("x", 2048) + `"}`, `callbackUrl: "http://h/` + strings.Repeat("x", 71) + `…" is not accepted: want an absolute http or https URL with a host, at most 2048 bytes`},
		"deliver":            {`{` + at + `,"deliver":"pigeon"}`, `deliver: "pigeon" is not accepted: want "callback", "event" or "both"`},
		"deliver empty":      {`{` + at + `,"deliver":""}`, `deliver: "" is not accepted: want "callback", "event" or "both"`},
		"callback, no url":   {`{` + at + `,"deliver":"callback"}`, `callbackUrl: "" is not accepted: want an http or https URL, because deliver is "callback"`},
		"timeout":            {`{` + at + `,"callbackTimeout":"6m"}`, `callbackTimeout: 6m0s is not accepted: want 1 s to 5 min`},
		"timeout seconds":    {`{` + at + `,"callbackTimeoutSeconds":1e9}`, `callbackTimeoutSeconds: 1e9 is not accepted: want a number of seconds, 1 to 300`},
		"timeout text":       {`{` + at + `,"callbackTimeoutSeconds":"30"}`, `callbackTimeoutSeconds: "30" is not accepted: want a number of seconds, 1 to 300`},
		"timeouts differ":    {`{` + at + `,"callbackTimeoutSeconds":2,"callbackTimeout":"3s"}`, `callbackTimeoutSeconds: 2s is not accepted: want the same as callbackTimeout, or only one of the two`},
		"policy type":        {`{` + at + `,"retryPolicy":[]}`, `retryPolicy: [] is not accepted: want an object`},
		"policy field":       {`{` + at + `,"retryPolicy":{"tries":1}}`, `retryPolicy.tries: 1 is not accepted: want only the fields maxAttempts, maxRetries, maxAttemptsDuration, initialInterval, backoffMultiplier, maxInterval`},
		"attempts 0":         {`{` + at + `,"retryPolicy":{"maxAttempts":0}}`, `retryPolicy.maxAttempts: 0 is not accepted: want 1 to 1000`},
		"attempts 1.5":       {`{` + at + `,"retryPolicy":{"maxAttempts":1.5}}`, `retryPolicy.maxAttempts: 1.5 is not accepted: want 1 to 1000`},
		"attempts huge":      {`{` + at + `,"retryPolicy":{"maxAttempts":1e400}}`, `retryPolicy.maxAttempts: 1e400 is not accepted: want 1 to 1000`},
		"retries":            {`{` + at + `,"retryPolicy":{"maxRetries":1000}}`, `retryPolicy.maxRetries: 1000 is not accepted: want 0 to 999`},
		"retries differ":     {`{` + at + `,"retryPolicy":{"maxRetries":3,"maxAttempts":3}}`, `retryPolicy.maxRetries: 3 is not accepted: want maxAttempts − 1, or only one of the two`},
		"below a ms":         {`{` + at + `,"retryPolicy":{"maxAttemptsDuration":"10us"}}`, `retryPolicy.maxAttemptsDuration: "10us" is not accepted: want at least "1ms"`},
		"multiplier":         {`{` + at + `,"retryPolicy":{"backoffMultiplier":0.5}}`, `retryPolicy.backoffMultiplier: 0.5 is not accepted: want 1 to 100`},
		"interval":           {`{` + at + `,"retryPolicy":{"initialInterval":"3h"}}`, `retryPolicy.maxInterval: 2h0m0s is not accepted: want initialInterval (3h0m0s) to 168h`},
		"onConflict":         {`{` + at + `,"onConflict":"merge"}`, `onConflict: "merge" is not accepted: want "replace", "keep" or "fail"`},
		"correlation":        {`{` + at + `,"correlationId":"a\tb"}`, `correlationId: "a\tb" is not accepted: want 1 to 255 bytes of UTF-8 without control characters`},
		"payload":            {`{` + at + `,"payload":"` + strings.Repeat("x", timer.MaxPayload-1) + `"}`, `payload: 102401 bytes are not accepted: want at most 102400`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readSpec(c.body)
			if err == nil || err.Error() != c.want {
				t.Fatalf("%s\n got %v\nwant %s", c.body, err, c.want)
			}
		})
	}
}

// TestUpdateTellsNullFromAbsent applies updates to a timer in which all fields differ from the defaults.
func TestUpdateTellsNullFromAbsent(t *testing.T) {
	old := timer.Spec{
		ExecuteAt: 5, Deliver: timer.DeliverBoth, CallbackURL: "http://old", CallbackTimeout: 7 * time.Second,
		Retry:   timer.RetryPolicy{MaxAttempts: 9, MaxAttemptsDuration: time.Hour, InitialInterval: time.Minute, BackoffMultiplier: 3, MaxInterval: 2 * time.Hour},
		Payload: []byte("1"), CorrelationID: "c", Topic: "o", EventKey: "k",
	}
	settings := store.DefaultSettings()
	settings.CallbackTimeout = 11 * time.Second
	settings.Retry.MaxAttempts = 2
	for name, c := range map[string]struct {
		fields string
		want   func(*timer.Spec)
	}{
		"nothing":          {``, func(*timer.Spec) {}},
		"later":            {`,"executeIn":"1s"`, func(s *timer.Spec) { s.ExecuteAt = received + 1000 }},
		"deliver and url":  {`,"deliver":null,"callbackUrl":null`, func(s *timer.Spec) { s.Deliver, s.CallbackURL = "", "" }},
		"timeout cleared":  {`,"callbackTimeout":null`, func(s *timer.Spec) { s.CallbackTimeout = 11 * time.Second }},
		"seconds cleared":  {`,"callbackTimeoutSeconds":null`, func(s *timer.Spec) { s.CallbackTimeout = 11 * time.Second }},
		"policy cleared":   {`,"retryPolicy":null`, func(s *timer.Spec) { s.Retry = settings.Retry }},
		"policy empty":     {`,"retryPolicy":{}`, func(*timer.Spec) {}},
		"attempts cleared": {`,"retryPolicy":{"maxRetries":null}`, func(s *timer.Spec) { s.Retry.MaxAttempts = 2 }},
		"end cleared":      {`,"retryPolicy":{"maxAttemptsDuration":null,"maxInterval":"3h"}`, func(s *timer.Spec) { s.Retry.MaxAttemptsDuration, s.Retry.MaxInterval = 0, 3*time.Hour }},
		"payload cleared":  {`,"payload":null`, func(s *timer.Spec) { s.Payload = nil }},
		"payload":          {`,"payload":[2]`, func(s *timer.Spec) { s.Payload = []byte("[2]") }},
		"topic":            {`,"topic":"o.a"`, func(s *timer.Spec) { s.Topic = "o.a" }},
		"key":              {`,"key":"k2"`, func(s *timer.Spec) { s.EventKey = "k2" }},
		"key cleared":      {`,"key":null`, func(s *timer.Spec) { s.EventKey = "" }},
		"local time": {
			`,"executeAtLocal":"2030-03-31T03:00:00","timeZone":"Europe/Berlin","gap":"skip","repeated":null`, func(s *timer.Spec) {
				s.ExecuteAt, s.Window = 1901149200000, 0
				s.Local = &timer.LocalTime{At: "2030-03-31T03:00:00", Zone: "Europe/Berlin", Gap: timer.GapSkip}
			},
		},
		"topic cleared":      {`,"topic":null,"key":null`, func(s *timer.Spec) { s.Topic, s.EventKey = "", "" }},
		"correlation absent": {`,"correlationId":null`, func(s *timer.Spec) { s.CorrelationID = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := ReadUpdate([]byte(`{"id":"a"` + c.fields + `}`))
			if err != nil {
				t.Fatal(err)
			}
			p, err := u.Patch(timer.UUIDOf(u.Namespace, u.ID), received, &settings, zone.Load)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Apply(old)
			if err != nil {
				t.Fatal(err)
			}
			want := old
			c.want(&want)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestUpdateIsRefused(t *testing.T) {
	settings := store.DefaultSettings()
	for body, want := range map[string]string{
		`{"id":"a","executeAt":null}`:                                  `executeAt: null is not accepted: want an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999`,
		`{"id":"a","onConflict":"keep"}`:                               `onConflict: "keep" is not accepted: want only the fields namespace, id, timerId, executeAt, executeIn, deliver, callbackUrl, callbackTimeout, callbackTimeoutSeconds, retryPolicy, payload, correlationId, headers, topic, key, request, window, expireAfter, expiresAt, flowKey, onDone, onDead, executeAtLocal, timeZone, gap, repeated, ifGeneration`,
		`{"id":"a","executeAtLocal":null,"timeZone":"UTC"}`:            `executeAtLocal: null is not accepted: want a local time without an offset, such as 2030-01-31T09:00:00, with at most milliseconds, in the years 1 to 9999`,
		`{"id":"a","gap":null}`:                                        `gap: null is not accepted: want executeAtLocal and timeZone with it`,
		`{"id":"a","timeZone":"UTC"}`:                                  `timeZone: "UTC" is not accepted: want executeAtLocal with it`,
		`{"id":"a","window":"1s"}`:                                     `window: 1s is not accepted: want executeAt, executeIn or executeAtLocal with it`,
		`{"id":"a","ifGeneration":7}`:                                  `ifGeneration: 7 is not accepted: want a generation as an answer gave it: a positive decimal string`,
		`{"id":"a","ifGeneration":"0"}`:                                `ifGeneration: "0" is not accepted: want a generation as an answer gave it: a positive decimal string`,
		`{"id":"a","callbackUrl":"/x"}`:                                `callbackUrl: "/x" is not accepted: want an absolute http or https URL with a host, at most 2048 bytes`,
		`{"id":"a","callbackTimeout":null,"callbackTimeoutSeconds":1}`: `callbackTimeoutSeconds: 1s is not accepted: want the same as callbackTimeout, or only one of the two`,
	} {
		u, err := ReadUpdate([]byte(body))
		if err == nil {
			_, err = u.Patch(timer.UUIDOf(u.Namespace, u.ID), received, &settings, zone.Load)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", body, err, want)
		}
	}
}

func TestOtherBodies(t *testing.T) {
	refusal := func(_ any, err error) error { return err }
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"delete field":      {refusal(ReadDelete([]byte(`{"id":"a","payload":1}`))), `payload: 1 is not accepted: want only the fields namespace, id, timerId, ifGeneration`},
		"get nothing":       {refusal(ReadSelection([]byte(`{}`))), `id: nothing is not accepted: want id or timerId: 1 to 255 bytes of UTF-8 without control characters`},
		"history limit":     {refusal(ReadHistory([]byte(`{"id":"a","limit":0}`))), `limit: 0 is not accepted: want 1 to 1000`},
		"list limit":        {refusal(ReadList([]byte(`{"limit":1001}`))), `limit: 1001 is not accepted: want 1 to 1000`},
		"list status":       {refusal(ReadList([]byte(`{"status":"late"}`))), `status: "late" is not accepted: want one of scheduled, retrying, parked, paused, done, dead`},
		"list cursor":       {refusal(ReadList([]byte(`{"cursor":"!"}`))), `cursor: "!" is not accepted: want the nextCursor of an earlier page`},
		"list due":          {refusal(ReadList([]byte(`{"dueFrom":"now"}`))), `dueFrom: "now" is not accepted: want an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999`},
		"namespace none":    {refusal(ReadNamespaceCreate([]byte(`{}`))), `name: nothing is not accepted: want 1 to 255 letters, digits, dots, underscores or hyphens`},
		"namespace shards":  {refusal(ReadNamespaceCreate([]byte(`{"name":"a","numShards":0}`))), `numShards: 0 is not accepted: want 1 to 8192`},
		"namespace both":    {refusal(ReadNamespaceCreate([]byte(`{"name":"a","numShards":16,"preset":"small"}`))), `preset: "small" is not accepted: want only one of numShards and preset`},
		"namespace preset":  {refusal(ReadNamespaceCreate([]byte(`{"name":"a","preset":"tiny"}`))), `preset: "tiny" is not accepted: want "small", "medium", "large" or "xlarge"`},
		"namespace setting": {refusal(settingsOf(`{"name":"a","settings":{"historyRetention":"1s"}}`)), `historyRetention: 1s is not accepted: want "1m" to "8760h"`},
		"dead retention":    {refusal(settingsOf(`{"name":"a","settings":{"deadRetention":"8761h"}}`)), `deadRetention: 8761h0m0s is not accepted: want "1m" to "8760h"`},
		"keep payload":      {refusal(settingsOf(`{"name":"a","settings":{"keepPayload":"23h"}}`)), `keepPayload: 23h0m0s is not accepted: want "24h", the historyRetention, to "720h", or null`},
		"keep payload long": {refusal(settingsOf(`{"name":"a","settings":{"keepPayload":"721h"}}`)), `keepPayload: 721h0m0s is not accepted: want "24h", the historyRetention, to "720h", or null`},
		"host concurrency":  {refusal(settingsOf(`{"name":"a","settings":{"hostConcurrency":1025}}`)), `hostConcurrency: 1025 is not accepted: want 1 to 1024`},
		"results":           {refusal(settingsOf(`{"name":"a","settings":{"results":"none"}}`)), `results: "none" is not accepted: want "all", "failures" or "off"`},
		"results type":      {refusal(settingsOf(`{"name":"a","settings":{"results":false}}`)), `results: false is not accepted: want "all", "failures" or "off"`},
		"quota":             {refusal(settingsOf(`{"name":"a","settings":{"quota":{"maxPending":0}}}`)), `quota.maxPending: 0 is not accepted: want 1 to 1000000000, or null`},
		"quota of payloads": {refusal(settingsOf(`{"name":"a","settings":{"quota":{"maxPayloadBytes":102401}}}`)), `quota.maxPayloadBytes: 102401 is not accepted: want 1 to 102400, or null`},
		"quota of creates":  {refusal(settingsOf(`{"name":"a","settings":{"quota":{"createsPerSecond":1.5}}}`)), `quota.createsPerSecond: 1.5 is not accepted: want 1 to 1000000, or null`},
		"unknown quota":     {refusal(settingsOf(`{"name":"a","settings":{"quota":{"timers":1}}}`)), `quota.timers: 1 is not accepted: want only the fields maxPending, createsPerSecond, maxPayloadBytes`},
		"update shards":     {refusal(ReadNamespaceUpdate([]byte(`{"name":"a","numShards":16}`))), `numShards: 16 is not accepted: want only name and settings: the number of shards cannot be changed`},
		"update nothing":    {refusal(ReadNamespaceUpdate([]byte(`{"name":"a"}`))), `settings: nothing is not accepted: want an object with the settings to change`},
		"list order":        {refusal(ReadList([]byte(`{"order":"dueAt"}`))), `order: "dueAt" is not accepted: want "key" or "due"`},
		"due order status":  {refusal(ReadList([]byte(`{"order":"due","status":"parked"}`))), `status: "parked" is not accepted: want "scheduled", "retrying" or no status with order "due"`},
		"due order filter":  {refusal(ReadList([]byte(`{"order":"due","correlationId":"c"}`))), `correlationId: "c" is not accepted: want no correlationId with order "due"`},
		"count":             {refusal(ReadCount([]byte(`{"limit":1}`))), `limit: 1 is not accepted: want only the fields namespace, status, dueFrom, dueBefore`},
		"order of a delete": {refusal(ReadDeleteMatching([]byte(`{"namespace":"n","status":"parked","order":"due"}`))), `order: "due" is not accepted: want only the fields namespace, status, correlationId, dueFrom, dueBefore, limit, cursor`},
		"list namespaces":   {refusal(ReadNamespaceList([]byte(`{"a":1}`))), `a: 1 is not accepted: want only the fields limit, cursor`},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", name, c.err, c.want)
		}
	}
	l, err := ReadList([]byte(`{"namespace":"n","status":"dead","correlationId":"c","dueFrom":"1970-01-01T00:00:01Z","dueBefore":"1970-01-01T00:00:02Z","limit":3,"cursor":"` + WriteCursor(store.Cursor{1, 2}) + `"}`))
	want := List{Namespace: "n", Query: store.ListQuery{
		Status: timer.StatusDead, CorrelationID: "c", DueFrom: 1000, DueBefore: 2000, After: store.Cursor{1, 2}, Limit: 3,
	}}
	if err != nil || !reflect.DeepEqual(l, want) {
		t.Errorf("list: %+v, %v", l, err)
	}
	n, err := ReadNamespaceCreate([]byte(`{"name":"a","preset":"medium","settings":{"callbackTimeoutSeconds":5,"retryPolicy":{"maxAttempts":1}}}`))
	if err != nil || n.NumShards != 256 {
		t.Errorf("namespace: %+v, %v", n, err)
	}
	s, err := n.Apply(store.DefaultSettings(), &Encryption{Namespace: "a", Now: received})
	if err != nil || s.CallbackTimeout != 5*time.Second || s.Retry.MaxAttempts != 1 || s.HistoryRetention != store.DefaultHistoryRetention {
		t.Errorf("settings: %+v, %v", s, err)
	}
}

// settingsOf returns the settings in a namespaces/create, for a service without a secret key.
func settingsOf(body string) (store.Settings, error) {
	c, err := ReadNamespaceCreate([]byte(body))
	if err != nil {
		return store.Settings{}, err
	}
	return c.Apply(store.DefaultSettings(), &Encryption{Namespace: c.Name, Now: received})
}

// FuzzDecodeCreate compares the decoder with encoding/json and with the domain's checks.
func FuzzDecodeCreate(f *testing.F) {
	f.Add([]byte(`{"id":"a","executeAt":"2030-01-31T09:00:00Z","payload":{"a":["}"]}}`))
	f.Add([]byte(`{"timerId":"\ud83d\ude00","executeIn":"3s","retryPolicy":{"maxRetries":2},"callbackUrl":"http://h"}`))
	f.Add([]byte(`{"id":"a","executeAtLocal":"2030-10-27T02:30:00","timeZone":"Europe/Berlin","repeated":"second"}`))
	f.Add([]byte("{\"id\":\"\xff\"}"))
	f.Add([]byte(`{"id":"\\","\u0069d":1}`))
	f.Add([]byte(`{"timerId":"a","id":7,"namespace":"a b","namespace":"n"}`))
	defaults := store.DefaultSettings()
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := ReadCreate(body)
		if err == nil {
			var spec timer.Spec
			if spec, err = c.Spec(timer.UUIDOf(c.Namespace, c.ID), received, &defaults, zone.Load); err == nil {
				holds(t, body, c.Selection, spec.Payload)
				if err := spec.Check(); err != nil {
					t.Fatalf("%q was accepted, but: %v", body, err)
				}
			}
		}
		explained(t, body, err)
		// If the body is valid, TimerOf returns the decoded timer. Otherwise it returns valid names or none.
		namespace, id := TimerOf(body)
		switch {
		case err == nil && (namespace != c.Namespace || id != c.ID):
			t.Fatalf("%q is for %q in %q, and TimerOf returns %q in %q", body, c.ID, c.Namespace, id, namespace)
		case namespace != "" && timer.CheckNamespace(namespace) != nil, id != "" && timer.CheckID(id) != nil:
			t.Fatalf("%q: TimerOf returns %q in %q", body, id, namespace)
		}
	})
}

// FuzzDecodeUpdate does the same for updates and the other bodies.
func FuzzDecodeUpdate(f *testing.F) {
	f.Add([]byte(`{"id":"a","payload":null,"retryPolicy":{"maxAttempts":null},"ifGeneration":"7"}`))
	f.Add([]byte(`{"name":"a","preset":"small","settings":{"retryPolicy":null}}`))
	f.Add([]byte(`{"name":"a","settings":{"headers":{"x-a":"1"},"finalStatuses":[404],"secrets":{"set":"` + aSecret + `"},"tls":{"ca":"x"}}}`))
	f.Add([]byte(`{"id":"a","headers":{"X-A":"1","x-a":"2"}}`))
	f.Add([]byte(`{"id":"a","executeIn":"1s","topic":"orders.timeouts","key":"\u00e4"}`))
	f.Add([]byte(`{"name":"a","settings":{"eventTopics":["orders.*","b","b"]}}`))
	f.Add([]byte(`{"limit":7,"cursor":"AQI","status":"dead"}`))
	defaults := store.DefaultSettings()
	f.Fuzz(func(t *testing.T, body []byte) {
		u, err := ReadUpdate(body)
		if err == nil {
			var p timer.Patch
			if p, err = u.Patch(timer.UUIDOf(u.Namespace, u.ID), received, &defaults, zone.Load); err == nil && p.Payload != nil {
				holds(t, body, u.Selection, *p.Payload)
			}
		}
		explained(t, body, err)
		_, err = ReadDelete(body)
		explained(t, body, err)
		_, err = ReadHistory(body)
		explained(t, body, err)
		l, err := ReadList(body)
		explained(t, body, err)
		if err == nil && (l.Query.Limit < 1 || l.Query.Limit > MaxLimit) {
			t.Fatalf("%q was accepted with limit %d", body, l.Query.Limit)
		}
		n, err := ReadNamespaceCreate(body)
		explained(t, body, err)
		if err == nil {
			if timer.CheckNamespace(n.Name) != nil || n.NumShards < 1 {
				t.Fatalf("%q was accepted as %+v", body, n)
			}
			s, err := n.Apply(store.DefaultSettings(), &Encryption{Namespace: n.Name, Keys: keyring(t), Now: received})
			explained(t, body, err)
			if err == nil && (s.Check() != nil || strings.Contains(s.Secrets.String(), "whsec_") || s.Secrets[0].ExpiresAt != 0) {
				t.Fatalf("%q was accepted as %+v", body, s)
			}
		}
		_, err = ReadNamespaceUpdate(body)
		explained(t, body, err)
		_, err = ReadNamespaceName(body)
		explained(t, body, err)
	})
}

// holds compares the decoded values with those of encoding/json.
func holds(t *testing.T, body []byte, s Selection, payload []byte) {
	t.Helper()
	if timer.CheckID(s.ID) != nil || timer.CheckNamespace(s.Namespace) != nil {
		t.Fatalf("%q was accepted with names %+v", body, s)
	}
	var plain map[string]json.RawMessage
	if err := json.Unmarshal(body, &plain); err != nil {
		t.Fatalf("%q was accepted, but: %v", body, err)
	}
	for _, field := range []string{"id", "timerId"} {
		var id *string
		if text, ok := plain[field]; ok && json.Unmarshal(text, &id) == nil && id != nil && *id != s.ID {
			t.Fatalf("%q: %s read as %q", body, field, s.ID)
		}
	}
	if text := plain["payload"]; payload != nil && string(text) != string(payload) {
		t.Fatalf("%q: payload read as %q", body, payload)
	}
}

// explained checks that an error is one that clients get.
func explained(t *testing.T, body []byte, err error) {
	t.Helper()
	var invalid *timer.InvalidError
	var large *timer.PayloadTooLargeError
	if err != nil && !errors.As(err, &invalid) && !errors.As(err, &large) {
		t.Fatalf("%q was refused with %T: %v", body, err, err)
	}
}

var typical = []byte(`{"namespace":"default","id":"order-184277","executeAt":"2030-01-31T09:00:00Z",` +
	`"callbackUrl":"http://127.0.0.1:9000/hooks/orders","payload":{"order":184277,"customer":"c-5512",` +
	`"items":[{"sku":"A-100","count":2},{"sku":"B-7","count":1}],"note":"leave at the door"}}`)

func BenchmarkCreate(b *testing.B) {
	defaults := store.DefaultSettings()
	b.ReportAllocs()
	b.SetBytes(int64(len(typical)))
	for b.Loop() {
		c, err := ReadCreate(typical)
		if err == nil {
			_, err = c.Spec(timer.UUIDOf(c.Namespace, c.ID), received, &defaults, zone.Load)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGeneratedTypes decodes the same body with encoding/json into the type that is generated from the OpenAPI
// document. It refuses unknown fields, but not repeated ones, other capitalization of names, trailing data and nulls.
func BenchmarkGeneratedTypes(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var c api.CreateTimerRequest
		d := json.NewDecoder(bytes.NewReader(typical))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is BenchmarkCreate without the checks of the spec, as BenchmarkGeneratedTypes.
func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadCreate(typical); err != nil {
			b.Fatal(err)
		}
	}
}
