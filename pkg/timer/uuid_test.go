package timer_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/timer"
)

// TestUUIDOf compares with the results of another implementation of RFC 9562: version 5, in the name space
// 7515f2da-4d8e-5679-8b32-3152fb295fc4, of "<length>:<namespace><id>".
func TestUUIDOf(t *testing.T) {
	for _, c := range []struct{ namespace, id, want string }{
		{"default", "order-1", "9a0af39d-ac5f-5e3b-845a-27f02d7c5a5e"}, // 7:defaultorder-1
		{"a:", "b", "2621d644-039a-5543-96f7-a6c729efb34a"},
		{"a", ":b", "a1cec1c9-ea6a-5eac-ace0-ed8746301430"},
		{"1", "2", "cd863a7f-ae02-5b51-82ae-15281a911a42"},
		{"12", "", "1cc37e65-c5a0-5f20-a389-f841ac9b0b12"},
		{"default", "ä", "85f731de-4b58-55d7-9017-cafbaa9d9147"},
		{"default", "日本語", "3922ab7d-1915-5c79-b872-c6f760554399"},
		{strings.Repeat("x", 255), strings.Repeat("y", 255), "fd0af912-1133-5f19-a00a-6124555198f8"},
	} {
		u := timer.UUIDOf(c.namespace, c.id)
		if got := u.String(); got != c.want {
			t.Errorf("UUIDOf(%q, %q) = %s, want %s", c.namespace, c.id, got, c.want)
		}
		if u[6]>>4 != 5 || u[8]>>6 != 2 {
			t.Errorf("%s is not of version 5, variant 10", u)
		}
	}
}

func TestUUIDsOrderAsUnsignedBytes(t *testing.T) {
	want := []timer.UUID{{}, {0: 0x01}, {0: 0x7f, 15: 0xff}, {0: 0x80}, {0: 0x80, 15: 1}, {0: 0xff}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, timer.UUID.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("sorted: %v, want %v", got, want)
	}
	if same := want[2]; want[2].Compare(same) != 0 {
		t.Error("a uuid differs from itself")
	}
}

func TestParseUUID(t *testing.T) {
	const text = "9a0af39d-ac5f-5e3b-845a-27f02d7c5a5e"
	for _, s := range []string{text, strings.ToUpper(text)} {
		if u, ok := timer.ParseUUID(s); !ok || u.String() != text {
			t.Errorf("ParseUUID(%q) = %s, %t", s, u, ok)
		}
	}
	for _, s := range []string{
		"", text[1:], text + "0", "{" + text[1:35] + "}", strings.ReplaceAll(text, "-", "_"), "g" + text[1:],
		strings.ReplaceAll(text, "-", ""), "9a0af39d-ac5f-5e3b-845a-27f02d7c5a5-",
	} {
		if u, ok := timer.ParseUUID(s); ok || u != (timer.UUID{}) {
			t.Errorf("ParseUUID(%q) = %s, %t; want it refused", s, u, ok)
		}
	}
}

func TestUUIDInJSON(t *testing.T) {
	u := timer.UUIDOf("default", "order-1")
	raw, err := json.Marshal(map[timer.UUID]timer.UUID{u: u})
	if err != nil {
		t.Fatal(err)
	}
	var back map[timer.UUID]timer.UUID
	if err := json.Unmarshal(raw, &back); err != nil || back[u] != u {
		t.Errorf("%s came back as %v, %v", raw, back, err)
	}
	if err := json.Unmarshal([]byte(`{"nope":"nope"}`), &back); err == nil {
		t.Error("a word was read as a uuid")
	}
}

func FuzzParseUUID(f *testing.F) {
	f.Add("9a0af39d-ac5f-5e3b-845a-27f02d7c5a5e")
	f.Add("9a0af39d-ac5f-5e3b-845a-27f02d7c5a5-")
	f.Fuzz(func(t *testing.T, s string) {
		u, ok := timer.ParseUUID(s)
		if ok && !strings.EqualFold(u.String(), s) {
			t.Errorf("%q was read as %s", s, u)
		}
		text, err := u.MarshalText()
		if back, backOK := timer.ParseUUID(string(text)); err != nil || !backOK || !bytes.Equal(back[:], u[:]) {
			t.Errorf("%s came back as %s", u, back)
		}
	})
}
