package seal_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/seal"
)

func keyText(first byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(first), seal.KeySize)))
}

func keys(t *testing.T, text string) seal.Keyring {
	t.Helper()
	ring, err := seal.ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestWhatIsSealedOpensAgain(t *testing.T) {
	ring := keys(t, keyText('a'))
	for _, secret := range []string{"", "x", strings.Repeat("long", 10_000)} {
		sealed, err := ring.Seal("place", []byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(sealed, "longlong") {
			t.Errorf("the secret is readable: %.100s", sealed)
		}
		again, err := ring.Seal("place", []byte(secret))
		if err != nil || again == sealed {
			t.Errorf("sealed twice the same: %v", err)
		}
		if got, err := ring.Open("place", sealed); err != nil || string(got) != secret {
			t.Errorf("opened %q, %v", got, err)
		}
		if strings.ContainsAny(sealed, " \n") {
			t.Errorf("a sealed text has blanks: %q", sealed)
		}
	}
}

func TestWhatIsSealedOpensNowhereElse(t *testing.T) {
	ring := keys(t, keyText('a'))
	sealed, err := ring.Seal("place", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Open("other place", sealed); !errors.Is(err, seal.ErrDamaged) {
		t.Errorf("in another place: %v", err)
	}
	for at := range sealed {
		changed := []byte(sealed)
		changed[at] ^= 1
		if got, err := ring.Open("place", string(changed)); err == nil {
			t.Errorf("changed at byte %d it opens as %q", at, got)
		}
		if got, err := ring.Open("place", sealed[:at]); err == nil {
			t.Errorf("cut at byte %d it opens as %q", at, got)
		}
	}
}

func TestKeysAreRotated(t *testing.T) {
	old, both, fresh := keys(t, keyText('a')), keys(t, keyText('b')+", "+keyText('a')), keys(t, keyText('b'))
	sealed, err := old.Seal("place", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := both.Open("place", sealed); err != nil || string(got) != "secret" {
		t.Errorf("the second key opens %q, %v", got, err)
	}
	if both.Current(sealed) || !old.Current(sealed) || (seal.Keyring{}).Current(sealed) || both.Current("nonsense") {
		t.Error("current is what the first key sealed")
	}
	_, err = fresh.Open("place", sealed)
	if !errors.Is(err, seal.ErrUnknownKey) || !strings.Contains(err.Error(), old.IDs()[0]) || !strings.Contains(err.Error(), fresh.IDs()[0]) {
		t.Errorf("without its key: %v; want it to name both keys", err)
	}
	if _, err := (seal.Keyring{}).Open("place", sealed); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("without any key: %v", err)
	}
	again, err := both.Seal("place", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fresh.Open("place", again); err != nil || string(got) != "secret" || !both.Current(again) {
		t.Errorf("sealed anew, the first key opens %q, %v", got, err)
	}
	if !slices.Equal(both.IDs(), []string{fresh.IDs()[0], old.IDs()[0]}) {
		t.Errorf("ids: %v", both.IDs())
	}
}

func TestWithoutAKeyNothingIsSealed(t *testing.T) {
	for _, text := range []string{"", " ", "\n"} {
		if sealed, err := keys(t, text).Seal("place", []byte("secret")); !errors.Is(err, seal.ErrNoKey) || sealed != "" {
			t.Errorf("%q: sealed %q, %v", text, sealed, err)
		}
	}
}

func TestKeysThatAreNotAccepted(t *testing.T) {
	for what, text := range map[string]string{
		"not base64": "hunter2!", "too short": base64.StdEncoding.EncodeToString([]byte("hunter2")),
		"too long": keyText('a') + keyText('a'), "one of two": keyText('a') + ",hunter2",
		"twice the same": keyText('a') + "," + keyText('a'), "a comma too many": keyText('a') + ",",
	} {
		_, err := seal.ParseKeys(text)
		if err == nil {
			t.Errorf("%s was accepted", what)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), keyText('a')) {
			t.Errorf("%s: the refusal shows it: %v", what, err)
		}
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	ring := keys(t, keyText('a'))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if got := fmt.Sprintf(verb, ring); got != "keys ["+ring.IDs()[0]+"]" {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

func FuzzOpen(f *testing.F) {
	ring, err := seal.ParseKeys(keyText('a'))
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := ring.Seal("place", []byte("secret"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add("v1:" + ring.IDs()[0] + ":")
	f.Add("v1::")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ring.Open("place", text)
		if err == nil && text != sealed {
			t.Fatalf("%q opens as %q", text, got)
		}
		if err != nil && !errors.Is(err, seal.ErrDamaged) && !errors.Is(err, seal.ErrUnknownKey) {
			t.Fatalf("an error without a name: %v", err)
		}
	})
}
