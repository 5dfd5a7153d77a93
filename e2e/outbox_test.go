package e2e_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/client"
)

//testenv:need postgres mysql

// shop is an application with a database and an outbox.
type shop struct {
	url string
	db  *sql.DB
}

// outboxServers are the databases with outboxes, by their names in testenv.
var outboxServers = []string{"postgres", "mysql"}

// openShop creates the database of an application, without an outbox.
func openShop(t *testing.T, server string) *shop {
	t.Helper()
	address, name := testserver.Address(t, server), fmt.Sprintf("shop_%d", rand.Uint64())
	newDatabase, drop := makeOnPostgres, dropOnPostgres
	if server == "mysql" {
		newDatabase, drop = makeOnMySQL, dropOnMySQL
	}
	s := &shop{}
	var err error
	if s.url, err = newDatabase(address, name); err != nil {
		t.Fatal(err)
	}
	if server == "mysql" {
		s.db, err = openMySQL(s.url)
	} else {
		// Several statements in one call need the simple protocol.
		at, _, _ := strings.Cut(s.url, "?")
		s.db, err = sql.Open("pgx", at+"?sslmode=disable&default_query_exec_mode=simple_protocol")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
		if err := drop(address, s.url); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openMySQL(address string) (*sql.DB, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName, c.MultiStatements = "tcp", at.Host, at.User.Username(), strings.TrimPrefix(at.Path, "/"), true
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// migrate creates the outbox with the SQL that the program prints.
func (s *shop) migrate(t *testing.T, server string) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), binary, "outbox", server).Output()
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, string(text))
}

func (s *shop) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (s *shop) insert(t *testing.T, verb, body string) {
	t.Helper()
	s.exec(t, fmt.Sprintf("INSERT INTO timerbus_outbox (verb, body) VALUES ('%s', '%s')", verb, body))
}

func (s *shop) left(t *testing.T) (n int) {
	t.Helper()
	if err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM timerbus_outbox").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// emptied waits until all rows are removed.
func (s *shop) emptied(t *testing.T) {
	t.Helper()
	for ctx := within(t, 2*patience); ; pause(ctx, 20*time.Millisecond) {
		n := s.left(t)
		if n == 0 {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%d rows are left", n)
		}
	}
}

// orders are the transactions of one writer. Each contains the commands of one order:
//
//	fire-W-N   is created, and fires immediately: applied twice, it has two generations in its history
//	once-W-N   must not exist when it is created: applied twice, the second is refused
//	gone-W-N   is created and deleted: applied twice, the delete is refused
//	same-W     gets an increasing payload: applied twice or out of order, it goes back
//	never-W-N  every fifth transaction is rolled back
type orders struct {
	*shop

	writer    int
	committed []int
	rolled    []int
}

// run commits transactions until ctx ends.
func (o *orders) run(t *testing.T, ctx context.Context, done *atomic.Int64) {
	for n := 0; ctx.Err() == nil; n++ {
		rollback := n%5 == 4
		if err := o.transact(t.Context(), n, rollback); err != nil {
			t.Errorf("transaction %d of writer %d: %v", n, o.writer, err)
			return
		}
		if rollback {
			o.rolled = append(o.rolled, n)
		} else {
			o.committed = append(o.committed, n)
			done.Add(1)
		}
		pause(ctx, time.Duration(rand.IntN(20))*time.Millisecond)
	}
}

func (o *orders) transact(ctx context.Context, n int, rollback bool) error {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	at := fmt.Sprintf("%d-%d", o.writer, n)
	commands := [][2]string{
		{"create", `{"id":"fire-` + at + `","executeIn":"0s"}`},
		{"create", `{"id":"once-` + at + `","executeIn":"1h","onConflict":"fail"}`},
		{"create", `{"id":"gone-` + at + `","executeIn":"1h"}`},
		{"create", fmt.Sprintf(`{"id":"same-%d","executeIn":"1h","payload":%d}`, o.writer, n)},
		{"delete", `{"id":"gone-` + at + `"}`},
	}
	if rollback {
		commands = [][2]string{{"create", `{"id":"never-` + at + `","executeIn":"1h"}`}}
	}
	for i, c := range commands {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO timerbus_outbox (verb, body) VALUES ('%s', '%s')", c[0], c[1])); err != nil {
			return err
		}
		if i == 2 && n%3 == 0 {
			pause(ctx, 5*time.Millisecond) // transactions of other writers get higher ids and commit earlier
		}
	}
	if rollback {
		return tx.Rollback()
	}
	return tx.Commit()
}

// stress runs writers while disturb runs, and checks the result when all rows are applied.
func (s *shop) stress(t *testing.T, w *world, disturb func(written *atomic.Int64)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writing sync.WaitGroup
	var written atomic.Int64
	writers := make([]*orders, 3)
	for i := range writers {
		writers[i] = &orders{shop: s, writer: i}
		writing.Go(func() { writers[i].run(t, ctx, &written) })
	}
	disturb(&written)
	stop()
	writing.Wait()
	s.emptied(t)
	s.judge(t, w, writers)
}

