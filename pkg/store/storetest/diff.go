package storetest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// diff returns the fields in which two values of one type differ, or "". Payloads are compared byte for byte, and nil
// differs from empty, because no payload is stored as no payload.
func diff(got, want any) string {
	if reflect.DeepEqual(got, want) {
		return ""
	}
	var out []string
	walk(&out, "", reflect.ValueOf(got), reflect.ValueOf(want))
	return strings.Join(out, "; ")
}

// comparableTimer removes the parts that engines may omit.
func comparableTimer(t timer.Timer) timer.Timer {
	if t.Status == timer.StatusDone {
		t.Payload = nil
	}
	return t
}

func walk(out *[]string, path string, got, want reflect.Value) {
	differ := func() {
		*out = append(*out, fmt.Sprintf("%s is %s, want %s", strings.TrimPrefix(path, "."), show(got), show(want)))
	}
	if !got.IsValid() || !want.IsValid() || got.Type() != want.Type() {
		if got.IsValid() != want.IsValid() || got.IsValid() {
			differ()
		}
		return
	}
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			walk(out, path+"."+got.Type().Field(i).Name, got.Field(i), want.Field(i))
		}
	case reflect.Slice:
		if got.Type().Elem().Kind() == reflect.Uint8 || got.Len() != want.Len() {
			if !reflect.DeepEqual(got.Interface(), want.Interface()) {
				differ()
			}
			return
		}
		for i := range got.Len() {
			walk(out, fmt.Sprintf("%s[%d]", path, i), got.Index(i), want.Index(i))
		}
	case reflect.Pointer:
		if got.IsNil() || want.IsNil() {
			if got.IsNil() != want.IsNil() {
				differ()
			}
			return
		}
		walk(out, path, got.Elem(), want.Elem())
	default:
		if !reflect.DeepEqual(got.Interface(), want.Interface()) {
			differ()
		}
	}
}

func show(v reflect.Value) string {
	const most = 300
	s := describe(v)
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

// describe formats a value like %+v, without zero fields, addresses and long payloads.
func describe(v reflect.Value) string {
	if !v.IsValid() {
		return "nothing"
	}
	if s, ok := reflect.TypeAssert[fmt.Stringer](v); ok && v.Kind() != reflect.Pointer {
		return s.String()
	}
	var parts []string
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "none"
		}
		return describe(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				parts = append(parts, v.Type().Field(i).Name+":"+describe(f))
			}
		}
		return v.Type().Name() + "{" + strings.Join(parts, " ") + "}"
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			const most = 40
			b := v.Bytes()
			if b == nil {
				return "none"
			}
			if len(b) > most {
				return fmt.Sprintf("%q… (%d bytes)", b[:most], len(b))
			}
			return fmt.Sprintf("%q", b)
		}
		for i := range v.Len() {
			parts = append(parts, describe(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	default:
		return fmt.Sprintf("%+v", v.Interface())
	}
}
