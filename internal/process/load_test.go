package process

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "timerbus.yaml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLoadDefaults(t *testing.T) {
	got, err := Load(Sources{Environ: []string{"HOME=/home/me", "TIMERBUS=x"}})
	if err != nil || got != DefaultConfig() {
		t.Errorf("Load = %+v, %v, want the defaults", got, err)
	}
}

func TestLoadPrefersFlagsToEnvironmentToFile(t *testing.T) {
	got, err := Load(Sources{
		Flags:   map[string]string{"listen": "127.0.0.1:1"},
		Environ: []string{"TIMERBUS_LISTEN=127.0.0.1:2", "TIMERBUS_NATS_LISTEN=127.0.0.1:2", "TIMERBUS_INSECURE=true", "TIMERBUS_TOKEN="},
		File:    file(t, "listen: 127.0.0.1:3\nnats-listen: 127.0.0.1:3\ndata: /data\npartitions: 4\ndrain-timeout: 1m30s\ntoken: x\n"),
	})
	want := DefaultConfig()
	want.Listen, want.NATSListen, want.Data = "127.0.0.1:1", "127.0.0.1:2", "/data"
	want.Partitions, want.DrainTimeout, want.Insecure = 4, 90*time.Second, true
	if err != nil || got != want {
		t.Errorf("Load = %+v, %v, want %+v", got, err, want)
	}
}

func TestLoadTurnsNATSOff(t *testing.T) {
	got, err := Load(Sources{Environ: []string{"TIMERBUS_NATS_LISTEN="}})
	if err != nil || got.NATSListen != "" {
		t.Errorf("Load = %+v, %v", got, err)
	}
}

// Durations accept days in every source.
func TestLoadReadsDays(t *testing.T) {
	for name, from := range map[string]Sources{
		"flag":        {Flags: map[string]string{"drain-timeout": "0.005d"}},
		"environment": {Environ: []string{"TIMERBUS_DRAIN_TIMEOUT=0.005d"}},
		"file":        {File: file(t, "drain-timeout: 0.005d\n")},
	} {
		if got, err := Load(from); err != nil || got.DrainTimeout != 7*time.Minute+12*time.Second {
			t.Errorf("%s: Load = %v, %v, want 7m12s", name, got.DrainTimeout, err)
		}
	}
}

func TestLoadReadsJSON(t *testing.T) {
	got, err := Load(Sources{File: file(t, `{"partitions": 3, "insecure": true}`)})
	if err != nil || got.Partitions != 3 || !got.Insecure {
		t.Errorf("Load = %+v, %v", got, err)
	}
}

func TestLoadPassesOverForeignVariables(t *testing.T) {
	if _, err := Load(Sources{Foreign: []string{"URL"}, Environ: []string{"TIMERBUS_URL=x"}}); err != nil {
		t.Error(err)
	}
}

// linksOf returns the variables that Kubernetes sets in the containers of a namespace for a service with one port,
// which is named port if named is not empty.
func linksOf(service, named, protocol, address, port string) []string {
	service = strings.ToUpper(strings.ReplaceAll(service, "-", "_"))
	url := strings.ToLower(protocol) + "://" + net.JoinHostPort(address, port)
	link := service + "_PORT_" + port + "_" + protocol
	links := []string{
		service + "_SERVICE_HOST=" + address, service + "_SERVICE_PORT=" + port, service + "_PORT=" + url, link + "=" + url,
		link + "_PROTO=" + strings.ToLower(protocol), link + "_PORT=" + port, link + "_ADDR=" + address,
	}
	if named != "" {
		links = append(links, service+"_SERVICE_PORT_"+strings.ToUpper(strings.ReplaceAll(named, "-", "_"))+"="+port)
	}
	return links
}

func TestLoadPassesOverServicesOfKubernetes(t *testing.T) {
	for name, environ := range map[string][]string{
		"timerbus":             linksOf("timerbus", "", "TCP", "10.0.0.1", "80"),
		"timerbus-ingest":      linksOf("timerbus-ingest", "http", "TCP", "10.0.0.1", "8080"),
		"timerbus-nats":        linksOf("timerbus-nats", "client-tls", "TCP", "fd00::1", "4222"),
		"timerbus-a-b-c":       linksOf("timerbus-a-b-c", "dns", "UDP", "10.0.0.1", "53"),
		"timerbus-service":     linksOf("timerbus-service", "service-port", "SCTP", "10.0.0.1", "65535"),
		"timerbus-1-port-2":    linksOf("timerbus-1-port-2", "p2", "TCP", "10.0.0.1", "1"),
		"timerbus-postgres-rw": linksOf("timerbus-postgres-rw", "postgres", "TCP", "10.0.0.1", "5432"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, pair := range environ {
				if got, err := Load(Sources{Environ: []string{pair}}); err != nil || got != DefaultConfig() {
					t.Errorf("%s: %v", pair, err)
				}
			}
		})
	}
}

