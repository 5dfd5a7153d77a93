package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestCallbackAuthAsText(t *testing.T) {
	for want, auth := range map[string]store.CallbackAuth{
		"": {},
		`{"type":"oauth2","tokenUrl":"https://id/t","clientId":"c","scopes":"a b","audience":"d","secret":"v1:k:e"}`: {
			Type: store.AuthOAuth2, TokenURL: "https://id/t", ClientID: "c", Scopes: "a b", Audience: "d", EncryptedSecret: "v1:k:e",
		},
		`{"type":"basic","username":"ü","secret":"v1:k:e"}`: {Type: store.AuthBasic, Username: "ü", EncryptedSecret: "v1:k:e"},
		`{"type":"bearer","secret":"v1:k:e"}`:               {Type: store.AuthBearer, EncryptedSecret: "v1:k:e"},
	} {
		if got := auth.String(); got != want {
			t.Errorf("as text: %s, want %s", got, want)
		}
		if back, err := store.ParseCallbackAuth(want); err != nil || back != auth {
			t.Errorf("%s became %+v, %v", want, back, err)
		}
	}
	for _, text := range []string{"x", "{", "[]", `{"secret":7}`, `{"type":"basic"} {}`} {
		if auth, err := store.ParseCallbackAuth(text); err == nil || auth != (store.CallbackAuth{}) {
			t.Errorf("%q was read as %+v", text, auth)
		}
	}
}

func TestOneSourceOfTheHeaderAuthorization(t *testing.T) {
	settings := store.DefaultSettings()
	settings.Auth = store.CallbackAuth{Type: store.AuthBearer, EncryptedSecret: "v1:k:e"}
	settings.Headers = "X-Authorization: a\n"
	if err := settings.Check(); err != nil {
		t.Error(err)
	}
	settings.Headers = "Authorization: hunter2\n"
	err := settings.Check()
	if invalid, ok := errors.AsType[*timer.InvalidError](err); !ok || invalid.Field != "callbackAuth" || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("both: %v", err)
	}
	settings.Auth = store.CallbackAuth{}
	if err := settings.Check(); err != nil {
		t.Error(err)
	}
}