// answers reads the answers of all rows, by the id of the command.
func (w *world) answers(t *testing.T) map[string][]event.Answer {
	t.Helper()
	found := map[string][]event.Answer{}
	for _, subject := range []string{tap.Results, tap.Dead} {
		all, err := w.tap.ReadAll(within(t, patience), subject)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if m.Event.Type == event.TypeApplied || m.Event.Type == event.TypeRefused {
				a := data[event.Answer](t, &m)
				found[a.CommandID] = append(found[a.CommandID], a)
			}
		}
	}
	return found
}

func (w *world) replayed(t *testing.T) bool {
	t.Helper()
	for _, answers := range w.answers(t) {
		if len(answers) > 1 || answers[0].Earlier {
			return true
		}
	}
	return false
}

// judge checks the answers, the timers and their history.
func (s *shop) judge(t *testing.T, w *world, writers []*orders) {
	t.Helper()
	commands, earlier := 0, 0
	answered := map[string]bool{}
	for id, answers := range w.answers(t) {
		commands++
		firsts := 0
		for _, a := range answers {
			answered[a.TimerID] = true
			switch {
			case a.Error != "":
				t.Errorf("row %s (%s %s) was refused: %s", id, a.Verb, a.TimerID, a.Message)
			case a.Earlier:
				earlier++
			default:
				firsts++
			}
		}
		if firsts > 1 {
			t.Errorf("row %s was answered as applied %d times", id, firsts)
		}
	}
	there := map[string]client.Timer{}
	for timer, err := range w.api.AllTimers(t.Context(), client.ListTimersRequest{Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		there[timer.ID] = timer
	}
	transactions, rolled, silent := 0, 0, 0
	for _, o := range writers {
		transactions += len(o.committed)
		rolled += len(o.rolled)
		for _, n := range o.committed {
			at := fmt.Sprintf("%d-%d", o.writer, n)
			if _, ok := there["once-"+at]; !ok {
				t.Errorf("once-%s is missing", at)
			}
			if _, ok := there["gone-"+at]; ok {
				t.Errorf("gone-%s is left", at)
			}
			if !answered["once-"+at] {
				silent++
			}
			s.firedOnce(t, w, "fire-"+at)
		}
		for _, n := range o.rolled {
			if _, ok := there[fmt.Sprintf("never-%d-%d", o.writer, n)]; ok {
				t.Errorf("a rolled-back transaction left never-%d-%d", o.writer, n)
			}
		}
		same := there[fmt.Sprintf("same-%d", o.writer)]
		if last := fmt.Sprint(o.committed[len(o.committed)-1]); string(same.Payload) != last {
			t.Errorf("%s has the payload %s, want that of the last transaction, %s", same.ID, same.Payload, last)
		}
	}
	// The results of an embedded bus may be lost when its process is killed, because it writes them to the disk later.
	if silent > 0 && w.Data == "" || silent > transactions/10 {
		t.Errorf("the rows of %d of %d transactions were never answered", silent, transactions)
	}
	if commands > 5*transactions || w.Data == "" && commands != 5*transactions {
		t.Errorf("%d rows were answered, want 5 of each of %d transactions", commands, transactions)
	}
	t.Logf("%d transactions committed, %d rolled back, %d rows answered, %d answers of replays, the answers of %d transactions lost by the bus",
		transactions, rolled, commands, earlier, silent)
}

// firedOnce checks that the history of a timer has one generation.
func (s *shop) firedOnce(t *testing.T, w *world, id string) {
	t.Helper()
	for ctx := within(t, patience); ; pause(ctx, 50*time.Millisecond) {
		h, err := w.api.TimerHistory(t.Context(), client.HistoryRequest{TimerID: id})
		if err != nil {
			t.Fatal(err)
		}
		generations := map[string]bool{}
		done := false
		for i := range h.Attempts {
			generations[h.Attempts[i].Generation] = true
			done = done || h.Attempts[i].Outcome == "done"
		}
		if done {
			if len(generations) != 1 {
				t.Errorf("%s has the generations %v in its history, want one", id, generations)
			}
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s has not fired", id)
		}
	}
}

// TestOutboxAcrossKills kills the process repeatedly while applications commit transactions. No command of a committed
// transaction is lost, and none is applied twice.
func TestOutboxAcrossKills(t *testing.T) {
	t.Parallel()
	if onDatabase() && chosen().repeats {
		t.Skipf("%s applies commands of the outbox at least once", chosen().name)
	}
	for _, server := range outboxServers {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, server)
			s.migrate(t, server)
			w := startOwn(t, harness.WithArgs("--outbox", s.url))
			s.stress(t, w, func(written *atomic.Int64) {
				for round := 1; round <= 5 || round <= 20 && !w.replayed(t); round++ {
					await := written.Load() + int64(20+rand.IntN(60))
					for ctx := within(t, patience); written.Load() < await && ctx.Err() == nil; {
						pause(ctx, time.Millisecond)
					}
					if err := w.Kill(); err != nil {
						t.Fatal(err)
					}
					if err := w.Start(within(t, patience)); err != nil {
						t.Fatal(err)
					}
					w.connectTap(t)
				}
				if !w.replayed(t) {
					t.Error("no kill occurred between a commit and the removal of its rows: the test proves nothing")
				}
			})
		})
	}
}

