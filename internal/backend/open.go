package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// ErrURL reports a URL that is not acceptable; the message names the accepted forms.
var ErrURL = errors.New("not acceptable")

// Open opens the store, checks that the cluster was created with the same number of partitions, and opens the bus. If a
// step fails, Open closes what it has opened.
func Open(ctx context.Context, o Options) (_ *Backend, err error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Backend{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if err := b.migrate(ctx, &o); err != nil {
		return nil, err
	}
	err = attempt(ctx, &o, "store", o.StoreURL, store.ErrUnavailable, func(ctx context.Context) error {
		if err := b.openStore(ctx, &o); err != nil {
			return err
		}
		// Before the bus is opened, because the bus would create its streams for the wrong number of partitions.
		_, err := store.Identify(ctx, b.Store, o.Partitions, o.Clock(), o.Random)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = attempt(ctx, &o, "bus", o.BusURL, bus.ErrUnavailable, func(ctx context.Context) error { return b.openBus(ctx, &o) })
	if err != nil {
		return nil, err
	}
	return b, nil
}

// scheme cuts a URL at its first colon. url.Parse does not accept relative folders.
func scheme(raw string) (name, rest string) {
	name, rest, _ = strings.Cut(raw, ":")
	return strings.ToLower(name), rest
}

// folder parses the part after the scheme: FOLDER or ///FOLDER, and an optional query.
func folder(rest string) (path string, query url.Values, err error) {
	path, raw, _ := strings.Cut(rest, "?")
	if inner, absolute := strings.CutPrefix(path, "///"); absolute {
		path = "/" + inner
	}
	if path, err = url.PathUnescape(path); err != nil || path == "" || strings.HasPrefix(path, "//") {
		return "", nil, fmt.Errorf("%q is not a folder", path)
	}
	query, err = url.ParseQuery(raw)
	return path, query, err
}

// FolderURL returns the URL of a folder. The path may contain any characters.
func FolderURL(scheme, path string, query url.Values) string {
	u := scheme + ":" + (&url.URL{Path: path}).EscapedPath()
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	return u
}

func notAccepted(what, raw, want string) error {
	// The error must not contain a password.
	shown := raw
	if u, err := url.Parse(raw); err == nil {
		shown = u.Redacted()
	}
	return fmt.Errorf("%s URL: %w: %w", what, ErrURL, timer.Invalid("url", shown, want))
}
