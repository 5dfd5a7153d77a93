package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
)

//testenv:need postgres

// TestCommandInATransaction: a transaction that is rolled back leaves neither order nor timer; the timer of a committed
// transaction fires.
func TestCommandInATransaction(t *testing.T) {
	server := os.Getenv("TIMERBUS_TEST_POSTGRES")
	if server == "" {
		if slices.Contains(strings.Split(os.Getenv("TIMERBUS_REQUIRE"), ","), "postgres") {
			t.Fatal("TIMERBUS_REQUIRE names postgres, and TIMERBUS_TEST_POSTGRES is not set")
		}
		t.Skip("no postgres: `make test MODULES=examples` starts one")
	}
	s, err := openShop(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	service, stop, err := s.timerbus(t.Context())
	if err != nil {
		t.Fatal(errors.Join(err, s.close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(stop(), s.close()); err != nil {
			t.Error(err)
		}
	})
	fired, err := s.subscriber.Subscribe(t.Context(), watermillclient.Fired)
	if err != nil {
		t.Fatal(err)
	}

	if err := s.place(t.Context(), "rolled-back", "500ms", false); !errors.Is(err, errSoldOut) {
		t.Fatalf("placed: %v", err)
	}
	if err := s.place(t.Context(), "committed", "500ms", true); err != nil {
		t.Fatal(err)
	}
	m := <-fired
	m.Ack()
	if _, d, err := watermillclient.ReadFired(m); err != nil || d.TimerID != "committed" {
		t.Errorf("fired %+v, %v", d, err)
	}
	// Commands are applied in order, and the later timer has fired. So the earlier one would exist by now.
	page, err := service.Client().ListTimers(t.Context(), client.ListTimersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range page.Timers {
		if page.Timers[i].ID == "rolled-back" {
			t.Errorf("a rolled-back transaction left the timer %+v", page.Timers[i])
		}
	}
	var apiError *client.Error
	_, err = service.Client().GetTimer(t.Context(), client.TimerSelection{TimerID: "rolled-back"})
	if !errors.As(err, &apiError) || apiError.Code != client.CodeTimerNotFound {
		t.Errorf("the timer of a rolled-back transaction: %v", err)
	}
	var orders []string
	rows, err := s.db.Query(t.Context(), "SELECT id FROM orders")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		orders = append(orders, id)
	}
	if !slices.Equal(orders, []string{"committed"}) {
		t.Errorf("orders %v", orders)
	}
}
