package store_test

import (
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

func TestSchemaIsUsable(t *testing.T) {
	for _, c := range []struct {
		schema store.Schema
		want   string // empty: usable
	}{
		{store.Schema{Known: 3}, "there is no schema yet"},
		{store.Schema{Version: 2, Known: 3, Oldest: 1, OldestProgram: "0.1"}, "this program needs 3"},
		{store.Schema{Version: 3, Known: 3, Oldest: 3, OldestProgram: "0.2"}, ""},
		{store.Schema{Version: 5, Known: 3, Oldest: 3, OldestProgram: "0.2"}, ""},
		{store.Schema{Version: 5, Known: 3, Oldest: 4, OldestProgram: "0.4"}, "use timerbus 0.4 or newer"},
	} {
		err := c.schema.Usable()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.schema, err, c.want)
		}
	}
}
