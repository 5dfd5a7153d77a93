package ingest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

// routes are the requests of the API for a namespace, with the verb that each needs. Rights beyond namespaces have no %s.
var routes = map[string]struct {
	verb access.Verb
	body string
}{
	"timers/create":              {access.Write, `{"namespace":"%s","id":"a","executeIn":"1h"}`},
	"timers/get":                 {access.Read, `{"namespace":"%s","id":"a"}`},
	"timers/update":              {access.Write, `{"namespace":"%s","id":"a","executeIn":"1h"}`},
	"timers/delete":              {access.Write, `{"namespace":"%s","id":"a"}`},
	"timers/list":                {access.Read, `{"namespace":"%s"}`},
	"timers/count":               {access.Read, `{"namespace":"%s"}`},
	"timers/forecast":            {access.Read, `{"namespace":"%s","to":"2040-01-01T00:00:00Z","bucket":"50000h"}`},
	"timers/history":             {access.Read, `{"namespace":"%s","id":"a"}`},
	"timers/retry":               {access.Write, `{"namespace":"%s","id":"a"}`},
	"timers/run-now":             {access.Write, `{"namespace":"%s","id":"a"}`},
	"timers/delete-matching":     {access.Write, `{"namespace":"%s","correlationId":"c"}`},
	"timers/reschedule-matching": {access.Write, `{"namespace":"%s","correlationId":"c","executeIn":"1h"}`},
	"timers/pause":               {access.Write, `{"namespace":"%s","id":"a"}`},
	"timers/pause-matching":      {access.Write, `{"namespace":"%s"}`},
	"timers/resume":              {access.Write, `{"namespace":"%s","id":"a"}`},
	"timers/resume-matching":     {access.Write, `{"namespace":"%s"}`},
	"timers/retry-matching":      {access.Write, `{"namespace":"%s","status":"dead"}`},
	"timers/purge-matching":      {access.Write, `{"namespace":"%s","status":"dead"}`},
	"timers/batch-create":        {access.Write, `{"timers":[{"namespace":"%s","id":"a","executeIn":"1h"}]}`},
	"timers/batch-delete":        {access.Write, `{"timers":[{"namespace":"%s","id":"a"}]}`},
	"schedules/create":           {access.Write, `{"namespace":"%s","id":"a","specs":[{"every":"1h"}]}`},
	"schedules/get":              {access.Read, `{"namespace":"%s","id":"a"}`},
	"schedules/update":           {access.Write, `{"namespace":"%s","id":"a","count":9}`},
	"schedules/delete":           {access.Write, `{"namespace":"%s","id":"a"}`},
	"schedules/list":             {access.Read, `{"namespace":"%s"}`},
	"schedules/pause":            {access.Write, `{"namespace":"%s","id":"a"}`},
	"schedules/resume":           {access.Write, `{"namespace":"%s","id":"a"}`},
	"schedules/pause-matching":   {access.Write, `{"namespace":"%s"}`},
	"schedules/resume-matching":  {access.Write, `{"namespace":"%s"}`},
	"schedules/delete-matching":  {access.Write, `{"namespace":"%s","status":"active"}`},
	"schedules/batch-create":     {access.Write, `{"schedules":[{"namespace":"%s","id":"a","specs":[{"every":"1h"}]}]}`},
	"schedules/batch-delete":     {access.Write, `{"schedules":[{"namespace":"%s","id":"a"}]}`},
	"schedules/trigger":          {access.Write, `{"namespace":"%s","id":"a"}`},
	"schedules/backfill":         {access.Write, `{"namespace":"%s","id":"a","from":"2020-01-01T00:00:00Z","to":"2020-01-01T01:00:00Z"}`},
	"schedules/preview":          {access.Read, `{"namespace":"%s","specs":[{"every":"1h"}]}`},
	"schedules/history":          {access.Read, `{"namespace":"%s","id":"a"}`},
	"namespaces/create":          {access.Admin, `{"name":"%s"}`},
	"namespaces/get":             {access.Read, `{"name":"%s"}`},
	"namespaces/list":            {access.Read, `{"limit":1000}`},
	"namespaces/update":          {access.Admin, `{"name":"%s","settings":{"historyRetention":"2h"}}`},
	"namespaces/delete":          {access.Admin, `{"name":"%s","dryRun":true}`},
	"shards/list":                {access.Read, `{"namespace":"%s"}`},
	"flows/list":                 {access.Read, `{"namespace":"%s"}`},
	"caller/get":                 {access.Read, `{}`},
	"targets/list":               {access.Read, `{"namespace":"%s"}`},
	"events/stream":              {access.Read, `{"namespace":"%s"}`},
	"clock/get":                  {access.Read, `{}`},
	"clock/advance":              {access.Admin, `{"by":"1h"}`},
	"clock/set":                  {access.Admin, `{"time":"2030-01-31T09:00:00Z"}`},
	"keys/create":                {access.Admin, `{"name":"k","grants":[{"verbs":["read"],"namespaces":["*"]}]}`},
	"keys/list":                  {access.Admin, `{}`},
	"keys/rotate":                {access.Admin, `{"name":"k"}`},
	"keys/revoke":                {access.Admin, `{"name":"k"}`},
}

