package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/pkg/client"
)

// TestCallbacksGoWhereThePolicyLetsThem: a URL that can never be called is refused. If the policy allows a receiver at
// the create and not when the timer is due, the timer is dead with the reason, and no call is made.
func TestCallbacksGoWhereThePolicyLetsThem(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	r := w.post(t, "timers/create", `{"namespace":"NS","id":"metadata","executeIn":"1s","callbackUrl":"http://169.254.169.254/latest/"}`)
	if r.status != 400 || !strings.Contains(r.body, "a metadata service's address") {
		t.Errorf("%d %s", r.status, r.body)
	}
	w.create(t, "allowed", 0)
	w.calls(t, "allowed", 1)
	w.create(t, "later", 4*time.Second)
	if code, err := w.Stop(within(t, patience)); err != nil || code != 0 {
		t.Fatalf("stopped with %d, %v", code, err)
	}
	strict := newService(t, w.Data, harness.WithArgs("--callback-allow", "10.0.0.0/8"))
	if err := strict.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	now := &world{Service: strict, namespace: w.namespace, receiver: w.receiver}
	var err error
	if now.api, err = client.New(strict.URL(), client.WithRetry(1, 0)); err != nil {
		t.Fatal(err)
	}
	dead := now.reaches(t, "later", isStatus("dead"))
	if !strings.Contains(dead.LastError, "127.0.0.1 is a loopback address") {
		t.Errorf("last error %q", dead.LastError)
	}
	if n := len(w.receiver.Calls(w.namespace, "later")); n != 0 {
		t.Errorf("%d calls", n)
	}
}
