package dynamostore

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Options configure the store. Only Table has no default.
type Options struct {
	// Table is the table of shards, timers and the cluster's records. 3 to 247 of a-z A-Z 0-9 _ . and -.
	Table string
	// History is the table of history. Default: Table with the suffix "-history".
	History string
	// Region is the AWS region. Default: the SDK's (AWS_REGION, the profile).
	Region string
	// Endpoint is the URL of a service other than AWS, such as DynamoDB Local. Default: the region's.
	Endpoint string
	// Profile is a profile of the shared configuration. Default: the SDK's (AWS_PROFILE, "default").
	Profile string
	// MaxRequests bounds the concurrent requests of this process. Default 64.
	MaxRequests int
	// MaxAttempts bounds how often one request is tried, including the first attempt. Default 6, which with the SDK's
	// backoff is sufficient for about ten seconds of throttling.
	MaxAttempts int
	// RequestTimeout bounds one attempt. Default 5 s.
	RequestTimeout time.Duration

	// Read and Write are the provisioned capacity of the tables that Migrate creates, in units per second. If both are
	// 0, the tables are on demand.
	Read, Write int64
	// Tags are the tags of the tables that Migrate creates.
	Tags map[string]string

	// Credentials are explicit credentials. Default: the SDK's.
	Credentials aws.CredentialsProvider
	// HTTPClient sends the requests. Default: a client with a connection for each of MaxRequests.
	HTTPClient aws.HTTPClient
	// Observer receives measurements, in addition to the metrics that a Store collects. Default: none.
	Observer Observer
	// Logger gets events that are not part of a call's answer. By default nothing is logged.
	Logger *slog.Logger
}

const (
	scheme = "dynamodb"
	// maxBackoff bounds the wait before a retry, because callers wait too.
	maxBackoff = 2 * time.Second
	// wantURL is the expected form in error messages.
	wantURL = "dynamodb://table?region=eu-central-1, optionally with endpoint, profile, history, maxRequests, read, write, tag.NAME"
)

// tableName leaves room for "-history" within the service's limit of 255 characters.
var tableName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,247}$`)

// ParseURL parses dynamodb://table?region=…&endpoint=…. Other parameters are history, profile, maxRequests, read and
// write (provisioned capacity, for Migrate) and tag.NAME (for Migrate).
func ParseURL(raw string) (Options, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != scheme || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" {
		return Options{}, fmt.Errorf("open store: %w", timer.Invalid("store", raw, wantURL))
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Options{}, fmt.Errorf("open store: %w", timer.Invalid("store", raw, wantURL))
	}
	o := Options{Table: u.Host}
	for name, given := range query {
		if len(given) != 1 {
			return Options{}, fmt.Errorf("open store: %w", timer.Invalid("store", raw, name+" once"))
		}
		if err := o.set(name, given[0]); err != nil {
			return Options{}, fmt.Errorf("open store: %w", err)
		}
	}
	if _, err := withDefaults(o); err != nil {
		return Options{}, fmt.Errorf("open store: %w", err)
	}
	return o, nil
}

func (o *Options) set(name, value string) error {
	if tag, ok := cutPrefix(name, "tag."); ok {
		if o.Tags == nil {
			o.Tags = map[string]string{}
		}
		o.Tags[tag] = value
		return nil
	}
	number := func(least, most int64) (int64, error) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < least || n > most {
			return 0, timer.Invalid(name, value, fmt.Sprintf("%d to %d", least, most))
		}
		return n, nil
	}
	var err error
	switch name {
	case "region":
		o.Region = value
	case "endpoint":
		o.Endpoint = value
	case "profile":
		o.Profile = value
	case "history":
		o.History = value
	case "maxRequests":
		var n int64
		n, err = number(1, maxMaxRequests)
		o.MaxRequests = int(n)
	case "read":
		o.Read, err = number(1, maxCapacity)
	case "write":
		o.Write, err = number(1, maxCapacity)
	default:
		return timer.Invalid("store", name, wantURL)
	}
	return err
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return "", false
}

const (
	maxMaxRequests = 10_000
	maxMaxAttempts = 100
	maxCapacity    = 1_000_000
)

func withDefaults(o Options) (Options, error) {
	o.History = cmp.Or(o.History, o.Table+"-history")
	for _, name := range []string{o.Table, o.History} {
		if len(name) > 255 || !tableName.MatchString(name) && name != o.Table+"-history" || !tableName.MatchString(o.Table) {
			return o, timer.Invalid("store", name, "a table's name of 3 to 247 letters, digits, _, . and -")
		}
	}
	if o.History == o.Table {
		return o, timer.Invalid("history", o.History, "a different table than "+o.Table)
	}
	if o.Endpoint != "" {
		if u, err := url.Parse(o.Endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return o, timer.Invalid("endpoint", o.Endpoint, "a URL such as http://127.0.0.1:8000")
		}
	}
	for _, setting := range []struct {
		name                   string
		value                  *int
		otherwise, least, most int
	}{
		{"maxRequests", &o.MaxRequests, 64, 1, maxMaxRequests},
		{"maxAttempts", &o.MaxAttempts, 6, 1, maxMaxAttempts},
	} {
		if *setting.value == 0 {
			*setting.value = setting.otherwise
		}
		if *setting.value < setting.least || *setting.value > setting.most {
			return o, timer.Invalid(setting.name, *setting.value, fmt.Sprintf("%d to %d", setting.least, setting.most))
		}
	}
	o.RequestTimeout = cmp.Or(o.RequestTimeout, 5*time.Second)
	if o.RequestTimeout < 0 {
		return o, timer.Invalid("requestTimeout", o.RequestTimeout, "a positive duration")
	}
	if (o.Read == 0) != (o.Write == 0) || o.Read < 0 || o.Write < 0 {
		return o, timer.Invalid("read", fmt.Sprintf("%d, write %d", o.Read, o.Write),
			"both, in units per second, or neither for on-demand tables")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	} else {
		o.Logger = o.Logger.With("component", "dynamostore")
	}
	return o, nil
}

// where returns the database's address for error messages.
func (o *Options) where() string {
	q := url.Values{}
	if o.Region != "" {
		q.Set("region", o.Region)
	}
	at := scheme + "://" + o.Table
	if len(q) > 0 {
		at += "?" + q.Encode()
	}
	if o.Endpoint != "" {
		at += " at " + o.Endpoint
	}
	return at
}
