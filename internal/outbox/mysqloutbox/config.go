package mysqloutbox

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/timerbus/timerbus/pkg/timer"
)

const wantURL = "mysql://USER:PASSWORD@HOST:PORT/DATABASE"

// open returns a pool without connections. Its errors do not contain the password.
func open(raw string) (*sql.DB, error) {
	at, err := url.Parse(raw)
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err // without the URL
	}
	if err != nil {
		return nil, fmt.Errorf("the address cannot be read, want %s: %w", wantURL, err)
	}
	c := mysql.NewConfig()
	c.DBName = strings.TrimPrefix(at.Path, "/")
	if at.Hostname() == "" || c.DBName == "" || strings.Contains(c.DBName, "/") {
		return nil, timer.Invalid("outbox", at.Redacted(), wantURL)
	}
	for name, values := range at.Query() {
		value := values[len(values)-1]
		switch {
		case name != "tls":
			return nil, timer.Invalid("outbox", "parameter "+name, "tls")
		case value != "true" && value != "skip-verify" && value != "preferred" && value != "false":
			return nil, timer.Invalid(name, value, "true, skip-verify, preferred or false")
		}
		c.TLSConfig = value
	}
	c.Net, c.Addr = "tcp", net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), "3306"))
	c.User = at.User.Username()
	c.Passwd, _ = at.User.Password()
	c.Timeout = 5 * time.Second
	c.InterpolateParams = true
	c.MaxAllowedPacket = 0        // that of the server
	c.Logger = &mysql.NopLogger{} // the calls return the errors
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
