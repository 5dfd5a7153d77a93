package process

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/operations.md has one row for each setting, with its default.
func TestEverySettingIsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Settings() {
		shown := "`" + s.Default + "`"
		if s.Default == "" {
			shown = "none"
		}
		row := fmt.Sprintf("| `--%s` | %#q | %s | ", s.Name, s.Env, shown)
		if !strings.Contains(string(raw), row) {
			t.Errorf("no row begins with %s", row)
		}
		if s.Usage == "" {
			t.Errorf("%s has no usage", s.Name)
		}
	}
}
