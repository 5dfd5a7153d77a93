package backend

import (
	"strings"
	"testing"
)

func TestRotatedCredentials(t *testing.T) {
	for _, c := range []struct{ before, after, user string }{
		{"postgres://a:one@db:5432/x?sslmode=require", "postgres://b:t%40wo@db:5432/x?sslmode=require", "b:t%40wo"},
		{"mysql://a:one@db/x", "mysql://a:two@db/x", "a:two"},
		{"nats://old@a:1,b:2?replicas=3", "nats://new@a:1,b:2?replicas=3", "new"},
		{"kafka://a:one@a:1,[::1]:2", "kafka://a:two@a:1,[::1]:2", "a:two"},
		{"socks5://a:one@proxy:1080", "socks5://a:@proxy:1080", "a:"},
		{"postgres://a:one@db/x?b=1&a=2", "postgres://a:two@db/x?a=2&b=1", "a:two"},
	} {
		user, err := Rotated(c.before, c.after)
		if err != nil || user.String() != c.user {
			t.Errorf("%s, %s: %v, %v, want %s", c.before, c.after, user, err, c.user)
		}
	}
}

func TestOtherChangesOfURLsAreNotRotations(t *testing.T) {
	const before = "postgres://a:hush@db:5432/x?sslmode=require"
	for after, want := range map[string]string{
		"postgres://a:hush2@other:5432/x?sslmode=require":                    "the host",
		"postgres://a:hush2@db:5433/y?sslmode=require":                       "the host, the path",
		"postgres://a:hush2@db:5432/x?sslmode=disable":                       "the parameter sslmode",
		"postgres://a:hush2@db:5432/x?sslmode=require&application_name=hush": "the parameter application_name",
		"postgres://a:hush2@db:5432/x":                                       "the parameter sslmode",
		"mysql://a:hush2@db:5432/x?sslmode=require":                          "the scheme",
		"postgres://a@db:5432/x?sslmode=require":                             "whether it has a user and a password",
		"postgres://db:5432/x?sslmode=require":                               "whether it has a user and a password",
		"postgres://a:hush?2@db:5432/x?sslmode=require":                      "the address",
		"postgres://a:hu%zz@db:5432/x?sslmode=require":                       "the address",
		"postgres://a:hush2":                                                 "the host, the parameter sslmode, the path",
		"sqlite:hush":                                                        "the address",
		"":                                                                   "the address",
	} {
		user, err := Rotated(before, after)
		if user != nil || err == nil || err.Error() != want || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, %v, want an error with %s", after, user, err, want)
		}
	}
	const overridden = "postgres://a:one@db/x?password=hush"
	if user, err := Rotated(overridden, strings.Replace(overridden, "one", "two", 1)); user != nil || err == nil ||
		!strings.Contains(err.Error(), "which the parameters override") {
		t.Errorf("an overridden password: %v, %v", user, err)
	}
}
