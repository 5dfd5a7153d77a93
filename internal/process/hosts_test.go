package process

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		allowed, listen string
		accepted        []string
		refused         []string
	}{
		{
			"", "127.0.0.1:8080",
			[]string{
				"127.0.0.1:8080", "127.0.0.1", "127.9.9.9:1", "localhost", "localhost:9999", "LocalHost.", "app.localhost:80",
				"[::1]:8080", "[::1]", "::1", "[::ffff:127.0.0.1]:80",
			},
			[]string{
				"", ":8080", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost",
				"10.0.0.1:8080", "[fe80::1]:80", "0.0.0.0:8080", "localhost:8080:8080", ".localhost.", "evil.example#localhost",
			},
		},
		{
			" timers.internal, 10.0.0.7 ,[fd00::7],*.SVC.example,", "127.0.0.1:8080",
			[]string{"timers.internal", "TIMERS.internal.:80", "10.0.0.7:8080", "[fd00::7]:80", "a.svc.example", "a.b.svc.example:1", "localhost"},
			[]string{"x.timers.internal", "10.0.0.8", "svc.example", "asvc.example", ".svc.example", "evil.example"},
		},
		{"a.example", "10.0.0.7:8080", []string{"a.example", "10.0.0.7:8080", "127.0.0.1"}, []string{"10.0.0.8", "evil.example"}},
		{"a.example", "[::]:8080", []string{"a.example", "[::1]:8080"}, []string{"[::]:8080", "0.0.0.0:8080"}},
		{"any", "127.0.0.1:8080", []string{"evil.example", ""}, nil},
	} {
		hosts, err := ParseHosts(c.allowed)
		if err != nil {
			t.Fatal(err)
		}
		hosts = hosts.Listening(c.listen)
		for _, host := range c.accepted {
			if err := hosts.Check(host); err != nil {
				t.Errorf("%q on %s: %v", c.allowed, c.listen, err)
			}
		}
		for _, host := range c.refused {
			err := hosts.Check(host)
			if err == nil {
				t.Errorf("%q on %s: %q was accepted", c.allowed, c.listen, host)
				continue
			}
			for _, part := range []string{`"` + host + `"`, "--allowed-hosts", "TIMERBUS_ALLOWED_HOSTS"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not name %s", err, part)
				}
			}
		}
	}
	var all *Hosts
	if err := all.Check("evil.example"); err != nil {
		t.Errorf("no Hosts: %v", err)
	}
}

func TestParseHostsRefuses(t *testing.T) {
	for _, text := range []string{
		"http://a.example", "a.example:8080", "a/b", "a b", "*", "a.*.example", "*example", "*.", "[::1]:80", "a..b", ".a", "-", "a\x00",
	} {
		if hosts, err := ParseHosts(text); err == nil || !strings.Contains(err.Error(), "allowed-hosts") {
			t.Errorf("%q: %+v, %v", text, hosts, err)
		}
	}
}

func TestHostsGuard(t *testing.T) {
	hosts, err := ParseHosts("")
	if err != nil {
		t.Fatal(err)
	}
	guarded := hosts.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for host, want := range map[string]int{"localhost:1": http.StatusNoContent, "evil.example": http.StatusForbidden} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/metrics", nil)
		got := httptest.NewRecorder()
		guarded.ServeHTTP(got, r)
		if got.Code != want {
			t.Errorf("%s answered %d, want %d", host, got.Code, want)
		}
	}
}

func FuzzParseHosts(f *testing.F) {
	f.Add("a.example,*.b.example,10.0.0.1,[::1]", "a.example:80")
	f.Add("any", "[::1")
	f.Fuzz(func(t *testing.T, text, host string) {
		hosts, err := ParseHosts(text)
		if err != nil {
			return
		}
		if err := hosts.Check(host); err == nil && text == "" && !strings.Contains(strings.ToLower(host), "localhost") && !strings.ContainsAny(host, ":1") {
			t.Errorf("%q was accepted without being allowed", host)
		}
		if strings.TrimSpace(text) != "" && !strings.ContainsAny(text, ",*[ \t\n\v\f\r\u0085\u00a0") {
			if err := hosts.Check(text); err != nil {
				t.Errorf("%q is allowed, but %v", text, err)
			}
		}
	})
}
