package backend

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

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
	if err := b.openStore(ctx, &o); err != nil {
		return nil, err
	}
	// Before the bus is opened, because the bus would create its streams for the wrong number of partitions.
	if err := b.identify(ctx, &o); err != nil {
		return nil, err
	}
	if err := b.openBus(ctx, &o); err != nil {
		return nil, err
	}
	if got := b.Bus.Partitions(); got != b.Cluster.Partitions {
		return nil, fmt.Errorf("%w: %d in the store, %d in the bus", store.ErrPartitions, b.Cluster.Partitions, got)
	}
	return b, nil
}

func (b *Backend) identify(ctx context.Context, o *Options) error {
	want := store.Identity{Partitions: o.Partitions, CreatedAt: o.Clock()}
	binary.BigEndian.PutUint64(want.ID[:8], o.Random())
	binary.BigEndian.PutUint64(want.ID[8:], o.Random())
	there, err := b.Store.Init(ctx, want)
	if err != nil {
		return fmt.Errorf("read the cluster record: %w", err)
	}
	if there.Partitions != o.Partitions {
		return fmt.Errorf("%w: the cluster has %d, the setting is %d; the partition of a timer depends on this number, so set it to %d",
			store.ErrPartitions, there.Partitions, o.Partitions, there.Partitions)
	}
	b.Cluster = there
	return nil
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
