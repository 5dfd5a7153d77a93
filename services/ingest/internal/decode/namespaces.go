package decode

import (
	"math"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// NamespaceCreate is the body of namespaces/create.
type NamespaceCreate struct {
	Name      string
	NumShards int
	SettingsFields
}

// NamespaceUpdate is the body of namespaces/update.
type NamespaceUpdate struct {
	Name      string
	IfVersion int64 // 0: any
	SettingsFields
}

// SettingsFields are the settings of a namespace in a body.
type SettingsFields struct {
	retry         retryFields
	timeout       timeoutField
	retention     optional[time.Duration]
	deadRetention optional[time.Duration]
	keepPayload   optional[time.Duration]
	headers       optional[timer.Headers]
	statuses      optional[timer.StatusCodes]
	secrets       secretFields
	tls           tlsFields
	auth          authFields
	topics        optional[timer.TopicPatterns]
	concurrency   optional[int]
	flows         optional[timer.FlowLimits]
	onDone        optional[string]
	onDead        optional[string]
	results       optional[store.Results]
	quota         quotaFields
}

// presets are names for numbers of shards.
var presets = map[string]int{"small": 16, "medium": 256, "large": 1024, "xlarge": 4096}

// DefaultNumShards is the number of shards of the preset small.
const DefaultNumShards = 16

var (
	namespaceNames       = []string{"name"}
	namespaceCreateNames = []string{"name", "numShards", "preset", "settings"}
	namespaceUpdateNames = []string{"name", "settings", "ifVersion", "numShards", "preset"} // the last two are refused with a reason
	settingsNames        = []string{
		"retryPolicy", "callbackTimeout", "callbackTimeoutSeconds", "historyRetention", "deadRetention", "keepPayload",
		"headers", "finalStatuses", "secrets", "tls", "callbackAuth", "eventTopics", "hostConcurrency", "quota", "flows",
		"onDone", "onDead", "results",
	}
)

// ReadNamespaceCreate decodes the body of namespaces/create.
func ReadNamespaceCreate(body []byte) (NamespaceCreate, error) {
	var c NamespaceCreate
	var preset string
	err := members(body, namespaceCreateNames, func(name string, v value) (err error) {
		if v.isNull() {
			return nil // counts as absent
		}
		switch name {
		case "name":
			c.Name, err = readNamespace(name, v)
		case "numShards":
			c.NumShards, err = v.integer(name, 1, shard.MaxPerNamespace, "1 to 8192")
		case "preset":
			preset, err = readPreset(v)
		case "settings":
			err = c.SettingsFields.read(v, false)
		}
		return err
	})
	if err != nil {
		return c, redact(err)
	}
	switch {
	case c.Name == "":
		return c, errNoName()
	case c.NumShards != 0 && preset != "":
		return c, timer.Invalid("preset", preset, "only one of numShards and preset")
	case preset != "":
		c.NumShards = presets[preset]
	case c.NumShards == 0:
		c.NumShards = DefaultNumShards
	}
	return c, nil
}

// ReadNamespaceUpdate decodes the body of namespaces/update.
func ReadNamespaceUpdate(body []byte) (NamespaceUpdate, error) {
	var u NamespaceUpdate
	given := false
	err := members(body, namespaceUpdateNames, func(name string, v value) (err error) {
		switch name {
		case "name":
			u.Name, err = readNamespace(name, v)
		case "ifVersion":
			if !v.isNull() {
				u.IfVersion, err = readVersion(name, v)
			}
		case "settings":
			given = true
			err = u.read(v, true)
		default:
			err = timer.Invalid(name, raw(v), "only name and settings: the number of shards cannot be changed")
		}
		return err
	})
	switch {
	case err != nil:
		return u, redact(err)
	case u.Name == "":
		return u, errNoName()
	case !given:
		return u, timer.Invalid("settings", missing{}, "an object with the settings to change")
	}
	return u, nil
}

// NamespaceDelete is the body of namespaces/delete.
type NamespaceDelete struct {
	Name      string
	DryRun    bool
	IfVersion int64 // 0: any
}

// ReadNamespaceDelete decodes the body of namespaces/delete. The default namespace is refused, because each process creates
// it when it starts.
func ReadNamespaceDelete(body []byte) (NamespaceDelete, error) {
	var d NamespaceDelete
	err := members(body, []string{"name", "dryRun", "ifVersion"}, func(name string, v value) (err error) {
		switch {
		case name == "name":
			d.Name, err = readNamespace(name, v)
		case v.isNull(): // counts as absent
		case name == "dryRun":
			d.DryRun, err = v.bool(name)
		default:
			d.IfVersion, err = readVersion(name, v)
		}
		return err
	})
	switch {
	case err != nil:
		return d, err
	case d.Name == "":
		return d, errNoName()
	case d.Name == DefaultNamespace:
		return d, timer.Invalid("name", d.Name, "another namespace: each process creates this one when it starts")
	}
	return d, nil
}

func readVersion(name string, v value) (int64, error) {
	version, err := v.integer(name, 1, math.MaxInt32, "the version of a namespace, as an answer gave it")
	return int64(version), err
}

// ReadNamespaceName decodes the body of namespaces/get.
func ReadNamespaceName(body []byte) (string, error) {
	var n string
	err := members(body, namespaceNames, func(name string, v value) (err error) {
		n, err = readNamespace(name, v)
		return err
	})
	if err == nil && n == "" {
		err = errNoName()
	}
	return n, err
}

// ReadNamespace decodes a body with an optional namespace. Without one, it returns the default namespace.
func ReadNamespace(body []byte) (string, error) {
	namespace := DefaultNamespace
	err := members(body, []string{"namespace"}, func(name string, v value) (err error) {
		if !v.isNull() {
			namespace, err = readNamespace(name, v)
		}
		return err
	})
	return namespace, err
}

// NamespaceList is the body of namespaces/list.
type NamespaceList struct {
	After string
	Limit int
}

// ReadNamespaceList decodes the body of namespaces/list.
func ReadNamespaceList(body []byte) (NamespaceList, error) {
	l := NamespaceList{Limit: DefaultLimit}
	err := members(body, []string{"limit", "cursor"}, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "limit":
			err = readLimit(&l.Limit, v)
		default:
			var cursor store.Cursor
			cursor, err = readCursor(v)
			l.After = string(cursor)
			// The cursor is passed to the database, which may refuse bytes that names cannot contain.
			if err == nil && timer.CheckNamespace(l.After) != nil {
				err = timer.Invalid("cursor", raw(v), WantCursor)
			}
		}
		return err
	})
	return l, err
}

