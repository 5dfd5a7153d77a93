package access_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestParseGrant(t *testing.T) {
	for _, text := range []string{"read@*", "read,write@billing,billing-*", "admin,read,write@a.b_c-d"} {
		g, err := access.ParseGrant("grant", text)
		if err != nil || g.String() != text {
			t.Errorf("%s: parsed as %s, %v", text, g.String(), err)
		}
	}
	for text, want := range map[string]string{
		"":                                 `grant: ""`,
		"read":                             `grant: "read"`,
		"@a":                               `grant.verbs: ""`,
		"read,delete@a":                    `grant.verbs: "delete"`,
		"read,read,read,read@a":            `grant.verbs: `,
		"read@":                            `grant.namespaces: ""`,
		"read@a b":                         `grant.namespaces: "a b"`,
		"read@" + strings.Repeat("a,", 33): `grant.namespaces: `,
	} {
		_, err := access.ParseGrant("grant", text)
		var invalid *timer.InvalidError
		if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want an error that begins with %s", text, err, want)
		}
	}
}

// Every combination of a verb, a pattern and a namespace.
func TestCallerMay(t *testing.T) {
	matches := map[string][]string{
		"*": {"a", "team-a", "team-b"}, "team-*": {"team-a", "team-b"}, "*-b": {"team-b"}, "a": {"a"}, "other": nil,
	}
	for pattern, in := range matches {
		for _, granted := range access.Verbs() {
			caller := access.Caller{Grants: []access.Grant{{Verbs: []access.Verb{granted}, Namespaces: []string{pattern}}}}
			for _, do := range access.Verbs() {
				for _, namespace := range []string{"a", "team-a", "team-b"} {
					want := do == granted && strings.Contains(" "+strings.Join(in, " ")+" ", " "+namespace+" ")
					if got := caller.May(do, namespace); got != want {
						t.Errorf("%s@%s: may %s in %s: %v, want %v", granted, pattern, do, namespace, got, want)
					}
				}
				if got, want := caller.MayEverywhere(do), do == granted && pattern == "*"; got != want {
					t.Errorf("%s@%s: may %s everywhere: %v, want %v", granted, pattern, do, got, want)
				}
			}
		}
	}
	var nobody access.Caller
	if nobody.May(access.Read, "a") || nobody.MayEverywhere(access.Read) {
		t.Error("the zero Caller may read")
	}
}
