package e2e_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

func makeOnMySQL(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), onMySQL(u, "CREATE DATABASE "+name)
}

func dropOnMySQL(_, database string) error {
	u, err := url.Parse(database)
	if err != nil {
		return err
	}
	return onMySQL(u, "DROP DATABASE "+strings.TrimPrefix(u.Path, "/"))
}

// onMySQL runs a statement. The server may still be starting after a kill.
func onMySQL(server *url.URL, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", server.Host, server.User.Username()
	for {
		err := func() error {
			connector, err := mysql.NewConnector(config)
			if err != nil {
				return err
			}
			db := sql.OpenDB(connector)
			_, err = db.ExecContext(ctx, statement)
			return errors.Join(err, db.Close())
		}()
		if err == nil || ctx.Err() != nil {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}
