package testclock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestTheClockAdvancesAtNormalSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		now := timer.FromTime(time.Now())
		if c.Now() != now {
			t.Errorf("at first: %v, want %v", c.Now(), now)
		}
		for _, to := range []timer.Millis{now.Add(time.Hour), now} { // it does not move back
			if err := c.forward(to); err != nil {
				t.Fatal(err)
			}
			if c.Now() != now.Add(time.Hour) || c.Real(c.Now()) != now || c.Offset() != time.Hour {
				t.Errorf("moved to %v, which is %v", c.Now(), c.Real(c.Now()))
			}
		}
		_, before := c.Machine()
		time.Sleep(time.Minute)
		if _, after := c.Machine(); c.Now() != now.Add(time.Hour+time.Minute) || after-before != time.Minute {
			t.Errorf("a minute later: %v", c.Now())
		}
	})
}

func TestAFolderKeepsTheOffset(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(folder); err != nil {
		t.Errorf("before the first move: %v", err)
	}
	for range 2 {
		if err := c.forward(c.Now().Add(48 * time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if again.Offset() != c.Offset() || again.Offset() < 95*time.Hour {
		t.Errorf("offset %v, then %v", c.Offset(), again.Offset())
	}
	err = Check(folder)
	for _, part := range []string{folder, "--test-clock", "--data", "96h"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not name %s", err, part)
		}
	}
}

func TestADamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "no JSON": "1h", "no duration": `{"offset":"tomorrow"}`, "negative": `{"offset":"-1h"}`, "centuries": `{"offset":"1752000h"}`,
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, fileName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Open: %v", name, err)
		}
		if err := Check(folder); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Check: %v", name, err)
		}
	}
}

// If the offset cannot be stored, the clock does not move: the clock of the next process would show an earlier time.
func TestAMoveThatCannotBeStoredFails(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	c, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if err := c.forward(c.Now().Add(time.Hour)); err == nil || c.Offset() != 0 {
		t.Errorf("%v, offset %v", err, c.Offset())
	}
}
