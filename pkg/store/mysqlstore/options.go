package mysqlstore

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Options configure the store. Only URL has no default.
type Options struct {
	// URL is mysql://user:password@host:port/database. The port is 3306 if it is missing. Parameters: tls (true,
	// skip-verify, preferred or false; default false) and max_conns.
	URL string
	// MaxConns bounds the connections of this process, 2 to 1,000. Default 16. In addition, the process opens up to two for
	// lists and counts, and one for reading the server's clock.
	MaxConns int
	// ConnectTimeout bounds one attempt to connect, including the server's answers. Default 5 s.
	ConnectTimeout time.Duration
	// Logger gets events that are not part of a call's answer. By default nothing is logged.
	Logger *slog.Logger
}

const wantURL = "mysql://user:password@host:port/database"

// config is the driver's configuration, and the options with defaults.
type config struct {
	Options

	driver      *mysql.Config
	credentials credentials // of all pools
}

// where names the server and the database in errors.
func (c *config) where() string { return c.driver.Addr + "/" + c.driver.DBName }

// config parses the URL. Its errors do not contain the password.
func (o Options) config() (*config, error) {
	at, err := url.Parse(o.URL)
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err // without the URL
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("open store: the address cannot be read, want %s: %w", wantURL, err)
	case at.Scheme != "mysql" || at.Hostname() == "":
		return nil, invalid("store", at.Redacted(), wantURL)
	}
	c := &config{Options: o, driver: mysql.NewConfig()}
	c.driver.DBName = strings.TrimPrefix(at.Path, "/")
	if c.driver.DBName == "" || strings.Contains(c.driver.DBName, "/") {
		return nil, invalid("store", at.Redacted(), wantURL+": the name of the database is missing")
	}
	for name, values := range at.Query() {
		value := values[len(values)-1]
		switch name {
		case "tls":
			if value != "true" && value != "skip-verify" && value != "preferred" && value != "false" {
				return nil, invalid(name, value, "true, skip-verify, preferred or false")
			}
			c.driver.TLSConfig = value
		case "max_conns":
			if c.MaxConns, err = strconv.Atoi(value); err != nil {
				return nil, invalid(name, value, "2 to 1000")
			}
		default:
			return nil, invalid("store", "parameter "+name, "tls or max_conns")
		}
	}
	c.MaxConns = cmp.Or(c.MaxConns, 16)
	if c.MaxConns < 2 || c.MaxConns > 1000 {
		return nil, invalid("max_conns", c.MaxConns, "2 to 1000")
	}
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 5*time.Second)
	if c.ConnectTimeout < 0 {
		return nil, invalid("connectTimeout", c.ConnectTimeout, "a positive duration")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = c.Logger.With("component", "mysqlstore")
	d := c.driver
	d.Net, d.Addr = "tcp", net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), "3306"))
	d.User = at.User.Username()
	d.Passwd, _ = at.User.Password()
	d.Timeout = c.ConnectTimeout
	d.InterpolateParams = true
	d.MaxAllowedPacket = 0 // that of the server
	// After a failover the address may still lead to the old primary. Connections to a server that refuses writes are closed.
	d.RejectReadOnly = true
	d.Logger = &mysql.NopLogger{} // the calls return the errors
	return c, nil
}

func invalid(name string, value any, want string) error {
	return fmt.Errorf("open store: %w", timer.Invalid(name, value, want))
}
