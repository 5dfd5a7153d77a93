// Command outbox creates timers in the database transactions of an application, by inserting rows into the table
// timerbus_outbox. A Timerbus applies the rows of committed transactions. The application needs nothing of Timerbus but the table,
// so it can be written in any language: python/shop.py is the same in Python.
//
//	go run ./outbox -postgres postgres://USER:PASSWORD@HOST:PORT/DATABASE -timerbus ../bin/timerbus
//
// It imports a PostgreSQL driver, and nothing of Timerbus. main.go is the example, setup.go starts the database and the service.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/examples/internal/program"
)

func main() {
	server := flag.String("postgres", os.Getenv("DATABASE_URL"), "URL of a PostgreSQL server, on which the program creates a database")
	timerbus := flag.String("timerbus", "timerbus", "path of the program timerbus")
	flag.Parse()
	program.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, *server, *timerbus, out) })
}

var errSoldOut = errors.New("sold out")

// place stores an order and creates its timer in one transaction. If it returns an error, neither exists.
func place(ctx context.Context, db *pgxpool.Pool, id, due, callback string, inStock bool) error {
	timer, err := json.Marshal(map[string]any{
		"id": id, "executeIn": due, "callbackUrl": callback, "payload": map[string]string{"order": id},
	})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders VALUES ($1)", id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO timerbus_outbox (verb, body) VALUES ('create', $1)", string(timer)); err != nil {
			return err
		}
		if !inStock {
			return errSoldOut
		}
		return nil
	})
}

// pay deletes the timer of an order in the transaction that stores the payment.
func pay(ctx context.Context, db *pgxpool.Pool, id string) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE orders SET paid = true WHERE id = $1", id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO timerbus_outbox (verb, body) VALUES ('delete', json_build_object('id', $1::text))", id)
		return err
	})
}

func run(ctx context.Context, server, timerbus string, out io.Writer) (err error) {
	db, stop, err := setUp(ctx, server, timerbus)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	fired := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var timer struct {
			Payload struct {
				Order string `json:"order"`
			} `json:"payload"`
		}
		if err := json.NewDecoder(r.Body).Decode(&timer); err == nil {
			fired <- timer.Payload.Order
		}
	}))
	defer receiver.Close()

	fmt.Fprintln(out, "order-1: in stock, the transaction is committed")
	if err := place(ctx, db, "order-1", "1s", receiver.URL, true); err != nil {
		return err
	}
	fmt.Fprintln(out, "order-2: sold out, the transaction is rolled back")
	if err := place(ctx, db, "order-2", "1s", receiver.URL, false); !errors.Is(err, errSoldOut) {
		return fmt.Errorf("order-2: %w", err)
	}
	fmt.Fprintln(out, "order-3: in stock, and paid at once: its timer is deleted")
	if err := errors.Join(place(ctx, db, "order-3", "1s", receiver.URL, true), pay(ctx, db, "order-3")); err != nil {
		return err
	}
	fmt.Fprintln(out, "order-4: in stock, the transaction is committed")
	if err := place(ctx, db, "order-4", "3s", receiver.URL, true); err != nil {
		return err
	}
	for range 2 {
		select {
		case order := <-fired:
			fmt.Fprintf(out, "%s: not paid in time, its timer fires\n", order)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