// TestOutboxWithTwoIngests: one of two processes applies the rows. When it is killed, the other process takes over.
func TestOutboxWithTwoIngests(t *testing.T) {
	t.Parallel()
	if chosen().repeats {
		t.Skipf("%s applies commands of the outbox at least once", chosen().name)
	}
	for _, server := range outboxServers {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, server)
			s.migrate(t, server)
			bus := ownNATS(t, "")
			c := &cluster{store: chosen().fresh(t), bus: bus, options: []harness.Option{harness.WithArgs("--outbox", s.url)}}
			c.migrate(t, binary)
			c.start(t, 2, 1, 1)
			var err error
			if c.tap, err = tap.Connect(bus.url); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.tap.Close)
			ingests := c.members[:2]
			s.stress(t, c.world, func(written *atomic.Int64) {
				for range 4 {
					elected := electedOf(t, ingests)
					await := written.Load() + 40
					for ctx := within(t, patience); written.Load() < await && ctx.Err() == nil; {
						pause(ctx, time.Millisecond)
					}
					if err := elected.Kill(); err != nil {
						t.Fatal(err)
					}
					other := ingests[0]
					if other == elected {
						other = ingests[1]
					}
					electedOf(t, []*member{other})
					if err := elected.Start(within(t, patience)); err != nil {
						t.Fatal(err)
					}
					if n := elected.metric(t, outboxElected) + other.metric(t, outboxElected); n != 1 {
						t.Errorf("%v processes apply the rows", n)
					}
				}
			})
		})
	}
}

const outboxElected = "timerbus_ingest_outbox_elected"

// electedOf waits until one of the processes applies the rows of the outbox.
func electedOf(t *testing.T, members []*member) *member {
	t.Helper()
	for ctx := within(t, patience); ; pause(ctx, 20*time.Millisecond) {
		for _, m := range members {
			if m.metric(t, outboxElected) == 1 {
				return m
			}
		}
		if ctx.Err() != nil {
			t.Fatal("no process applies the rows of the outbox")
		}
	}
}

// TestOutboxThatIsMissing: the process starts, says what is missing, and applies rows when the tables exist.
func TestOutboxThatIsMissing(t *testing.T) {
	t.Parallel()
	for _, server := range outboxServers {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, server)
			w := &world{Service: newService(t, t.TempDir(), harness.WithArgs("--outbox", s.url)), namespace: "default"}
			if err := w.Launch(); err != nil {
				t.Fatal(err)
			}
			w.connectAPI(t)
			// For 30 s after its start it is not ready; requests are served nevertheless.
			ctx := within(t, 2*patience)
			for !strings.Contains(w.probe(ctx), "outbox table is missing") {
				if pause(ctx, 50*time.Millisecond); ctx.Err() != nil {
					t.Fatalf("/readyz answers %s", w.probe(t.Context()))
				}
			}
			w.create(t, "by-http", 0)
			w.calls(t, "by-http", 1)
			s.migrate(t, server)
			if err := w.Ready(within(t, patience)); err != nil {
				t.Fatal(err)
			}
			s.insert(t, "create", `{"id":"by-outbox","executeIn":"0s","callbackUrl":"`+w.receiver.URL+`"}`)
			w.calls(t, "by-outbox", 1)
			s.emptied(t)
			if !strings.Contains(w.Log(), "timerbus outbox") {
				t.Error("the log does not say how to create the table")
			}
		})
	}
}

// probe returns the answer of /readyz, or why there is none.
func (w *world) probe(ctx context.Context) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL()+"/readyz", http.NoBody)
	if err != nil {
		return err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestOutboxSettings: a URL that cannot be one of an outbox is refused at the start, without its password.
func TestOutboxSettings(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"sqlite:shop", "postgres://shop:hidden@host:port/shop", "mysql://shop:hidden@host"} {
		service := newService(t, t.TempDir(), harness.WithArgs("--outbox", bad))
		if err := service.Launch(); err != nil {
			t.Fatal(err)
		}
		code, err := service.Exit(within(t, patience))
		out := service.Log()
		if err != nil || code != 2 || !strings.Contains(out, "mysql://USER") && !strings.Contains(out, "postgres://USER") ||
			strings.Contains(out, "hidden") {
			t.Errorf("--outbox %s: %d, %v\n%s", bad, code, err, out)
		}
	}
	out, err := exec.CommandContext(t.Context(), binary, "outbox", "oracle").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "want postgres or mysql") {
		t.Errorf("outbox oracle: %v\n%s", err, out)
	}
}
