package backend

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

func TestKafkaURLs(t *testing.T) {
	for raw, want := range map[string]kafkabus.Options{
		"kafka://a:9092?prefix=p": {Brokers: []string{"a:9092"}, Prefix: "p"},
		"kafka://a:9092,[::1]:9093?replicas=3&session=10s&instance=i-1&create=false": {
			Brokers: []string{"a:9092", "[::1]:9093"}, Replicas: 3, Session: 10 * time.Second, InstanceID: "i-1", NoCreate: true,
		},
		"kafka://me:p%40ss@a:9092?sasl=PLAIN&balancer=server": {
			Brokers: []string{"a:9092"}, SASL: kafkabus.Credentials{Mechanism: "PLAIN", User: "me", Password: "p@ss"},
			ServerBalancer: true,
		},
		"kafka://me:secret@a:9092": {
			Brokers: []string{"a:9092"}, SASL: kafkabus.Credentials{Mechanism: "SCRAM-SHA-256", User: "me", Password: "secret"},
		},
	} {
		got, err := kafkaOptions(raw)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nwant %+v", raw, got, err, want)
		}
	}
	if o, err := kafkaOptions("kafka://a:9092?tls=true"); err != nil || o.TLS == nil {
		t.Errorf("with TLS: %+v, %v", o, err)
	}
}

func TestKafkaURLsThatAreRefused(t *testing.T) {
	for raw, want := range map[string]string{
		"kafka://x":                      "kafka://x",
		"kafka:a:9092":                   "HOST:PORT",
		"kafka://me:secret@x":            "kafka://me@x",
		"kafka://a:9092,":                "HOST:PORT",
		"kafka://a:99999":                "HOST:PORT",
		"kafka://a:9092?replicas=0":      `replicas: "0" is not accepted: want a number from 1`,
		"kafka://a:9092?session=6":       `session: "6" is not accepted`,
		"kafka://a:9092?queue=share":     "parameter queue: share groups were removed",
		"kafka://a:9092?queue=group":     "parameter queue: share groups were removed",
		"kafka://a:9092?ca=/nowhere.pem": `ca: "/nowhere.pem" is not accepted: want a file of certificates in PEM`,
		"kafka://a:9092?acks=1":          `parameter: "acks" is not accepted: want one of replicas`,
	} {
		_, err := kafkaOptions(raw)
		if !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v\nwant ErrURL and %s", raw, err, want)
		}
	}
}
