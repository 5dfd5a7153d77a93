package access

import (
	"slices"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Verb is a kind of operation.
type Verb string

// The verbs. No verb includes another one.
const (
	// Read allows gets and lists. On all namespaces it also allows /metrics.
	Read Verb = "read"
	// Write allows creating, changing, deleting and retrying timers. Its answers contain these timers.
	Write Verb = "write"
	// Admin allows creating and changing namespaces. On all namespaces it also allows managing API keys.
	Admin Verb = "admin"
)

// Verbs returns all verbs.
func Verbs() []Verb { return []Verb{Read, Write, Admin} }

// AllNamespaces is the pattern that matches every namespace. Rights that belong to no namespace require it.
const AllNamespaces = "*"

// Limits of grants.
const (
	MaxGrants   = 32 // of a key
	MaxPatterns = 32 // of a grant
)

// Grant allows verbs in the namespaces that match a pattern, in which each * matches any run of characters.
type Grant struct {
	Verbs      []Verb   `json:"verbs"`
	Namespaces []string `json:"namespaces"`
}

// Check returns an error that begins with the name of the field.
func (g *Grant) Check(field string) error {
	if len(g.Verbs) == 0 || len(g.Verbs) > len(Verbs()) {
		return timer.Invalid(field+".verbs", g.Verbs, "one or more of read, write and admin")
	}
	for _, v := range g.Verbs {
		if !slices.Contains(Verbs(), v) {
			return timer.Invalid(field+".verbs", string(v), "read, write or admin")
		}
	}
	if len(g.Namespaces) == 0 || len(g.Namespaces) > MaxPatterns {
		return timer.Invalid(field+".namespaces", g.Namespaces, "1 to 32 patterns, such as billing, billing-* or *")
	}
	for _, p := range g.Namespaces {
		if p != AllNamespaces && timer.CheckNamespace(strings.ReplaceAll(p, "*", "a")) != nil {
			return timer.Invalid(field+".namespaces", p, "the name of a namespace, with * for any run of characters")
		}
	}
	return nil
}

// String returns the form that ParseGrant parses.
func (g *Grant) String() string {
	verbs := make([]string, len(g.Verbs))
	for i, v := range g.Verbs {
		verbs[i] = string(v)
	}
	return strings.Join(verbs, ",") + "@" + strings.Join(g.Namespaces, ",")
}

// ParseGrant parses verbs and patterns, such as read,write@billing,billing-*.
func ParseGrant(field, text string) (Grant, error) {
	verbs, patterns, ok := strings.Cut(text, "@")
	if !ok {
		return Grant{}, timer.Invalid(field, text, "verbs and namespaces, such as read,write@billing or read@*")
	}
	var g Grant
	for v := range strings.SplitSeq(verbs, ",") {
		g.Verbs = append(g.Verbs, Verb(v))
	}
	g.Namespaces = strings.Split(patterns, ",")
	return g, g.Check(field)
}

// Caller is the sender of a request. The zero Caller may do nothing.
type Caller struct {
	// Name is for people: "token", "key NAME", or the subject of an identity provider.
	Name   string
	Grants []Grant
}

// Anyone is the caller of all requests where no credential is required.
func Anyone() Caller { return Caller{Name: "anyone", Grants: everything()} }

func everything() []Grant { return []Grant{{Verbs: Verbs(), Namespaces: []string{AllNamespaces}}} }

// May reports whether the caller may do something in a namespace.
func (c *Caller) May(do Verb, namespace string) bool {
	return c.any(do, func(pattern string) bool { return timer.MatchPattern(pattern, namespace) })
}

// MayEverywhere reports whether the caller may do something that concerns all namespaces.
func (c *Caller) MayEverywhere(do Verb) bool {
	return c.any(do, func(pattern string) bool { return pattern == AllNamespaces })
}

func (c *Caller) any(do Verb, in func(pattern string) bool) bool {
	return slices.ContainsFunc(c.Grants, func(g Grant) bool {
		return slices.Contains(g.Verbs, do) && slices.ContainsFunc(g.Namespaces, in)
	})
}

// Rights describes the grants for an error message.
func (c *Caller) Rights() string {
	if len(c.Grants) == 0 {
		return "no grant"
	}
	return "only " + Format(c.Grants)
}

// Format returns the grants as text, separated by spaces.
func Format(grants []Grant) string {
	texts := make([]string, len(grants))
	for i := range grants {
		texts[i] = grants[i].String()
	}
	return strings.Join(texts, " ")
}