// TestLoadRefusesWhatOnlyResemblesAServiceOfKubernetes: an unknown setting must not be ignored.
func TestLoadRefusesWhatOnlyResemblesAServiceOfKubernetes(t *testing.T) {
	for _, pair := range []string{
		"TIMERBUS_PORT=8080", "TIMERBUS_PORT=", "TIMERBUS_NATS_PORT=4222", "TIMERBUS_LISTEN_PORT=8080",
		"TIMERBUS_SERVICE_HOST=localhost", "TIMERBUS_SERVICE_PORT=http", "TIMERBUS_SERVICE_NAME=x", "TIMERBUS_SERVICE_=1",
		"TIMERBUS_INGEST_SERVICE_HOSTS=10.0.0.1", "TIMERBUS_PORT_80=tcp://10.0.0.1:80", "TIMERBUS_PORT_80_TCP=10.0.0.1:80",
		"TIMERBUS_PORT_80_TLS=tls://10.0.0.1:80", "TIMERBUS_PORT_HTTP_TCP=tcp://10.0.0.1:80", "TIMERBUS_PORT_80_TCP_HOST=10.0.0.1",
		"TIMERBUS_PORT_80_TCP_ADDR=x", "TIMERBUS_PORT_80_TCP_PROTO=tls", "TIMERBUS_PORT_80_TCP_PORT=x", "TIMERBUS_PORT=tcp://10.0.0.1",
		"TIMERBUS__PORT=tcp://10.0.0.1:80", "TIMERBUS_PORT=http://10.0.0.1:80", "TIMERBUS_PORT=tcp://db:80", "TIMERBUS_SERVICE_PORT=65536",
	} {
		name, _, _ := strings.Cut(pair, "=")
		if _, err := Load(Sources{Environ: []string{pair}}); err == nil || !strings.Contains(err.Error(), name+" is not a setting") {
			t.Errorf("%s: %v", pair, err)
		}
	}
}

// TestNoSettingLooksLikeAServiceOfKubernetes: every cluster with such a service would set it.
func TestNoSettingLooksLikeAServiceOfKubernetes(t *testing.T) {
	for _, s := range Settings() {
		rest := strings.TrimPrefix(s.Env, EnvPrefix)
		for _, link := range serviceLinks {
			if link.name.MatchString(rest) {
				t.Errorf("%s has the form %s, which Kubernetes sets for services", s.Env, link.name)
			}
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		from Sources
		want []string // substrings of the error
	}{
		"unknown variable":      {Sources{Environ: []string{"TIMERBUS_LISTNE=x"}}, []string{"TIMERBUS_LISTNE", "TIMERBUS_LISTEN"}},
		"unknown key":           {Sources{File: file(t, "listne: x")}, []string{"timerbus.yaml: listne", "nats-listen"}},
		"nested key":            {Sources{File: file(t, "log:\n  level: info")}, []string{"timerbus.yaml: log", "log-level"}},
		"not a file of keys":    {Sources{File: file(t, "- a\n- b")}, []string{"timerbus.yaml", "want YAML"}},
		"no file":               {Sources{File: "/does/not/exist"}, []string{"/does/not/exist"}},
		"number as text":        {Sources{Environ: []string{"TIMERBUS_PARTITIONS=many"}}, []string{"TIMERBUS_PARTITIONS", `"many"`, "1 to 1024"}},
		"duration without unit": {Sources{File: file(t, "drain-timeout: 10")}, []string{"drain-timeout", `"10"`, "0s to 10m"}},
		"bool":                  {Sources{Flags: map[string]string{"insecure": "maybe"}}, []string{"--insecure", `"maybe"`, "true or false"}},
		"null":                  {Sources{File: file(t, "data:")}, []string{"data"}},
		"list":                  {Sources{File: file(t, "data: [a, b]")}, []string{"data"}},
		"secret key":            {Sources{Environ: []string{"TIMERBUS_SECRET_KEY=aHVudGVyMg=="}}, []string{"secret-key", "32"}},
		"secret keys as a list": {Sources{File: file(t, "secret-key: [aHVudGVyMg==]")}, []string{"secret-key", "the given value"}},
		"address without port":  {Sources{Flags: map[string]string{"listen": "localhost"}}, []string{"listen", `"localhost"`, "127.0.0.1:8080"}},
		"address, named port":   {Sources{Flags: map[string]string{"nats-listen": "localhost:nats"}}, []string{"nats-listen"}},
		"partitions":            {Sources{Flags: map[string]string{"partitions": "1025"}}, []string{"partitions", "1 to 1024"}},
		"drain timeout":         {Sources{Flags: map[string]string{"drain-timeout": "-1s"}}, []string{"drain-timeout"}},
		"NATS sync":             {Sources{Flags: map[string]string{"nats-sync": "never"}}, []string{"nats-sync", `"never"`, "always or interval"}},
		"log level":             {Sources{Flags: map[string]string{"log-level": "loud"}}, []string{"log-level", "debug, info"}},
		"log format":            {Sources{Flags: map[string]string{"log-format": "xml"}}, []string{"log-format", "json"}},
		"no data":               {Sources{Flags: map[string]string{"data": ""}}, []string{"data"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(c.from)
			if err == nil {
				t.Fatal("accepted")
			}
			if strings.Contains(err.Error(), "aHVudGVyMg") {
				t.Errorf("error %q shows a secret", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not name %s", err, part)
				}
			}
		})
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "example.com:1": false, "": false,
	} {
		if got := Loopback(address); got != want {
			t.Errorf("Loopback(%q) = %t, want %t", address, got, want)
		}
	}
}

func FuzzLoadFile(f *testing.F) {
	f.Add("listen: 127.0.0.1:1\n")
	f.Add(`{"partitions": 3}`)
	f.Add("a: &x [*x]")
	name := filepath.Join(f.TempDir(), "timerbus.yaml")
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		config, err := Load(Sources{File: name})
		if err == nil && config.Check() != nil {
			t.Errorf("accepted %+v", config)
		}
	})
}
