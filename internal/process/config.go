package process

import (
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Config contains every setting of a process. The tag koanf is the setting's name: the flag is --name, the environment
// variable TIMERBUS_NAME (hyphens become underscores), and the file's key is the name itself. The tag usage is the help
// text. The tag secret is "true" for a value that is never shown, and "url" for a URL, which may contain a password.
type Config struct {
	// Listen is the HTTP API's address, host:port; port 0 selects a free one.
	Listen string `koanf:"listen" usage:"address of the HTTP API, host:port"`
	// NATSListen is the embedded NATS server's address, host:port; port 0 selects a free one. Empty: only this process
	// can connect.
	NATSListen string `koanf:"nats-listen" usage:"address of the embedded NATS server, host:port, or empty for none"`
	// NATSSync is when the embedded NATS server syncs commands, fired and dead events to the disk: always (before each
	// is acknowledged) or interval (in the background, within two minutes). With interval, a power failure can lose
	// acknowledged messages that were not yet synced; the end of the process never does.
	NATSSync string `koanf:"nats-sync" usage:"when commands and events are synced to disk: always (before the acknowledgement) or interval"`
	// Store is the URL of the database, as in backend.Options. Empty: SQLite in the data folder.
	Store string `koanf:"store" secret:"url" usage:"URL of the database, such as postgres://user@host/db; empty: SQLite in the data folder"`
	// Bus is the URL of the message bus, as in backend.Options. Empty: a NATS server in the process.
	Bus string `koanf:"bus" secret:"url" usage:"URL of the message bus, such as nats://host:4222, or empty for an embedded NATS server"`
	// Outbox is the URL of a database with an outbox, as in backend.OpenOutbox. Empty: none.
	Outbox string `koanf:"outbox" secret:"url" usage:"URL of a database with an outbox, such as postgres://user@host/shop; empty: none"`
	// UI serves the web UI on the address of the HTTP API, at the path UIPath. UIReadOnly hides all actions in it, and UIHidePayloads
	// the payloads, bodies and headers of timers; neither restricts the API.
	UI             bool   `koanf:"ui" usage:"serve the web UI"`
	UIPath         string `koanf:"ui-path" usage:"path of the web UI, such as /ui/ or /timers/ui/"`
	UIReadOnly     bool   `koanf:"ui-read-only" usage:"show no actions in the web UI"`
	UIHidePayloads bool   `koanf:"ui-hide-payloads" usage:"hide payloads, bodies and headers of timers in the web UI"`
	// UIOIDCClientID is the client of the web UI at OIDCIssuer, a public client; empty: users enter a token. UIOIDCScopes are the scopes
	// that it requests.
	UIOIDCClientID string `koanf:"ui-oidc-client-id" usage:"client id of the web UI at the provider of oidc-issuer, or empty for none"`
	UIOIDCScopes   string `koanf:"ui-oidc-scopes" usage:"scopes that the web UI requests at sign-in, such as \"openid profile\""`
	// Node identifies this process in lists of shards. Empty: the host's name.
	Node string `koanf:"node" usage:"name of this process in lists of shards, or empty for the host name"`
	// DebugListen is the address of net/http/pprof, host:port on this machine; empty: not served.
	DebugListen string `koanf:"debug-listen" usage:"address for profiles (net/http/pprof) on this machine, host:port, or empty for none"`
	// Data is the folder of the database and the bus's files. It is created if it does not exist. Only one process can
	// use it at a time.
	Data string `koanf:"data" usage:"folder of the database and the bus"`
	// Token is required from clients of the HTTP API and of the embedded NATS server; if it is empty, no token is
	// required.
	Token string `koanf:"token" secret:"true" usage:"token required from clients of HTTP and NATS (preferably set as TIMERBUS_TOKEN)"`
	// OIDCIssuer is the URL of an identity provider whose tokens clients of the HTTP API may send; empty: none.
	OIDCIssuer string `koanf:"oidc-issuer" usage:"identity provider whose tokens are accepted, such as https://accounts.example.com"`
	// OIDCAudience must be in the claim aud of these tokens.
	OIDCAudience string `koanf:"oidc-audience" usage:"audience that these tokens must have, such as timerbus"`
	// OIDCClaim is the claim whose values OIDCGrants lists.
	OIDCClaim string `koanf:"oidc-claim" usage:"claim that selects the grants, such as groups, scope or realm_access.roles"`
	// OIDCGrants are the grants of the claim's values; oidc.Config.Grants describes the form.
	OIDCGrants string `koanf:"oidc-grants" usage:"grants of the claim's values, such as \"ops=read,admin@* billing=read,write@billing-*\""`
	// TLSCert and TLSKey are PEM files with the certificate of the HTTP API and its key; empty: no TLS. They are read again
	// when they change.
	TLSCert string `koanf:"tls-cert" usage:"PEM file with the certificate of the HTTP API; empty: no TLS"`
	TLSKey  string `koanf:"tls-key" usage:"PEM file with the key of the certificate"`
	// TLSClientCA is a PEM file with the authorities of client certificates; empty: clients need no certificate.
	TLSClientCA string `koanf:"tls-client-ca" usage:"PEM file with the authorities of the certificates that clients must have"`
	// SecretKey contains the keys that encrypt the secrets of namespaces in the database; encryption.ParseKeys parses
	// them. The first key encrypts, all keys decrypt. Empty: namespaces cannot have secrets.
	SecretKey string `koanf:"secret-key" secret:"true" usage:"keys that encrypt secrets of namespaces, base64 of 32 bytes, newest first"`
	// Insecure allows HTTP and NATS on other than loopback addresses without a token.
	Insecure bool `koanf:"insecure" usage:"allow HTTP and NATS without a token from other machines"`
	// AllowedHosts are the hosts that requests to an API without a token may be addressed to in addition to loopback;
	// ParseHosts parses them. Beyond loopback the host is checked only if AllowedHosts is not empty.
	AllowedHosts string `koanf:"allowed-hosts" usage:"accepted hosts of requests without a token, such as timers.internal, or any"`
	// CallbackAllow is the policy for the destinations of callbacks in addition to public addresses; egress.Parse
	// parses it.
	CallbackAllow string `koanf:"callback-allow" usage:"allowed non-public targets: loopback, private, any, 10.0.0.0/8, *.internal"`
	// CallbackProxy is the URL of an HTTP or SOCKS proxy for callbacks; empty: none, regardless of the environment.
	CallbackProxy string `koanf:"callback-proxy" secret:"url" usage:"proxy for callbacks, such as http://proxy:3128, or empty for none"`
	// Partitions of the bus, 1 to 1,024. Fixed by the first process that opens the store.
	Partitions int `koanf:"partitions" usage:"partitions of the bus, 1 to 1024; fixed by the first process that opens the store"`
	// TestClock runs the service on a clock that the HTTP API moves forward. Only with the database in the data folder.
	TestClock bool `koanf:"test-clock" usage:"for tests: run on a clock that timerbus clock moves forward; only with the embedded database"`
	// DueQueue is where a process with all roles keeps its due events: DueQueueMemory, DueQueueBus or DueQueueAuto.
	DueQueue string `koanf:"due-queue" usage:"where timers that are due wait in a process with all roles: memory, bus, or auto"`
	// DrainTimeout bounds the graceful stop, 0 s to 10 min. Unfinished work is resumed at the next start.
	DrainTimeout time.Duration `koanf:"drain-timeout" usage:"how long a graceful stop may take, 0s to 10m"`
	// StartWait is how long a process waits at its start for a database or bus that does not answer, 0 s to 24 h.
	StartWait time.Duration `koanf:"start-wait" usage:"how long to wait at start for a database or bus that does not answer, 0s to 24h"`
	// TraceShare is the share of requests and topic commands without a trace that are traced, 0 to 1; 0: no
	// spans at all are recorded.
	TraceShare float64 `koanf:"trace-share" usage:"share of new traces that are recorded and exported by OTLP, 0 to 1; 0: none"`
	// MetricsNamespaces is how many namespaces have separate metrics, 1 to 10,000. All others have the label "other".
	MetricsNamespaces int `koanf:"metrics-namespaces" usage:"namespaces with separate metrics, 1 to 10000; all others have the label other"`
	// LogLevel is debug, info, warn or error.
	LogLevel string `koanf:"log-level" usage:"debug, info, warn or error"`
	// LogFormat is text, json, or auto: text on a terminal, JSON elsewhere.
	LogFormat string `koanf:"log-format" usage:"text, json, or auto (text on a terminal, JSON elsewhere)"`
}

// DefaultConfig returns the default of every setting.
func DefaultConfig() Config {
	return Config{
		Listen:     "127.0.0.1:8080",
		NATSListen: "127.0.0.1:4222",
		NATSSync:   SyncAlways,
		UI:         true,
		UIPath:     "/ui/",

		UIOIDCScopes: "openid",

		Data:      "./timerbus-data",
		OIDCClaim: "groups",
		// On one machine, receivers are usually on loopback too; processes of a cluster have another default.
		CallbackAllow:     egress.Loopback,
		Partitions:        16,
		DueQueue:          DueQueueAuto,
		DrainTimeout:      10 * time.Second,
		MetricsNamespaces: 50,
		LogLevel:          "info",
		LogFormat:         "auto",
	}
}

// Values of Config.NATSSync.
const (
	SyncAlways   = "always"
	SyncInterval = "interval"
)

// Values of Config.DueQueue. DueQueueAuto is DueQueueMemory with the embedded database, which one process uses, and otherwise
// DueQueueBus.
const (
	DueQueueAuto   = "auto"
	DueQueueMemory = "memory"
	DueQueueBus    = "bus"
)

const (
	maxPartitions = 1024
	maxDrain      = 10 * time.Minute
)

// Check returns an error that names the first setting that is not acceptable.
func (c *Config) Check() error {
	if err := checkAddress("listen", c.Listen); err != nil {
		return err
	}
	if c.NATSListen != "" {
		if err := checkAddress("nats-listen", c.NATSListen); err != nil {
			return err
		}
	}
	if c.DebugListen != "" {
		if err := checkAddress("debug-listen", c.DebugListen); err != nil {
			return err
		}
		if !Loopback(c.DebugListen) {
			return timer.Invalid("debug-listen", c.DebugListen, "an address of this machine only, such as 127.0.0.1:6060")
		}
	}
	if _, err := c.SecretKeys(); err != nil {
		return err
	}
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return timer.Invalid("tls-key", c.TLSKey, "tls-cert and tls-key together")
	case c.TLSClientCA != "" && c.TLSCert == "":
		return timer.Invalid("tls-client-ca", c.TLSClientCA, "tls-cert and tls-key, too")
	case c.NATSSync != SyncAlways && c.NATSSync != SyncInterval:
		return timer.Invalid("nats-sync", c.NATSSync, "always or interval")
	case c.TestClock && c.Store != "":
		return timer.Invalid("test-clock", true, "false with a store, because the clock of an external database cannot be moved")
	case c.Data == "":
		return timer.Invalid("data", c.Data, "a folder")
	case c.Partitions < 1 || c.Partitions > maxPartitions:
		return timer.Invalid("partitions", c.Partitions, "1 to 1024")
	case !slices.Contains([]string{DueQueueAuto, DueQueueMemory, DueQueueBus}, c.DueQueue):
		return timer.Invalid("due-queue", c.DueQueue, "auto, memory or bus")
	case !(c.TraceShare >= 0 && c.TraceShare <= 1):
		return timer.Invalid("trace-share", c.TraceShare, "0 to 1")
	case c.MetricsNamespaces < 1 || c.MetricsNamespaces > 10_000:
		return timer.Invalid("metrics-namespaces", c.MetricsNamespaces, "1 to 10000")
	case c.DrainTimeout < 0 || c.DrainTimeout > maxDrain:
		return timer.Invalid("drain-timeout", c.DrainTimeout, "0s to 10m")
	case c.StartWait < 0 || c.StartWait > 24*time.Hour:
		return timer.Invalid("start-wait", c.StartWait, "0s to 24h")
	}
	if _, err := ParseHosts(c.AllowedHosts); err != nil {
		return err
	}
	if _, err := egress.Parse(c.CallbackAllow); err != nil {
		return err
	}
	if _, err := c.Proxy(); err != nil {
		return err
	}
	if _, err := c.Level(); err != nil {
		return err
	}
	switch c.LogFormat {
	case "auto", "text", "json":
		return nil
	default:
		return timer.Invalid("log-format", c.LogFormat, "auto, text or json")
	}
}

// Proxy parses CallbackProxy; nil for none.
func (c *Config) Proxy() (*url.URL, error) {
	if c.CallbackProxy == "" {
		return nil, nil //nolint:nilnil // no proxy is not an error.
	}
	u, err := url.Parse(c.CallbackProxy)
	if err == nil && u.Host != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return u, nil
	}
	// The URL may contain a password, so it is not shown.
	return nil, timer.Invalid("callback-proxy", "…", "the URL of a proxy, such as http://proxy:3128 or socks5://proxy:1080")
}

// SecretKeys parses SecretKey.
func (c *Config) SecretKeys() (encryption.Keyring, error) { return encryption.ParseKeys(c.SecretKey) }

// Level parses LogLevel.
func (c *Config) Level() (slog.Level, error) {
	switch c.LogLevel {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	default:
		return 0, timer.Invalid("log-level", c.LogLevel, "debug, info, warn or error")
	}
}

func checkAddress(setting, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return timer.Invalid(setting, address, "host:port such as 127.0.0.1:8080; port 0 selects a free port")
	}
	return nil
}

// Loopback reports whether only this machine can reach the address. localhost is the only name that counts as loopback:
// the resolution of other names may change.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
