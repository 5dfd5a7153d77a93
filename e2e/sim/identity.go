package sim

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// identity is the token endpoint of the callbacks of one namespace. Tokens are numbers, from 1.
type identity struct {
	world *World

	mu sync.Mutex
	// ends are the times at which the tokens expire, or are revoked.
	ends []issued
	// running are the requests of each process.
	running map[*life]int
}

type issued struct {
	until   time.Duration
	revoked bool
}

func newIdentity(w *World) *identity { return &identity{world: w, running: map[*life]int{}} }

// tokens makes callbacks of some lives authenticate. If the life has faults, the token endpoint fails and tokens are revoked.
func (r *dice) tokens(p *Plan) {
	if p.Seed%kinds == 0 || p.Circuit > 0 || p.has(func(o *Op) bool { return kills(o.Script) }) || !r.chance(20) {
		return
	}
	p.Lifetime = r.between(2*time.Second, 40*time.Second)
	if p.Seed%kinds == 4 || p.Seed%kinds == slowCommits {
		return
	}
	for range 1 + r.IntN(3) {
		f := Fault{Kind: TokensDown, At: r.between(0, p.Length*3/4), Count: r.IntN(2)}
		f.For = min(r.between(time.Second, 40*time.Second), p.Length-f.At)
		if r.chance(40) {
			f = Fault{Kind: TokensRevoked, At: r.between(0, p.Length)}
		}
		p.Faults = append(p.Faults, f)
	}
}

// keys are the dispatchers' keys.
func keys() encryption.Keyring {
	ring, err := encryption.ParseKeys(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", encryption.KeySize))))
	must(err)
	return ring
}

const clientSecret = "secret of the client"

func callbackAuth() store.CallbackAuth {
	secret, err := keys().Encrypt(store.AuthContext(namespace), []byte(clientSecret))
	must(err)
	return store.CallbackAuth{Type: store.AuthOAuth2, TokenURL: "http://identity.test/token", ClientID: "sim", EncryptedSecret: secret}
}

// TokenFetcher implements dispatcher.TokenClient.
func (r *receiver) TokenFetcher(c dispatcher.Credentials, _ *dispatcher.Profile) dispatcher.FetchToken {
	return func(ctx context.Context) (dispatcher.Token, error) {
		w := r.life.node.world
		if c.ClientSecret != clientSecret || c.ClientID != "sim" {
			w.oracle.violate("authorization", "the credentials are %v", c)
		}
		return w.identity.fetch(ctx, r.life)
	}
}

// fetch issues a token after a moment, while the endpoint is available.
func (i *identity) fetch(ctx context.Context, by *life) (dispatcher.Token, error) {
	w := i.world
	if n := i.begins(by, 1); n > 1 {
		w.oracle.violate("authorization", "%s makes %d requests of tokens at the same time", by.node, n)
	}
	defer i.begins(by, -1)
	down := func(f *Fault) bool {
		return f.Kind == TokensDown && w.since() >= f.At && w.since() < f.At+f.For && !w.isHealed()
	}
	for n := range w.plan.Faults {
		f := &w.plan.Faults[n]
		if down(f) && f.Count == 0 {
			return dispatcher.Token{}, &dispatcher.TokenError{Reason: "identity.test answered 503"}
		}
		if down(f) {
			sleep(ctx, f.At+f.For-w.since())
		}
	}
	sleep(ctx, 5*time.Millisecond)
	if !by.alive() || ctx.Err() != nil {
		return dispatcher.Token{}, &dispatcher.TokenError{Reason: "identity.test did not answer in time"}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ends = append(i.ends, issued{until: w.since() + w.plan.Lifetime})
	w.note("%s  gets token %d", by.node, len(i.ends))
	return dispatcher.Token{Value: strconv.Itoa(len(i.ends)), Lifetime: w.plan.Lifetime}, nil
}

func (i *identity) begins(by *life, n int) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running[by] += n
	return i.running[by]
}

func (i *identity) revoke() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n := range i.ends {
		i.ends[n].revoked = true
	}
}

// accepts reports whether a receiver accepts the header, and whether it may have been sent: the token was issued and has not
// expired.
func (i *identity) accepts(header string) (accepted, valid bool) {
	text, bearer := strings.CutPrefix(header, "Bearer ")
	n, err := strconv.Atoi(text)
	i.mu.Lock()
	defer i.mu.Unlock()
	if !bearer || err != nil || n < 1 || n > len(i.ends) {
		return false, false
	}
	token := i.ends[n-1]
	return !token.revoked, i.world.since() < token.until
}

// deniesCall is denies for the callback of a timer.
func (o *oracle) deniesCall(d *delivered, request *dispatcher.Request) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.denies(d, request)
}

// denies checks the header Authorization of a call, and reports whether the receiver answers 401.
func (o *oracle) denies(d *delivered, request *dispatcher.Request) bool {
	if o.world.plan.Lifetime == 0 || d.Namespace != namespace {
		if request.Authorization != "" {
			o.broken("authorization", "%s was called with the header %q", d.TimerID, request.Authorization)
		}
		return false
	}
	accepted, valid := o.world.identity.accepts(request.Authorization)
	if !valid {
		o.broken("authorization", "%s was called with the header %q, and no such token is valid", d.TimerID, request.Authorization)
	}
	if accepted {
		return false
	}
	// The attempt ends after the request of another token, which may take some time.
	e := end{at: d.local, later: true, limit: timer.Never}
	if id, err := number(request.Timer.CallbackURL); err == nil {
		if s := o.find(id); s != nil && s.op.Limit > 0 {
			e.limit = d.ExecuteAt.Add(s.op.Limit)
		}
	}
	o.denied[d.attempt()] = e
	o.counts.Denied++
	o.world.note("%s  is denied: %s attempt %d", d.by.node, d.TimerID, d.Attempt)
	return true
}
