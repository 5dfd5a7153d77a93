package encryption_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/encryption"
)

func keyText(first byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(first), encryption.KeySize)))
}

func keys(t *testing.T, text string) encryption.Keyring {
	t.Helper()
	ring, err := encryption.ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestEncryptedTextIsDecrypted(t *testing.T) {
	ring := keys(t, keyText('a'))
	for _, secret := range []string{"", "x", strings.Repeat("long", 10_000)} {
		encrypted, err := ring.Encrypt("place", []byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(encrypted, "longlong") {
			t.Errorf("the secret is readable: %.100s", encrypted)
		}
		again, err := ring.Encrypt("place", []byte(secret))
		if err != nil || again == encrypted {
			t.Errorf("encrypted twice the same: %v", err)
		}
		if got, err := ring.Decrypt("place", encrypted); err != nil || string(got) != secret {
			t.Errorf("opened %q, %v", got, err)
		}
		if strings.ContainsAny(encrypted, " \n") {
			t.Errorf("a encrypted text has blanks: %q", encrypted)
		}
	}
}

func TestWhatIsSealedOpensNowhereElse(t *testing.T) {
	ring := keys(t, keyText('a'))
	encrypted, err := ring.Encrypt("place", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Decrypt("other place", encrypted); !errors.Is(err, encryption.ErrDamaged) {
		t.Errorf("in another place: %v", err)
	}
	for at := range encrypted {
		changed := []byte(encrypted)
		changed[at] ^= 1
		if got, err := ring.Decrypt("place", string(changed)); err == nil {
			t.Errorf("changed at byte %d it opens as %q", at, got)
		}
		if got, err := ring.Decrypt("place", encrypted[:at]); err == nil {
			t.Errorf("cut at byte %d it opens as %q", at, got)
		}
	}
}

func TestKeysAreRotated(t *testing.T) {
	old, both, fresh := keys(t, keyText('a')), keys(t, keyText('b')+", "+keyText('a')), keys(t, keyText('b'))
	encrypted, err := old.Encrypt("place", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := both.Decrypt("place", encrypted); err != nil || string(got) != "secret" {
		t.Errorf("the second key opens %q, %v", got, err)
	}
	if both.IsCurrent(encrypted) || !old.IsCurrent(encrypted) || (encryption.Keyring{}).IsCurrent(encrypted) || both.IsCurrent("nonsense") {
		t.Error("current is what the first key encrypted")
	}
	_, err = fresh.Decrypt("place", encrypted)
	if !errors.Is(err, encryption.ErrUnknownKey) || !strings.Contains(err.Error(), old.IDs()[0]) || !strings.Contains(err.Error(), fresh.IDs()[0]) {
		t.Errorf("without its key: %v; want it to name both keys", err)
	}
	if _, err := (encryption.Keyring{}).Decrypt("place", encrypted); !errors.Is(err, encryption.ErrUnknownKey) {
		t.Errorf("without any key: %v", err)
	}
	again, err := both.Encrypt("place", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fresh.Decrypt("place", again); err != nil || string(got) != "secret" || !both.IsCurrent(again) {
		t.Errorf("encrypted anew, the first key opens %q, %v", got, err)
	}
	if !slices.Equal(both.IDs(), []string{fresh.IDs()[0], old.IDs()[0]}) {
		t.Errorf("ids: %v", both.IDs())
	}
}

func TestWithoutAKeyNothingIsSealed(t *testing.T) {
	for _, text := range []string{"", " ", "\n"} {
		if encrypted, err := keys(t, text).Encrypt("place", []byte("secret")); !errors.Is(err, encryption.ErrNoKey) || encrypted != "" {
			t.Errorf("%q: encrypted %q, %v", text, encrypted, err)
		}
	}
}

func TestKeysThatAreNotAccepted(t *testing.T) {
	for what, text := range map[string]string{
		"not base64": "hunter2!", "too short": base64.StdEncoding.EncodeToString([]byte("hunter2")),
		"too long": keyText('a') + keyText('a'), "one of two": keyText('a') + ",hunter2",
		"twice the same": keyText('a') + "," + keyText('a'), "a comma too many": keyText('a') + ",",
	} {
		_, err := encryption.ParseKeys(text)
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
	ring, err := encryption.ParseKeys(keyText('a'))
	if err != nil {
		f.Fatal(err)
	}
	encrypted, err := ring.Encrypt("place", []byte("secret"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encrypted)
	f.Add("v1:" + ring.IDs()[0] + ":")
	f.Add("v1::")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ring.Decrypt("place", text)
		if err == nil && text != encrypted {
			t.Fatalf("%q opens as %q", text, got)
		}
		if err != nil && !errors.Is(err, encryption.ErrDamaged) && !errors.Is(err, encryption.ErrUnknownKey) {
			t.Fatalf("an error without a name: %v", err)
		}
	})
}

func TestReplacedKeysApplyToCopies(t *testing.T) {
	ring := keys(t, keyText(1))
	copied := ring
	old, err := ring.Encrypt("place", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	ring.Replace(keys(t, keyText(2)+","+keyText(1)))
	if got, err := copied.Decrypt("place", old); err != nil || string(got) != "secret" || copied.IsCurrent(old) {
		t.Errorf("%s, %v, current %v", got, err, copied.IsCurrent(old))
	}
	ring.Replace(encryption.Keyring{})
	if _, err := copied.Encrypt("place", nil); !errors.Is(err, encryption.ErrNoKey) {
		t.Errorf("without keys: %v", err)
	}
}
