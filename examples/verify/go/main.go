// Command receiver receives callbacks and accepts those that are signed with the secret in WEBHOOK_SECRET.
//
// It imports the Standard Webhooks library and nothing of Timerbus, like a user's receiver. main.go is the whole
// example.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// maxBody is larger than any callback body, in bytes.
const maxBody = 1 << 20

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: WEBHOOK_SECRET=whsec_… receiver PORT")
	}
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		return fmt.Errorf("WEBHOOK_SECRET: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", args[0]))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "listening on http://%s/\n", listener.Addr())
	server := &http.Server{Handler: receiver(webhook.Verify, out), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

// receiver answers callbacks. verify gets the body as received. receiver prints accepted callbacks to out.
func receiver(verify func(body []byte, header http.Header) error, out io.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		if err := verify(body, r.Header); err != nil {
			http.Error(w, "the signature is invalid: "+err.Error(), http.StatusUnauthorized)
			return
		}
		var callback struct {
			TimerID string          `json:"timerId"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := json.Unmarshal(body, &callback); err != nil {
			http.Error(w, "the body is not a callback", http.StatusBadRequest)
			return
		}
		// A real receiver skips ids that it has already processed.
		fmt.Fprintf(out, "%s: %q %s\n", r.Header.Get("Webhook-Id"), callback.TimerID, callback.Payload)
		w.WriteHeader(http.StatusNoContent)
	})
}
