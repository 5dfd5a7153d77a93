package process_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/timerbus/timerbus/internal/process"
)

func TestToken(t *testing.T) {
	for name, c := range map[string]struct {
		token, header string
		want          int
	}{
		"none required":       {"", "", http.StatusNoContent},
		"none required, sent": {"", "Bearer x", http.StatusNoContent},
		"the token":           {"secret", "Bearer secret", http.StatusNoContent},
		"lower case":          {"secret", "bearer  secret", http.StatusNoContent},
		"no header":           {"secret", "", http.StatusUnauthorized},
		"another token":       {"secret", "Bearer secrets", http.StatusUnauthorized},
		"an empty token":      {"secret", "Bearer ", http.StatusUnauthorized},
		"another scheme":      {"secret", "Basic secret", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			served := process.NewToken(c.token).Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNoContent)
			}))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
			r.Header.Set("Authorization", c.header)
			answer := httptest.NewRecorder()
			served.ServeHTTP(answer, r)
			if answer.Code != c.want {
				t.Errorf("answered %d, want %d", answer.Code, c.want)
			}
			if challenge := answer.Header().Get("WWW-Authenticate"); (challenge != "") != (c.want == http.StatusUnauthorized) {
				t.Errorf("answered %d with the challenge %q", answer.Code, challenge)
			}
		})
	}
}
