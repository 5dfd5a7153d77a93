package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// setUp creates a database with the tables of the shop and an outbox, and starts `timerbus dev`.
func setUp(ctx context.Context, server, timerbus string) (_ *pgxpool.Pool, stop func() error, err error) {
	if server == "" {
		return nil, nil, errors.New("no server: set -postgres URL or DATABASE_URL")
	}
	u, err := url.Parse(server)
	if err != nil {
		return nil, nil, err
	}
	name := fmt.Sprintf("timerbus_example_%d", time.Now().UnixNano())
	u.Path = "/" + name
	if err := onServer(ctx, server, "CREATE DATABASE "+name); err != nil {
		return nil, nil, err
	}
	steps := []func() error{func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return onServer(ctx, server, "DROP DATABASE "+name+" WITH (FORCE)")
	}}
	stop = func() error {
		var errs []error
		for i := range steps {
			errs = append(errs, steps[len(steps)-1-i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()

	tables, err := exec.CommandContext(ctx, timerbus, "outbox", "postgres").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("%s outbox postgres: %w", timerbus, err)
	}
	// Without parameters, one call can send several statements.
	const orders = "CREATE TABLE orders (id text PRIMARY KEY, paid boolean NOT NULL DEFAULT false);"
	if err := onServer(ctx, u.String(), orders+string(tables)); err != nil {
		return nil, nil, err
	}
	db, err := pgxpool.New(ctx, u.String())
	if err != nil {
		return nil, nil, err
	}
	steps = append(steps, func() error { db.Close(); return nil })

	folder, err := os.MkdirTemp("", "timerbus-example-")
	if err != nil {
		return nil, nil, err
	}
	steps = append(steps, func() error { return os.RemoveAll(folder) })
	//nolint:gosec // the user names the program and the server
	service := exec.CommandContext(ctx, timerbus, "dev", "--outbox", u.String(), "--data", folder, "--listen", "127.0.0.1:0",
		"--nats-listen", "", "--log-level", "error")
	service.Cancel = func() error { return service.Process.Signal(os.Interrupt) }
	service.Stderr = os.Stderr
	if err := service.Start(); err != nil {
		return nil, nil, err
	}
	steps = append(steps, func() error {
		if err := service.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return service.Wait()
	})
	return db, stop, nil
}

// onServer runs statements without parameters.
func onServer(ctx context.Context, server, statements string) error {
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = c.PgConn().Exec(ctx, statements).ReadAll()
	return errors.Join(err, c.Close(ctx))
}
