package relational

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestParametersAreNumberedAndCast(t *testing.T) {
	const text = "SELECT a FROM t WHERE a > @from_shard AND b = @uuid AND c < @from_shard"
	for _, c := range []struct {
		dialect    Dialect
		sql        string
		parameters []string
	}{
		{
			Dialect{Mark: "$", Types: map[string]string{"uuid": "uuid"}},
			"SELECT a FROM t WHERE a > $1 AND b = $2::uuid AND c < $1",
			[]string{"from_shard", "uuid"},
		},
		{
			Dialect{Mark: "?", Unnumbered: true},
			"SELECT a FROM t WHERE a > ? AND b = ? AND c < ?",
			[]string{"from_shard", "uuid", "from_shard"},
		},
	} {
		s := c.dialect.statement("name", text)
		if s.SQL != c.sql || !slices.Equal(s.Parameters, c.parameters) {
			t.Errorf("got %q with %q, want %q with %q", s.SQL, s.Parameters, c.sql, c.parameters)
		}
	}
}

func TestPositionsAreCompared(t *testing.T) {
	key := []string{"a", "b", "c"}
	for _, c := range []struct {
		dialect  Dialect
		operator string
		want     string
	}{
		{Dialect{}, ">", "(a, b, c) > (@from_shard, @from_uuid, @from_generation)"},
		{
			Dialect{NoRowComparison: true},
			">",
			"(a > @from_shard OR a = @from_shard AND b > @from_uuid OR a = @from_shard AND b = @from_uuid AND c > @from_generation)",
		},
		{
			Dialect{NoRowComparison: true},
			"<=",
			"(a < @from_shard OR a = @from_shard AND b < @from_uuid OR a = @from_shard AND b = @from_uuid AND c <= @from_generation)",
		},
	} {
		if got := c.dialect.compare(key, c.operator, "from"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.operator, got, c.want)
		}
	}
}

func TestColumnsThatAreNullChangeNothing(t *testing.T) {
	number, text, raw, at, uuid := int64(1), "a", []byte{1}, timer.Never, timer.UUID{1}
	for _, dest := range []any{&number, &text, &raw, &at, &uuid} {
		column, ok := nullableOf(dest).(sql.Scanner)
		if !ok {
			t.Fatalf("%T is not scanned", dest)
		}
		if err := column.Scan(nil); err != nil {
			t.Errorf("%T: %v", dest, err)
		}
	}
	if number != 1 || text != "a" || len(raw) != 1 || at != timer.Never || uuid != (timer.UUID{1}) {
		t.Error("NULL changed", number, text, raw, at, uuid)
	}
}

func TestSQLArguments(t *testing.T) {
	if got := SQLArgument([]shard.ID{7, 4_000_000_000}); got != "[7,4000000000]" {
		t.Errorf("shards are %v", got)
	}
	if got, ok := SQLArgument(timer.UUID{1}).([]byte); !ok || len(got) != 16 {
		t.Errorf("a uuid is %v", got)
	}
}
