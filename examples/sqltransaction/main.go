// Command sqltransaction publishes commands inside the caller's database transaction: an order and its timer are
// committed or rolled back together. The topics are PostgreSQL tables, with Watermill's SQL Pub/Sub; there is no broker.
//
//	go run ./sqltransaction -postgres postgres://USER:PASSWORD@HOST:PORT/DATABASE
//
// It imports Watermill and Timerbus like a user's program. main.go is the example, shop.go the database.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/store/postgresstore"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

func main() {
	server := flag.String("postgres", os.Getenv("DATABASE_URL"), "URL of a PostgreSQL server, on which the program creates a database")
	flag.Parse()
	program.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, *server, out) })
}

// timerbus runs a Timerbus with its timers in the database of the shop; they could be in any store. The internal messages need
// no broker, because there is only one process: if it ends, the next one finds all timers in the database.
func (s *shop) timerbus(ctx context.Context) (_ *timerbus.Service, stop func() error, err error) {
	options := postgresstore.Options{URL: s.url}
	if _, _, err := postgresstore.Migrate(ctx, options); err != nil {
		return nil, nil, err
	}
	timers, err := postgresstore.Open(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	return program.Timerbus(ctx, timers, membus.New(membus.Options{}).Join("example"), timerbus.Options{
		Watermill: timerbus.Watermill{Publisher: s.publisher, Subscriber: s.subscriber},
	})
}

func run(ctx context.Context, server string, out io.Writer) (err error) {
	s, err := openShop(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	_, stop, err := s.timerbus(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	fired, err := s.subscriber.Subscribe(ctx, watermillclient.Fired)
	if err != nil {
		return err
	}

	fmt.Fprintln(out, "order-1: in stock, the transaction is committed")
	if err := s.place(ctx, "order-1", "500ms", true); err != nil {
		return err
	}
	fmt.Fprintln(out, "order-2: sold out, the transaction is rolled back")
	if err := s.place(ctx, "order-2", "1s", false); !errors.Is(err, errSoldOut) {
		return fmt.Errorf("order-2: %w", err)
	}
	fmt.Fprintln(out, "order-3: in stock, the transaction is committed")
	if err := s.place(ctx, "order-3", "1500ms", true); err != nil {
		return err
	}
	for range 2 {
		select {
		case m := <-fired:
			_, d, err := watermillclient.ReadFired(m)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s: its timer fires\n", d.TimerID)
			m.Ack()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
