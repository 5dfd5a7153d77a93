package backend

import (
	"fmt"

	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/internal/outbox/mysqloutbox"
	"github.com/timerbus/timerbus/internal/outbox/pgoutbox"
)

const acceptedOutboxes = "postgres://USER:PASSWORD@HOST:PORT/DATABASE or mysql://USER:PASSWORD@HOST:PORT/DATABASE"

// OpenOutbox returns the outbox at a URL. It does not connect: the user's database may be away when the process starts.
//
//	postgres://USER:PASSWORD@HOST:PORT/DATABASE   PostgreSQL; also accepts the parameters of pgx (sslmode, search_path, …)
//	mysql://USER:PASSWORD@HOST:PORT/DATABASE      MySQL or MariaDB; also accepts tls, as in mysqlstore.Options
func OpenOutbox(outboxURL string) (o outbox.Outbox, err error) {
	switch name, _ := scheme(outboxURL); name {
	case "postgres", "postgresql":
		o, err = pgoutbox.New(outboxURL)
	case "mysql":
		o, err = mysqloutbox.New(outboxURL)
	default:
		return nil, notAccepted("outbox", Redacted(outboxURL), acceptedOutboxes)
	}
	if err != nil {
		return nil, fmt.Errorf("outbox URL: %w: %w", ErrURL, err)
	}
	return o, nil
}
