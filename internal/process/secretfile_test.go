package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadReadsSecretsFromFiles(t *testing.T) {
	for variable, field := range map[string]func(*Config) string{
		"TIMERBUS_TOKEN_FILE":          func(c *Config) string { return c.Token },
		"TIMERBUS_STORE_FILE":          func(c *Config) string { return c.Store },
		"TIMERBUS_BUS_FILE":            func(c *Config) string { return c.Bus },
		"TIMERBUS_CALLBACK_PROXY_FILE": func(c *Config) string { return c.CallbackProxy },
	} {
		environ := []string{variable + "=" + file(t, "http://hush@host\n")}
		got, explained, err := Explain(Sources{Environ: environ})
		if err != nil || field(&got) != "http://hush@host" || !HasSecretFiles(environ) {
			t.Errorf("%s: %q, %v", variable, field(&got), err)
		}
		for _, v := range explained {
			if named := v.Source == variable; named != (v.Env+"_FILE" == variable) || named && v.Origin != FromEnvironment {
				t.Errorf("%s: %s is from %s %q", variable, v.Name, v.Origin, v.Source)
			}
		}
	}
	keys := "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	if got, err := Load(Sources{Environ: []string{"TIMERBUS_SECRET_KEY_FILE=" + file(t, keys)}}); err != nil || got.SecretKey != keys {
		t.Errorf("secret key %q, %v", got.SecretKey, err)
	}
	if HasSecretFiles([]string{"TIMERBUS_TOKEN=x", "TIMERBUS_LISTEN_FILE=x"}) {
		t.Error("there is no file with a secret")
	}
}

func TestLoadRefusesSecretFiles(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, maxSecret+1), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := file(t, "\n")
	for want, environ := range map[string][]string{
		"TIMERBUS_TOKEN_FILE: stat /nowhere":                             {"TIMERBUS_TOKEN_FILE=/nowhere"},
		"TIMERBUS_TOKEN_FILE: file " + empty + " is empty":               {"TIMERBUS_TOKEN_FILE=" + empty},
		"is larger than 65536 bytes":                                     {"TIMERBUS_TOKEN_FILE=" + large},
		"TIMERBUS_TOKEN and TIMERBUS_TOKEN_FILE exclude each other":      {"TIMERBUS_TOKEN=a", "TIMERBUS_TOKEN_FILE=" + file(t, "b")},
		"TIMERBUS_LISTEN_FILE is not a setting: want one of TIMERBUS_AL": {"TIMERBUS_LISTEN_FILE=/x"}, // not secret
	} {
		if _, err := Load(Sources{Environ: environ}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", environ, err, want)
		}
	}
}