// TestRights checks every route with every verb of an API key in its own namespaces, in others and in all.
func TestRights(t *testing.T) {
	var keys *access.Keys
	w := newWorld(t, func(c *ingest.Config) {
		keys = keysOf(c)
		c.Access = access.New(access.Options{Token: access.NewToken("service"), Keys: keys})
	})
	w.svc.EndStreams() // an accepted stream ends after its first event
	namespaces := []string{"team-a", "team-b", "other"}
	for _, name := range namespaces {
		w.makeNamespace(name, 1)
	}
	patterns := map[string][]string{"*": namespaces, "team-*": {"team-a", "team-b"}, "other": {"other"}}
	for path := range document.paths(t) {
		if _, known := routes[path]; !known {
			t.Errorf("%s has no line in this test", path)
		}
	}
	cells := 0
	for pattern, in := range patterns {
		for _, verb := range access.Verbs() {
			grant := access.Grant{Verbs: []access.Verb{verb}, Namespaces: []string{pattern}}
			_, token, err := keys.Create(t.Context(), fmt.Sprint(verb, len(in)), []access.Grant{grant}, 0, "token")
			if err != nil {
				t.Fatal(err)
			}
			for path, route := range routes {
				for _, namespace := range namespaces {
					cells++
					allowed := verb == route.verb && slices.Contains(in, namespace)
					body := route.body
					switch {
					case strings.Contains(body, "%s"):
						body = fmt.Sprintf(body, namespace)
					case path == "namespaces/list", path == "caller/get":
						allowed = true // one shows the readable ones, the other the caller's own rights
					default:
						allowed = verb == route.verb && pattern == "*"
					}
					got := w.post(path, body, "Authorization", "Bearer "+token)
					if refused := got.refusedRight(); refused == allowed || got.status == http.StatusUnauthorized {
						t.Errorf("%s@%s, %s %s: allowed is %v, want %v: %d %s", verb, pattern, path, body, !refused, allowed, got.status, got.text)
					}
				}
			}
		}
	}
	if want := len(patterns) * len(access.Verbs()) * len(routes) * len(namespaces); cells != want || cells < 500 {
		t.Errorf("%d cells, want %d", cells, want)
	}
}

// refusedRight reports whether the request, or the only item of a batch, was refused for lack of a right.
func (r reply) refusedRight() bool {
	code := r.field("error")
	if items, ok := r.field("results").([]any); ok {
		item, _ := items[0].(map[string]any)
		code = reply{json: item}.field("error", "error")
	}
	return code == "FORBIDDEN"
}

// A list of namespaces shows those that the caller may read.
func TestListShowsReadableNamespaces(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) {
		c.Access = access.New(access.Options{Verify: func(context.Context, string) (access.Caller, error) {
			g, err := access.ParseGrant("grant", "read@team-*")
			return access.Caller{Name: "someone", Grants: []access.Grant{g}}, err
		}})
	})
	w.makeNamespace("team-a", 1)
	w.makeNamespace("secret", 1)
	got := w.post("namespaces/list", "{}", "Authorization", "Bearer a.b.c").must(t, http.StatusOK)
	if strings.Contains(got.text, "secret") || strings.Contains(got.text, `"default"`) || !strings.Contains(got.text, `"team-a"`) {
		t.Error(got.text)
	}
	got = w.post("timers/get", `{"namespace":"secret","id":"a"}`, "Authorization", "Bearer a.b.c").must(t, http.StatusForbidden)
	want := `someone needs the right to read in namespace "secret", and has only read@team-*`
	if got.field("message") != want || got.field("details", "namespace") != "secret" || got.field("details", "verb") != "read" {
		t.Errorf("answered %s, want %s", got.text, want)
	}
}

// TestGetCaller: each caller sees its own grants.
func TestGetCaller(t *testing.T) {
	var keys *access.Keys
	w := newWorld(t, func(c *ingest.Config) {
		keys = keysOf(c)
		c.Access = access.New(access.Options{Token: access.NewToken("service"), Keys: keys})
	})
	grants := []access.Grant{{Verbs: []access.Verb{access.Read}, Namespaces: []string{"team-*", "other"}}}
	_, key, err := keys.Create(t.Context(), "ui", grants, 0, "token")
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{
		"service": `{"grants":[{"namespaces":["*"],"verbs":["read","write","admin"]}],"name":"token"}`,
		key:       `{"grants":[{"namespaces":["team-*","other"],"verbs":["read"]}],"name":"key ui"}`,
	} {
		r := w.post("caller/get", `{}`, "Authorization", "Bearer "+token).must(t, http.StatusOK)
		if strings.TrimSpace(r.text) != want {
			t.Errorf("answered %s, want %s", r.text, want)
		}
	}
	w.post("caller/get", `{}`).must(t, http.StatusUnauthorized)
	w.post("caller/get", `{"name":"x"}`, "Authorization", "Bearer service").must(t, http.StatusBadRequest)
	open := newWorld(t)
	if r := open.post("caller/get", `{}`).must(t, http.StatusOK); r.field("name") != "anyone" {
		t.Errorf("without a credential: %s", r.text)
	}
}

