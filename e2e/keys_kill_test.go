package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
)

const (
	serviceToken = "the-token-of-the-service"
	// keyBound is the documented time for which a process may accept a key that was revoked, or refuse one that was
	// created (docs/operations.md).
	keyBound = 5 * time.Second
	// keyClocks is the longest difference between the clocks of a process and of the test.
	keyClocks = 500 * time.Millisecond
	// resumes is how long after its start or its thaw a process may answer 503, because its calls to the store have timed out.
	resumes = 3 * time.Second
	// probeEvery is the pause between two probes of a token on a process.
	probeEvery = 500 * time.Millisecond
	// overlap is that of rotations. Earlier tokens work at the end of their round, and no more at that of the third.
	overlap = 30 * time.Second
)

// keyToken is a token with the times of its life. A zero time means that it has not happened.
type keyToken struct {
	key, token string
	// born is when its creation was answered, dying when its revocation was sent, and dead when that was answered.
	born, dying, dead time.Time
	// ends is when the overlap of a rotation ends at the earliest, over when at the latest.
	ends, over time.Time
}

// valid reports whether the token must be accepted until a time, and revoked whether it must be refused from a time on.
func (k *keyToken) valid(until time.Time) bool {
	return (k.dying.IsZero() || until.Before(k.dying)) && (k.ends.IsZero() || until.Before(k.ends.Add(-keyClocks)))
}

func (k *keyToken) revoked(from time.Time) bool {
	return !k.dead.IsZero() && from.After(k.dead.Add(keyBound)) || !k.over.IsZero() && from.After(k.over.Add(keyBound+keyClocks))
}

// keyrings are the keys of one test, which several clients change.
type keyrings struct {
	t       *testing.T
	c       *cluster
	client  *http.Client
	ingests []*member

	mu     sync.Mutex
	tokens []*keyToken
	// disturbed is when each ingest was last killed or frozen, and until when it may answer 503.
	disturbed map[*member]time.Time
	frozen    map[*member]bool
	// Numbers for the log.
	accepted, refused, lost, unready, resumed int
}

// post sends a request. status is 0 if there is no answer.
func (k *keyrings) post(ctx context.Context, m *member, token, path, body string, into any) (status int) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL()+"/api/v1/"+path, bytes.NewBufferString(body))
	if err != nil {
		k.t.Error(err)
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := k.client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return 0
	}
	if into != nil && response.StatusCode == http.StatusOK {
		if err := json.Unmarshal(answer, into); err != nil {
			k.t.Errorf("%s answered %s: %v", path, answer, err)
		}
	}
	return response.StatusCode
}

// change sends a change of a key to an ingest and reports whether it was applied. Only the client of a key changes it.
func (k *keyrings) change(ctx context.Context, m *member, path, body string) (token string, ok bool) {
	var key struct{ Token string }
	status := k.post(ctx, m, serviceToken, path, body, &key)
	switch status {
	case 0, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "", false
	case http.StatusOK, http.StatusNoContent:
		return key.Token, true
	default:
		return "", status == http.StatusNotFound && path == "keys/revoke"
	}
}

// create creates a key; nil if the answer is missing.
func (k *keyrings) create(ctx context.Context, m *member, name string) *keyToken {
	token, ok := k.change(ctx, m, "keys/create", fmt.Sprintf(`{"name":%q,"grants":[{"verbs":["read","write"],"namespaces":["default"]}]}`, name))
	if !ok {
		return nil
	}
	return k.born(name, token)
}

// rotate rotates a key; nil if the answer is missing. The earlier token keeps its rights during the overlap.
func (k *keyrings) rotate(ctx context.Context, m *member, name string) *keyToken {
	k.each(name, func(token *keyToken) { token.ends = time.Now().Add(overlap) })
	token, ok := k.change(ctx, m, "keys/rotate", fmt.Sprintf(`{"name":%q,"overlap":%q}`, name, overlap))
	if !ok {
		return nil
	}
	k.each(name, func(token *keyToken) { token.over = time.Now().Add(overlap) })
	return k.born(name, token)
}

