package storetest

import (
	"fmt"
	"reflect"
	"strings"
)

// diff names what differs between two values of one type, or returns "". Payloads are compared byte
// for byte, and nil is not empty: none is stored as none.
func diff(got, want any) string {
	var out []string
	walk(&out, "", reflect.ValueOf(got), reflect.ValueOf(want))
	return strings.Join(out, "; ")
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
	if !v.IsValid() {
		return "nothing"
	}
	s := fmt.Sprintf("%+v", v.Interface())
	if b, ok := v.Interface().([]byte); ok && b != nil {
		s = fmt.Sprintf("%q", b)
	}
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}