func errNoName() error {
	return timer.Invalid("name", missing{}, "1 to 255 letters, digits, dots, underscores or hyphens")
}

func readPreset(v value) (string, error) {
	const want = `"small", "medium", "large" or "xlarge"`
	s, err := v.string("preset", want)
	if err == nil && presets[s] == 0 {
		err = timer.Invalid("preset", s, want)
	}
	return s, err
}

func (f *SettingsFields) read(v value, nulls bool) error {
	err := v.object("settings", settingsNames, func(name string, v value) (err error) {
		if v.isNull() && !nulls {
			return nil
		}
		switch name {
		case "retryPolicy":
			err = f.retry.read(v, nulls)
		case "callbackTimeout", "callbackTimeoutSeconds":
			err = f.timeout.read(name, v)
		case "historyRetention":
			f.retention, err = maybe(name, v, readDuration)
		case "deadRetention":
			f.deadRetention, err = maybe(name, v, readDuration)
		case "keepPayload":
			f.keepPayload, err = maybe(name, v, readPositive)
		case "headers":
			f.headers, err = maybe(name, v, readHeaders)
		case "finalStatuses":
			f.statuses, err = maybe(name, v, readStatuses)
		case "secrets":
			err = f.secrets.read(v)
		case "tls":
			err = f.tls.read(v)
		case "callbackAuth":
			err = f.auth.read(v)
		case "eventTopics":
			f.topics, err = maybe(name, v, readTopicPatterns)
		case "hostConcurrency":
			f.concurrency, err = maybe(name, v, readHostConcurrency)
		case "quota":
			err = f.quota.read(v)
		case "flows":
			f.flows, err = maybe(name, v, readFlowLimits)
		case "onDone":
			f.onDone, err = maybe(name, v, readURL)
		case "onDead":
			f.onDead, err = maybe(name, v, readURL)
		case "results":
			f.results, err = maybe(name, v, readResults)
		}
		return err
	})
	if err != nil {
		return err
	}
	return f.timeout.agree()
}

func readHostConcurrency(field string, v value) (int, error) {
	return v.integer(field, store.MinHostConcurrency, store.MaxHostConcurrency, "1 to 1024")
}

