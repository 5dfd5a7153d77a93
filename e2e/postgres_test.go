package e2e_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

//testenv:need postgres

func makeOnPostgres(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), onServer(server, "CREATE DATABASE "+name)
}

func dropOnPostgres(server, database string) error {
	u, err := url.Parse(database)
	if err != nil {
		return err
	}
	return onServer(server, "DROP DATABASE "+strings.TrimPrefix(u.Path, "/")+" WITH (FORCE)")
}

// onServer runs a statement. The server may still be starting after a kill.
func onServer(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := func() error {
			c, err := pgx.Connect(ctx, server)
			if err != nil {
				return err
			}
			_, err = c.Exec(ctx, statement)
			return errors.Join(err, c.Close(ctx))
		}()
		if err == nil || ctx.Err() != nil {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}