func (k *keyrings) born(name, token string) *keyToken {
	born := &keyToken{key: name, token: token, born: time.Now()}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tokens = append(k.tokens, born)
	return born
}

// revoke revokes a key on the first ingest that answers.
func (k *keyrings) revoke(ctx context.Context, first int, name string) {
	k.each(name, func(token *keyToken) { token.dying = time.Now() })
	for i := first; ctx.Err() == nil; i++ {
		call, cancel := context.WithTimeout(ctx, time.Second) // a frozen process does not answer
		_, ok := k.change(call, k.ingests[i%len(k.ingests)], "keys/revoke", fmt.Sprintf(`{"name":%q}`, name))
		cancel()
		if ok {
			k.each(name, func(token *keyToken) { token.dead = time.Now() })
			return
		}
	}
}

func (k *keyrings) each(name string, do func(*keyToken)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, token := range k.tokens {
		if token.key == name {
			do(token)
		}
	}
}

// probe creates a timer with a token and checks the answer. Each process and key has a separate timer, so that the requests do
// not wait for each other's row.
func (k *keyrings) probe(ctx context.Context, m *member, token *keyToken) {
	sent := time.Now()
	call, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	status := k.post(call, m, token.token, "timers/create", fmt.Sprintf(`{"id":"%s-%s","executeIn":"1h"}`, token.key, m.name), nil)
	if ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	at := func(when time.Time) string { return when.Sub(token.born).Round(time.Millisecond).String() }
	what := fmt.Sprintf("%s answered %d to a token of %s, sent %s and answered %s after its creation, revocation sent %s, answered %s",
		m.name, status, token.key, at(sent), at(now), at(token.dying), at(token.dead))
	if now.Sub(sent) > 2*time.Second && status != 0 {
		k.resumed++
	}
	switch status {
	case http.StatusOK, http.StatusAccepted:
		k.accepted++
		if token.revoked(sent) {
			k.t.Error("a revoked key was accepted too late: " + what)
		}
	case http.StatusUnauthorized:
		k.refused++
		if sent.After(token.born.Add(keyBound)) && token.valid(now) {
			k.t.Error("a valid key was refused: " + what)
		}
	case 0:
		k.lost++
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if k.unready++; now.After(k.disturbed[m].Add(resumes)) && !k.frozen[m] {
			k.t.Error("refused by an undisturbed process: " + what)
		}
	default:
		k.t.Error(what)
	}
}

// disturb runs a fault of an ingest and records it.
func (k *keyrings) disturb(m *member, fault func() error) {
	note := func(during bool) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.disturbed[m], k.frozen[m] = time.Now(), during
	}
	note(true)
	err := fault()
	note(false)
	if err != nil {
		k.t.Errorf("%s: %v", m.name, err)
	}
}

// churn creates, rotates and revokes keys on an ingest until ctx ends. The last keys stay.
func (k *keyrings) churn(ctx context.Context, client, round int) {
	m := k.ingests[client]
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("churn-%d-%d-%d", round, client, i)
		if k.create(ctx, m, name) == nil || k.rotate(ctx, m, name) == nil {
			pause(ctx, 20*time.Millisecond)
			continue
		}
		if i%3 != 0 {
			k.revoke(ctx, client, name)
		}
		pause(ctx, 200*time.Millisecond)
	}
}

