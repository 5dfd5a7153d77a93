package backend

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus/natsbus"
)

func TestNATSURLs(t *testing.T) {
	for raw, want := range map[string]natsbus.Options{
		"nats://a":                              {URL: "nats://a"},
		"nats://[::1]":                          {URL: "nats://[::1]"},
		"nats://a:4222,b,[::1]:4223?replicas=3": {URL: "nats://a:4222,nats://b,nats://[::1]:4223", Replicas: 3},
		"nats://a:1?lease=1d":                   {URL: "nats://a:1", LeaseTTL: 24 * time.Hour},
		"nats://a:1?lease=2s&prefix=p":          {URL: "nats://a:1", LeaseTTL: 2 * time.Second, Prefix: "p"},
		"nats://t%40ken@a:1,b:2":                {URL: "nats://a:1,nats://b:2", Token: "t@ken"},
		"nats://a:1?commands-size=1GiB&due-size=256MiB&events-size=100000000": {
			URL: "nats://a:1", CommandsMaxBytes: 1 << 30, QueueMaxBytes: 256 << 20, LogMaxBytes: 100_000_000,
		},
		"nats://a:1?replicas=3&due-streams=6":      {URL: "nats://a:1", Replicas: 3, QueueStreams: 6},
		"nats://me:p%40ss@a:1?replicas=5&lease=1s": {URL: "nats://a:1", Replicas: 5, LeaseTTL: time.Second, User: "me", Password: "p@ss"},
	} {
		got, err := natsOptions(raw)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nwant %+v", raw, got, err, want)
		}
	}
	if got, err := natsOptions("nats://a?tls=true"); err != nil || got.TLS == nil {
		t.Errorf("with TLS: %+v, %v", got, err)
	}
}

func TestNATSURLsThatAreRefused(t *testing.T) {
	for raw, want := range map[string]string{
		"nats:a:4222":                "HOST:PORT",
		"nats://me:secret@a,":        "nats://me@a,",
		"nats://secret@a:99999":      "HOST:PORT",
		"nats://a/b":                 "nats://a/b",
		"nats://:4222":               "HOST:PORT",
		"nats://a?replicas=2":        `replicas: "2" is not accepted: want 1, 3 or 5`,
		"nats://a?lease=100ms":       `lease: "100ms" is not accepted: want a duration from 1s`,
		"nats://a?ca=/nowhere.pem":   `ca: "/nowhere.pem" is not accepted: want a file of certificates in PEM`,
		"nats://a?commands-size=1MB": `commands-size: "1MB" is not accepted: want a size from 16MiB`,
		"nats://a?events-size=a+lot": `events-size: "a lot" is not accepted: want a size from 16MiB`,
		"nats://a?due-size=-1GB":     `due-size: "-1GB" is not accepted: want a size from 16MiB`,
		"nats://a?due-size=99EB":     `due-size: "99EB" is not accepted: want a size from 16MiB`,
		"nats://a?due-streams=0":     `due-streams: "0" is not accepted: want 1 to 16`,
		"nats://a?due-streams=17":    `due-streams: "17" is not accepted: want 1 to 16`,
		"nats://a?due-streams=many":  `due-streams: "many" is not accepted: want 1 to 16`,
		"nats://a?acks=1":            `parameter: "acks" is not accepted: want one of replicas`,
	} {
		_, err := natsOptions(raw)
		if !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v\nwant ErrURL and %s", raw, err, want)
		}
	}
}