func TestKeyRoutes(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) {
		c.Access = access.New(access.Options{Token: access.NewToken("service"), Keys: keysOf(c)})
	})
	admin := []string{"Authorization", "Bearer service"}
	made := w.post("keys/create", `{"name":"ci","expiresIn":"30d","grants":[{"verbs":["read","write"],"namespaces":["billing-*"]}]}`, admin...).
		must(t, http.StatusOK)
	token, _ := made.field("token").(string)
	if !strings.HasPrefix(token, "tb_ci_") || made.field("key", "createdBy") != "token" {
		t.Errorf("created %s", made.text)
	}
	if got := w.post("keys/create", `{"name":"ci","grants":[{"verbs":["read"],"namespaces":["*"]}]}`, admin...); got.status != 409 ||
		got.field("error") != "KEY_EXISTS" || got.field("details", "name") != "ci" {
		t.Errorf("created twice: %s", got.text)
	}
	rotated := w.post("keys/rotate", `{"name":"ci","overlap":"1m","expiresAt":"2031-01-01T00:00:00Z"}`, admin...).must(t, http.StatusOK)
	if tokens, _ := rotated.field("key", "tokens").([]any); len(tokens) != 2 || rotated.field("token") == token {
		t.Errorf("rotated %s", rotated.text)
	}
	list := w.post("keys/list", `{}`, admin...).must(t, http.StatusOK)
	if strings.Contains(list.text, "tb_") || !strings.Contains(list.text, `"billing-*"`) || !strings.Contains(list.text, "2031-01-01T00:00:00.000Z") {
		t.Errorf("list %s", list.text)
	}
	w.post("keys/revoke", `{"name":"ci"}`, admin...).must(t, http.StatusNoContent)
	for _, path := range []string{"keys/revoke", "keys/rotate"} {
		if got := w.post(path, `{"name":"ci"}`, admin...); got.status != 404 || got.field("error") != "KEY_NOT_FOUND" {
			t.Errorf("%s of a revoked key: %s", path, got.text)
		}
	}
	for body, want := range map[string]string{
		`{"grants":[{"verbs":["read"],"namespaces":["*"]}]}`: "name: nothing",
		`{"name":"a"}`:                               "grants: nothing",
		`{"name":"a","grants":[]}`:                   "grants: nothing",
		`{"name":"a b","grants":[]}`:                 `name: "a b"`,
		`{"name":"a","grants":{}}`:                   "grants: {}",
		`{"name":"a","grants":[{}]}`:                 "grants[0].verbs: ",
		`{"name":"a","grants":[{"verbs":["read"]}]}`: "grants[0].namespaces: ",
		`{"name":"a","grants":[{"verbs":["write","rule"],"namespaces":["*"]}]}`:                                             `grants[0].verbs: "rule"`,
		`{"name":"a","grants":[{"verbs":[1],"namespaces":["*"]}]}`:                                                          "grants[0].verbs: 1",
		`{"name":"a","grants":[{"verbs":["read"],"namespaces":["*"],"x":1}]}`:                                               "grants[0].x: 1",
		`{"name":"a","grants":[{"verbs":["read"],"namespaces":["a b"]}]}`:                                                   `grants[0].namespaces: "a b"`,
		`{"name":"a","grants":[{"verbs":["read"],"namespaces":["*"]}],"expiresAt":"2020-01-01T00:00:00Z"}`:                  "expiresAt: ",
		`{"name":"a","grants":[{"verbs":["read"],"namespaces":["*"]}],"expiresIn":"0s"}`:                                    "expiresAt: ",
		`{"name":"a","grants":[{"verbs":["read"],"namespaces":["*"]}],"expiresIn":"1h","expiresAt":"2031-01-01T00:00:00Z"}`: "expiresIn: ",
	} {
		if got := w.post("keys/create", body, admin...); got.status != 400 || !strings.HasPrefix(fmt.Sprint(got.field("message")), want) {
			t.Errorf("%s: answered %d %s, want %s…", body, got.status, got.text, want)
		}
	}
	if got := w.post("keys/rotate", `{"name":"ci","overlap":"31d"}`, admin...); got.status != 400 || !strings.Contains(got.text, "0s to 30d") {
		t.Errorf("a long overlap: %s", got.text)
	}
}

// Without a required credential, a key would protect nothing.
func TestKeysNeedAToken(t *testing.T) {
	w := newWorld(t)
	got := w.post("keys/create", `{"name":"ci","grants":[{"verbs":["read"],"namespaces":["*"]}]}`)
	if got.status != http.StatusForbidden || !strings.Contains(got.text, "start the service with a token") {
		t.Errorf("answered %d %s", got.status, got.text)
	}
}

// keysOf returns the API keys in a configuration's store.
func keysOf(c *ingest.Config) *access.Keys {
	keys, _ := c.Store.(store.APIKeys)
	return access.NewKeys(keys, c.Clock)
}
