package main

import (
	"strings"
	"testing"
)

// TestMigrateWithoutADatabase: an error of the command line is a usage error, an error of the database is not. Neither
// shows a password.
func TestMigrateWithoutADatabase(t *testing.T) {
	hermetic(t)
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"migrate up": {exitUsage, "--store: "},
		"migrate status --store oracle://u:secret@h/db":                  {exitUsage, "postgres://USER:PASSWORD@HOST:PORT/DATABASE"},
		"migrate up --store sqlite:x":                                    {0, "nothing to do"},
		"migrate status --store memory:":                                 {0, "nothing to do"},
		"migrate up --store postgres://u:secret@h:port/db":               {1, "cannot be read"},
		"migrate up --store postgres://u:secret@127.0.0.1:1/db":          {exitUnreachable, "does not answer"},
		"migrate status --store postgres://u:secret@127.0.0.1:1/db":      {exitUnreachable, "does not answer"},
		"migrate up --store postgres://u:secret@127.0.0.1:1/db sideways": {exitUsage, "wants no argument"},
		"migrate partitions --store mysql://u:secret@h/db":               {0, "nothing to do: only PostgreSQL"},
		"migrate partitions --store sqlite:x":                            {0, "nothing to do: only PostgreSQL"},
		"migrate partitions --store oracle://u:secret@h/db":              {exitUsage, "postgres://USER:PASSWORD@HOST:PORT/DATABASE"},
		"migrate partitions --store postgres://u:secret@127.0.0.1:1/db":  {exitUnreachable, "does not answer"},
		"migrate sideways": {exitUsage, "sideways"},
	} {
		t.Run(args, func(t *testing.T) {
			got := command(t, strings.Fields(args)...)
			told := got.stdout + got.stderr
			if got.code != want.code || !strings.Contains(told, want.text) || strings.Contains(told, "secret") {
				t.Errorf("exit code %d\n%s\nwant %d and %s", got.code, told, want.code, want.text)
			}
		})
	}
}

func TestMigrateReadsItsStoreFromTheEnvironment(t *testing.T) {
	hermetic(t)
	t.Setenv("TIMERBUS_STORE", "postgres://u:secret@127.0.0.1:1/fromenv")
	if got := command(t, "migrate", "status"); got.code != exitUnreachable || !strings.Contains(got.stderr, "127.0.0.1:1/fromenv") {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
	if got := command(t, "migrate", "up", "--help"); strings.Contains(got.stdout, "secret") {
		t.Errorf("the password is shown:\n%s", got.stdout)
	}
}
