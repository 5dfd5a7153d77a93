package postgresstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

// hotStandby returns the message in which a server reports at connect time whether it is a replica.
func hotStandby(value string) []byte {
	const name = "in_hot_standby"
	message := binary.BigEndian.AppendUint32([]byte{'S'}, uint32(4+len(name)+1+len(value)+1))
	return append(message, name+"\x00"+value+"\x00"...)
}

// asReplica makes servers behind a wire report that they are replicas.
func asReplica(answer []byte) []byte {
	return bytes.ReplaceAll(answer, hotStandby("off"), hotStandby("on"))
}

// TestNoReplicaIsRead: the address of the store leads to a replica after a while, as it may after a failover. The store
// does not read from it, because its data is old.
func TestNoReplicaIsRead(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		w := newWire(t, inside)
		s := openStore(t, w.address)
		p := putOf("a", now)
		if _, err := s.Write(t.Context(), now, []store.Op{p}); err != nil {
			t.Fatal(err)
		}
		w.rewrite.Store(asReplica)
		w.cut()
		w.mend()
		for range 10 { // the existing connections must first be detected as dead
			_, _ = s.Get(t.Context(), now, p.Ref)
		}
		if _, err := s.Get(t.Context(), now, p.Ref); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, errReplica) {
			t.Errorf("get from a replica: %v", err)
		}
		if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("ping of a replica, which readiness asks: %v", err)
		}
		_, err := Open(t.Context(), Options{URL: w.address})
		if err == nil || !strings.Contains(err.Error(), "connect to the primary") || strings.Contains(err.Error(), "does not answer") {
			t.Errorf("open a replica: %v", err)
		}
		// One of several hosts is the primary.
		at, err := url.Parse(inside)
		if err != nil {
			t.Fatal(err)
		}
		both := with(t, w.address, func(u *url.URL) { u.Host += "," + at.Host })
		if _, _, err := Migrate(t.Context(), Options{URL: both}); err != nil {
			t.Errorf("migrate at the primary behind a replica: %v", err)
		}
		if _, err := openStore(t, both).Get(t.Context(), now, p.Ref); err != nil {
			t.Errorf("get from the primary behind a replica: %v", err)
		}
		w.rewrite.Store(func(b []byte) []byte { return b })
		if _, err := s.Get(t.Context(), now, p.Ref); err != nil {
			t.Errorf("get when it is a primary: %v", err)
		}
	})
}
