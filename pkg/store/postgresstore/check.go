package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/pkg/store"
)

// selectServer reads the properties of the server that a start checks. Every user may see whether replicas exist.
var selectServer = statement{"select_server", `SELECT current_setting('server_version_num')::integer,
	current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
	pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on',
	current_setting('synchronous_commit'),
	current_setting('synchronous_standby_names') <> '', EXISTS (SELECT FROM pg_stat_replication),
	coalesce(has_schema_privilege(current_schema(), 'USAGE'), false)`}

// selectSettings reads the present values of a connection's settings.
var selectSettings = statement{"select_settings", "SELECT n.name, current_setting(n.name) FROM unnest($1::text[]) AS n(name)"}

// selectOwner reads whether the user may create and drop partitions of history.
var selectOwner = statement{"select_owner", `SELECT coalesce(pg_has_role(c.relowner, 'USAGE'), false), pg_get_userbyid(c.relowner)::text,
	coalesce(has_schema_privilege(c.relnamespace, 'CREATE'), false)
FROM pg_class c WHERE c.oid = to_regclass('timer_history')`}

const oldestServer = 150_000

var errNoSchema = errors.New("the user has no rights on any schema in search_path: create it, GRANT USAGE, or set search_path")

var errReplica = errors.New("the server is a replica, which is read-only: connect to the primary")

// onlyPrimary makes new connections to a replica fail, unless the URL allows them (target_session_attrs). After a
// failover an address may lead to a replica for a while, and of several hosts the first may be a replica. Its reads
// would be old: they could return claims that are no longer the newest, and timers that were deleted.
func onlyPrimary(config *pgxpool.Config) {
	if config.ConnConfig.ValidateConnect != nil {
		return
	}
	config.ConnConfig.ValidateConnect = func(_ context.Context, c *pgconn.PgConn) error {
		// Servers report this parameter when a connection is established.
		if c.ParameterStatus("in_hot_standby") == "on" {
			return errReplica
		}
		return nil
	}
}

// server has the results of selectServer.
type server struct {
	version                            int32
	fsync, fullPages, readOnly, usable bool
	// synchronousCommit is synchronous_commit: a commit waits for nothing (off), for this server's disk (local), or
	// also for a replica, if a synchronous replica is configured (named).
	synchronousCommit string
	named, replicas   bool
}

const orAllow = "turn it on, or allow it (?" + unsafeParameter + "=true)"

// refuse returns why timers would not be safe on a server, or could not be written, or nil.
func (s *server) refuse(allowUnsafe bool) error {
	switch {
	case s.version < oldestServer:
		return fmt.Errorf("the server is PostgreSQL %d: want 15 or newer", s.version/10_000)
	case s.readOnly:
		return errors.New("the server is read-only (a replica, or default_transaction_read_only): connect to the primary")
	case !s.fsync && !allowUnsafe:
		return errors.New("the server runs with fsync=off and would lose acknowledged timers in a power failure: " + orAllow)
	case !s.fullPages && !allowUnsafe:
		return errors.New("the server runs with full_page_writes=off and may lose timers in a power failure: " + orAllow)
	case !s.usable:
		return errNoSchema
	default:
		return nil
	}
}

// doubts returns warnings for a start: configurations in which acknowledged timers can be lost, but which the operator
// may have chosen.
func (s *server) doubts() (out []string) {
	if s.synchronousCommit == "off" {
		out = append(out, "synchronous_commit is off: a crash of the server loses the timers acknowledged just before")
	}
	if s.replicas && (!s.named || s.synchronousCommit == "local") {
		out = append(out, "replicas are asynchronous: a failover loses the timers acknowledged just before")
	}
	return out
}

// check returns an error if the server cannot be used or would lose timers, and logs warnings if it may.
func (s *Store) check(ctx context.Context, allowUnsafe bool, role string) error {
	var there server
	err := s.ask(ctx, call{statement: selectServer, row: func(r *record) {
		there.version = r.int4()
		there.fsync, there.fullPages, there.readOnly = r.bool(), r.bool(), r.bool()
		there.synchronousCommit = r.text()
		there.named, there.replicas, there.usable = r.bool(), r.bool(), r.bool()
	}})
	if err != nil {
		return err
	}
	if err := there.refuse(allowUnsafe); err != nil {
		return err
	}
	if err := s.checkSettings(ctx); err != nil {
		return err
	}
	schema, err := s.schema(ctx)
	if err != nil {
		return err
	}
	if err := schema.Usable(); err != nil {
		return err
	}
	if err := s.checkRights(ctx, role); err != nil {
		return err
	}
	if err := s.checkOwner(ctx, role); err != nil {
		return err
	}
	for _, doubt := range there.doubts() {
		s.log.WarnContext(ctx, "acknowledged timers can be lost", "why", doubt)
	}
	return nil
}