func readResults(field string, v value) (store.Results, error) {
	s, err := v.string(field, `"all", "failures" or "off"`)
	if err != nil {
		return "", err
	}
	return store.Results(s), store.CheckResults(store.Results(s))
}

// readTopicPatterns decodes an array of patterns.
func readTopicPatterns(field string, v value) (timer.TopicPatterns, error) {
	patterns, err := readTexts(field, v, timer.MaxTopicPatterns,
		`an array of names in which * matches any run of characters, such as ["orders.*"]`)
	if err != nil {
		return "", err
	}
	return timer.NewTopicPatterns(patterns)
}

// Conflicts returns the names of the settings that the fields would change. Of secrets it compares the ids, of a client
// certificate the certificate, and of the authentication the decrypted secret, because encrypting the same text twice gives
// different results.
func (f *SettingsFields) Conflicts(present store.Settings, with *Encryption) ([]string, error) {
	wanted, err := f.Apply(present, with)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, setting := range []struct {
		name string
		same bool
	}{
		{"retryPolicy", wanted.Retry == present.Retry},
		{"callbackTimeout", wanted.CallbackTimeout == present.CallbackTimeout},
		{"historyRetention", wanted.HistoryRetention == present.HistoryRetention},
		{"deadRetention", wanted.DeadRetention == present.DeadRetention},
		{"keepPayload", wanted.KeepPayload == present.KeepPayload},
		{"headers", wanted.Headers == present.Headers},
		{"finalStatuses", wanted.FinalStatuses == present.FinalStatuses},
		{"secrets", slices.EqualFunc(wanted.Secrets.Live(with.Now), present.Secrets.Live(with.Now), func(a, b store.Secret) bool {
			return a.ID == b.ID && a.ExpiresAt == b.ExpiresAt
		})},
		{"tls", wanted.TLS.CA == present.TLS.CA && wanted.TLS.Certificate == present.TLS.Certificate},
		{"callbackAuth", with.sameAuth(wanted.Auth, present.Auth)},
		{"eventTopics", wanted.EventTopics == present.EventTopics},
		{"hostConcurrency", wanted.HostConcurrency == present.HostConcurrency},
		{"quota", wanted.Quota == present.Quota},
		{"flows", wanted.Flows == present.Flows},
		{"onDone", wanted.OnDone == present.OnDone},
		{"onDead", wanted.OnDead == present.OnDead},
		{"results", wanted.Results == present.Results},
	} {
		if !setting.same {
			names = append(names, "settings."+setting.name)
		}
	}
	return names, nil
}

// Apply applies the fields to settings and checks the result. null selects the service's default. Secrets are
// encrypted.
func (f *SettingsFields) Apply(s store.Settings, with *Encryption) (store.Settings, error) {
	def := store.DefaultSettings()
	if p := f.retry.patch(&def.Retry); p != nil {
		s.Retry = p.Apply(s.Retry)
	}
	if d := f.timeout.to(def.CallbackTimeout); d != nil {
		s.CallbackTimeout = *d
	}
	if d := f.retention.to(def.HistoryRetention); d != nil {
		s.HistoryRetention = *d
	}
	if d := f.deadRetention.to(def.DeadRetention); d != nil {
		s.DeadRetention = *d
	}
	if d := f.keepPayload.to(0); d != nil {
		s.KeepPayload = *d
	}
	if h := f.headers.to(""); h != nil {
		s.Headers = *h
	}
	if codes := f.statuses.to(timer.StatusCodes{}); codes != nil {
		s.FinalStatuses = *codes
	}
	if topics := f.topics.to(""); topics != nil {
		s.EventTopics = *topics
	}
	if limit := f.concurrency.to(def.HostConcurrency); limit != nil {
		s.HostConcurrency = *limit
	}
	if flows := f.flows.to(""); flows != nil {
		s.Flows = *flows
	}
	if u := f.onDone.to(""); u != nil {
		s.OnDone = *u
	}
	if u := f.onDead.to(""); u != nil {
		s.OnDead = *u
	}
	if results := f.results.to(def.Results); results != nil {
		s.Results = *results
	}
	s.Quota = f.quota.apply(s.Quota)
	var err error
	if s.Secrets, err = f.secrets.apply(&s.Secrets, with); err != nil {
		return s, err
	}
	if s.TLS, err = f.tls.apply(s.TLS, with); err != nil {
		return s, err
	}
	if s.Auth, err = f.auth.apply(s.Auth, with); err != nil {
		return s, err
	}
	return s, s.Check()
}