// round plays one round: keys are revoked while an ingest is frozen, which then gets the requests that were sent to it in
// the meantime, and processes are killed while keys change.
func (k *keyrings) round(number int) {
	t := k.t
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop()
	ingests := slices.Clone(k.ingests)
	rand.Shuffle(len(ingests), func(i, j int) { ingests[i], ingests[j] = ingests[j], ingests[i] })
	frozen, killed := ingests[0], ingests[1]
	first := len(k.tokens)
	name := func(i int) string { return fmt.Sprintf("key-%d-%d", number, i) }
	const keys = 6
	for i := range keys {
		if k.create(ctx, ingests[i%3], name(i)) == nil || i%2 == 0 && k.rotate(ctx, ingests[(i+1)%3], name(i)) == nil {
			t.Fatalf("%s was not created", name(i))
		}
	}
	tokens := slices.Clone(k.tokens[first:])
	for _, token := range tokens {
		for _, m := range k.ingests {
			clients.Go(func() {
				for ctx.Err() == nil {
					clients.Go(func() { k.probe(ctx, m, token) })
					pause(ctx, probeEvery)
				}
			})
		}
	}
	for client := range k.ingests {
		clients.Go(func() { k.churn(ctx, client, number) })
	}
	pause(ctx, 500*time.Millisecond+rand.N(500*time.Millisecond))
	clients.Go(func() {
		k.disturb(frozen, func() error {
			if err := frozen.Signal(syscall.SIGSTOP); err != nil {
				return err
			}
			pause(ctx, keyBound+1500*time.Millisecond)
			return frozen.Signal(syscall.SIGCONT)
		})
	})
	pause(ctx, 300*time.Millisecond)
	for i := range keys / 2 {
		k.revoke(ctx, i, name(i))
	}
	for _, m := range []*member{killed, k.c.member("scheduler-1"), k.c.member("dispatcher-1"), killed} {
		pause(ctx, rand.N(300*time.Millisecond))
		restart := func() error {
			if err := m.Kill(); err != nil {
				return err
			}
			return m.Start(within(t, 2*patience)) // a busy machine may start the process only at the end of its startup
		}
		if m == killed {
			k.disturb(m, restart)
		} else if err := restart(); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	// Until the answers of the frozen process have arrived, and its keys are fresh again.
	pause(ctx, max(0, keyBound+3500*time.Millisecond-time.Since(tokens[0].born)))
	stop()
	clients.Wait()
	k.settled(number)
}

// settled checks the keys at the end of a round: every process knows those that were acknowledged, and accepts only their
// tokens.
func (k *keyrings) settled(number int) {
	ctx := within(k.t, patience)
	pause(ctx, keyBound)
	var list struct{ Keys []struct{ Name string } }
	if status := k.post(ctx, k.ingests[number%len(k.ingests)], serviceToken, "keys/list", `{}`, &list); status != http.StatusOK {
		k.t.Fatalf("keys/list answered %d", status)
	}
	exists := map[string]bool{}
	for _, key := range list.Keys {
		exists[key.Name] = true
	}
	for _, token := range k.tokens {
		switch {
		case token.dying.IsZero() && !exists[token.key]:
			k.t.Errorf("%s was acknowledged and is lost", token.key)
		case !token.dead.IsZero() && exists[token.key]:
			k.t.Errorf("%s was revoked and exists", token.key)
		}
		if token.dying.IsZero() || !token.dead.IsZero() {
			for _, m := range k.ingests {
				k.probe(ctx, m, token)
			}
		}
	}
}

// TestKeysAcrossKillsAndFreezes kills and freezes processes while API keys are created, rotated and revoked, and requests
// with these keys run. TIMERBUS_KEYS_ROUNDS, which `make kill-keys` sets, plays more rounds.
func TestKeysAcrossKillsAndFreezes(t *testing.T) {
	t.Parallel()
	c := &cluster{store: chosen().fresh(t), bus: ownNATS(t, ""), options: []harness.Option{harness.WithEnv("TIMERBUS_TOKEN=" + serviceToken)}}
	c.migrate(t, binary)
	c.start(t, 3, 1, 1)
	k := &keyrings{
		t: t, c: c, ingests: c.members[:3], disturbed: map[*member]time.Time{}, frozen: map[*member]bool{},
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	rounds := number(t, "TIMERBUS_KEYS_ROUNDS", 1)
	for number := range rounds {
		k.round(number)
	}
	for number := rounds; k.resumed == 0 && number < rounds+3; number++ {
		k.round(number) // on a slow machine, no request was waiting when a process was frozen
	}
	t.Logf("%d requests accepted, %d refused with 401, %d answered 503, %d without an answer, %d answered after a freeze; %d tokens",
		k.accepted, k.refused, k.unready, k.lost, k.resumed, len(k.tokens))
	if k.resumed == 0 || k.refused == 0 {
		t.Error("no request reached a frozen process, or none was refused: the test proves nothing")
	}
}