// checkSettings refuses a pooler that drops the settings of connections. Timers would be as safe, but the queries would
// have untested plans.
func (s *Store) checkSettings(ctx context.Context) error {
	given, ours := s.pool.Config().ConnConfig.RuntimeParams, settings()
	var names []string
	for name, value := range ours {
		// Poolers may change the application name, and a setting from the URL may have another spelling on the server.
		if name != "application_name" && given[name] == value {
			names = append(names, name)
		}
	}
	var lost []string
	err := s.ask(ctx, call{
		statement: selectSettings,
		args:      [][]byte{texts(len(names), func(i int) string { return names[i] })},
		row: func(r *record) {
			if name, value := r.text(), r.text(); value != ours[name] {
				lost = append(lost, name)
			}
		},
	})
	if err != nil || len(lost) == 0 {
		return err
	}
	slices.Sort(lost)
	return fmt.Errorf("the server did not get %s, probably because of a pooler: connect to the server itself", strings.Join(lost, ", "))
}

// checkOwner sets borrowed, and logs a warning for a role that deletes history, if the user cannot create or drop partitions of
// history.
func (s *Store) checkOwner(ctx context.Context, role string) error {
	var owns, creates bool
	var owner string
	err := s.ask(ctx, call{statement: selectOwner, row: func(r *record) { owns, owner, creates = r.bool(), r.text(), r.bool() }})
	if err != nil || owns && creates {
		return err
	}
	s.borrowed = true
	if role != "" && role != "dispatcher" {
		return nil // other roles delete no expired history
	}
	s.log.WarnContext(ctx, "expired history is deleted row by row: the user cannot create and drop its partitions",
		"grant", "membership in "+owner+", and CREATE on the schema")
	return nil
}

// ask runs statements while the store is being opened.
func (s *Store) ask(ctx context.Context, calls ...call) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	return (&conn{pooled}).exchange(ctx, calls...)
}

// target returns the server's address for error messages, without password and parameters.
func target(config *pgxpool.Config) string {
	c := config.ConnConfig
	return fmt.Sprintf("postgres://%s@%s/%s", c.User, net.JoinHostPort(c.Host, fmt.Sprint(c.Port)), c.Database)
}

// refused returns a one-line error for a failure at the start.
func refused(where string, err error) error {
	if errors.Is(err, errReplica) {
		return &startError{where, errReplica.Error(), err}
	}
	if told, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch told.Code {
		case wrongPassword:
			return &startError{where, "the password is wrong, or this user has none", err}
		case notAuthorized:
			return &startError{where, "the server rejects this user: " + told.Message, err}
		case noDatabase:
			return &startError{where, "the database does not exist: create it, then run `" + store.MigrateCommand + "`", err}
		case insufficientRights:
			return &startError{where, "the user lacks rights: " + told.Message, err}
		case undefinedTable:
			return &startError{where, "the schema is not complete (" + told.Message + "): run `" + store.MigrateCommand + "`", err}
		case protocolViolation:
			if strings.Contains(told.Message, "startup parameter") { // the server itself accepts all parameters that it knows
				reason := "settings were refused, probably by a pooler (" + told.Message + "): connect to the server itself"
				return &startError{where, reason, err}
			}
		}
		return &startError{where, told.Message + " (SQLSTATE " + told.Code + ")", err}
	}
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		if errors.Is(err, context.DeadlineExceeded) { // it accepts connections, or loses packets, and may answer later
			err = fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		return &startError{where, "the server does not answer: " + dialError(connect), err}
	}
	return &startError{where, oneLine(err), err}
}

// dialError returns each address that was tried with its error, once: pgx reports the name and the resolved address
// with the same text.
func dialError(connect *pgconn.ConnectError) string {
	var told []string
	for line := range strings.SplitSeq(errors.Unwrap(connect).Error(), "\n") {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(told, line) {
			told = append(told, line)
		}
	}
	return strings.Join(told, "; ")
}

// startError is a one-line error that wraps the driver's error.
type startError struct {
	where, what string
	cause       error
}

func (e *startError) Error() string { return "open store " + e.where + ": " + e.what }
func (e *startError) Unwrap() error { return e.cause }

func oneLine(err error) string {
	if err == nil {
		return "unknown error"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// badURL is the error of a URL that cannot be parsed. It includes pgx's message, which hides the password.
func badURL(err error) error {
	return fmt.Errorf("open store: the address cannot be read, want postgres://user:password@host:port/database: %s", oneLine(err))
}
