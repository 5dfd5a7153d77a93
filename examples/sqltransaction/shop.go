package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	watermillsql "github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
)

// shop stores orders and topics in a database.
type shop struct {
	server, url string
	db          *pgxpool.Pool
	publisher   message.Publisher
	subscriber  message.Subscriber
}

var errSoldOut = errors.New("sold out")

// openShop creates a database and its tables.
func openShop(ctx context.Context, server string) (_ *shop, err error) {
	if server == "" {
		return nil, errors.New("no server: set -postgres URL or DATABASE_URL")
	}
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	u.Path = "/timerbus_example_" + strings.ToLower(watermill.NewULID())
	if err := onServer(ctx, server, "CREATE DATABASE "+u.Path[1:]); err != nil {
		return nil, err
	}
	s := &shop{server: server, url: u.String()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.db, err = pgxpool.New(ctx, s.url); err != nil {
		return nil, err
	}
	if _, err := s.db.Exec(ctx, "CREATE TABLE orders (id text PRIMARY KEY)"); err != nil {
		return nil, err
	}
	return s, s.openTopics()
}

// openTopics creates a Subscriber, and a Publisher without transactions, which Timerbus uses.
func (s *shop) openTopics() (err error) {
	db := watermillsql.BeginnerFromPgx(s.db)
	s.publisher, err = watermillsql.NewPublisher(db, watermillsql.PublisherConfig{
		SchemaAdapter: watermillsql.DefaultPostgreSQLSchema{}, AutoInitializeSchema: true,
	}, watermill.NopLogger{})
	if err != nil {
		return err
	}
	s.subscriber, err = watermillsql.NewSubscriber(db, watermillsql.SubscriberConfig{
		ConsumerGroup: "timerbus", InitializeSchema: true, PollInterval: 50 * time.Millisecond,
		SchemaAdapter: watermillsql.DefaultPostgreSQLSchema{}, OffsetsAdapter: watermillsql.DefaultPostgreSQLOffsetsAdapter{},
	}, watermill.NopLogger{})
	return err
}

// place stores an order and creates its timer, which is due after the duration due, in one transaction. If it returns an
// error, neither exists.
func (s *shop) place(ctx context.Context, id, due string, inStock bool) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders VALUES ($1)", id); err != nil {
			return err
		}
		// The table of the topic exists, because Timerbus has subscribed to it.
		publisher, err := watermillsql.NewPublisher(watermillsql.TxFromPgx(tx), watermillsql.PublisherConfig{
			SchemaAdapter: watermillsql.DefaultPostgreSQLSchema{},
		}, watermill.NopLogger{})
		if err != nil {
			return err
		}
		command, err := watermillclient.Create("shop/orders", client.CreateTimerRequest{ID: id, ExecuteIn: due})
		if err != nil {
			return err
		}
		command.SetContext(ctx)
		if err := publisher.Publish(watermillclient.Commands, command); err != nil {
			return err
		}
		if !inStock {
			return errSoldOut
		}
		return nil
	})
}

// close drops the database.
func (s *shop) close() error {
	var errs []error
	if s.subscriber != nil {
		errs = append(errs, s.subscriber.Close())
	}
	if s.publisher != nil {
		errs = append(errs, s.publisher.Close())
	}
	if s.db != nil {
		s.db.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	u, err := url.Parse(s.url)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(append(errs, onServer(ctx, s.server, "DROP DATABASE "+u.Path[1:]+" WITH (FORCE)"))...)
}

func onServer(ctx context.Context, server, statement string) error {
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	if err != nil {
		err = fmt.Errorf("%s: %w", statement, err)
	}
	return errors.Join(err, c.Close(ctx))
}
