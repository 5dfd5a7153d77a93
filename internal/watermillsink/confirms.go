package watermillsink

import (
	"errors"
	"reflect"
	"strings"

	"github.com/ThreeDotsLabs/watermill/message"
)

// errUnconfirmed rejects a Publisher that reports events as published although its broker may not have them.
var errUnconfirmed = errors.New("watermillsink: the RabbitMQ Publisher does not wait for the broker's confirms, so events would be " +
	"lost: set Publish.ConfirmDelivery (or Publish.Transactional) in its amqp.Config")

// maxDecorators bounds how many decorators are searched.
const maxDecorators = 16

// checkConfirms checks whether a Publisher is Watermill's RabbitMQ one, decorated or not, and waits for confirms. It
// uses reflection, because the Publisher does not export its configuration and this package does not depend on its
// module. Unknown Publishers pass: docs/watermill.md describes the requirements for every Publisher.
func checkConfirms(p message.Publisher) error {
	v := reflect.ValueOf(p)
	for range maxDecorators {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return nil
		}
		if strings.HasPrefix(v.Type().PkgPath(), "github.com/ThreeDotsLabs/watermill-amqp/") {
			return checkRabbitMQ(v)
		}
		v = decorated(v)
	}
	return nil
}

func checkRabbitMQ(publisher reflect.Value) error {
	config, ok := structField(publisher, "config")
	if ok {
		config, ok = structField(config, "Publish")
	}
	if !ok {
		return nil // an unknown version
	}
	for _, name := range []string{"ConfirmDelivery", "Transactional"} {
		if f := config.FieldByName(name); f.Kind() == reflect.Bool && f.Bool() {
			return nil
		}
	}
	return errUnconfirmed
}

func structField(v reflect.Value, name string) (reflect.Value, bool) {
	f := v.FieldByName(name)
	return f, f.Kind() == reflect.Struct
}

var publisherType = reflect.TypeFor[message.Publisher]()

// decorated returns the Publisher that a decorator passes messages to: its field of that type.
func decorated(v reflect.Value) reflect.Value {
	for _, f := range v.Fields() {
		if f.Type() == publisherType {
			return f
		}
	}
	return reflect.Value{}
}
