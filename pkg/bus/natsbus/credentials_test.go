package natsbus_test

import (
	"net/netip"
	"net/url"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
)

// After SetCredentials, a handle reconnects with the new credentials when the server has ended the connection. Its consumer
// continues. The server restarts, because a reload that refuses the users of open connections has a data race in nats-server.
func TestNewCredentialsAreUsedByTheNextConnection(t *testing.T) {
	type change = func(*server.Options)
	users := func(name, password string) change {
		return func(o *server.Options) { o.Users = []*server.User{{Username: name, Password: password}} }
	}
	token := func(token string) change { return func(o *server.Options) { o.Authorization = token } }
	for name, c := range map[string]struct {
		before, after change
		opts          natsbus.Options
		user          *url.Userinfo
	}{
		"user":     {users("one", "a"), users("two", "b"), natsbus.Options{User: "one", Password: "a"}, url.UserPassword("two", "b")},
		"password": {users("one", "a"), users("one", "b"), natsbus.Options{User: "one", Password: "a"}, url.UserPassword("one", "b")},
		"token":    {token("a"), token("b"), natsbus.Options{Token: "a"}, url.User("b")},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			o := serverOptions(folder)
			c.before(o)
			s := runServer(t, o)
			c.opts.URL, c.opts.Partitions = s.ClientURL(), 1
			b := connectTo(t, c.opts)
			inbox := consume(t, b, bus.Commands, bus.Ordered)
			if _, err := b.Publish(t.Context(), bus.Commands, bus.Message{Key: "k", Body: []byte("before")}); err != nil {
				t.Fatal(err)
			}
			inbox.Next(t)

			b.SetCredentials(c.user)
			port := netip.MustParseAddrPort(s.Addr().String()).Port()
			s.Shutdown()
			s.WaitForShutdown()
			o = serverOptions(folder)
			o.Port = int(port)
			c.after(o)
			runServer(t, o)
			until(t, "publish with the new credentials", patience, func() error {
				_, err := b.Publish(t.Context(), bus.Commands, bus.Message{Key: "k", Body: []byte("after")})
				return err
			})
			for string(inbox.Next(t).Body) != "after" {
				t.Log("an earlier message again")
			}
		})
	}
}
