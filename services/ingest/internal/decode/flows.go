package decode

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func readFlowKey(field string, v value) (string, error) {
	s, err := v.string(field, "1 to 255 bytes of UTF-8 without control characters")
	if err == nil {
		err = timer.CheckFlowKey(s)
	}
	return s, err
}

// readFlowLimits decodes an array of limits.
func readFlowLimits(field string, v value) (timer.FlowLimits, error) {
	const want = `an array of limits, such as [{"pattern":"tenant-*","rate":{"count":10,"per":"1s"},"concurrency":4}]`
	if v[0] != '[' {
		return "", timer.Invalid(field, raw(v), want)
	}
	var limits []timer.FlowLimit
	var err error
	v.each(func(element value) {
		if err != nil {
			return
		}
		if len(limits) == timer.MaxFlowLimits {
			err = timer.Invalid(field, "more", fmt.Sprintf("at most %d limits", timer.MaxFlowLimits))
			return
		}
		if element[0] != '{' {
			err = timer.Invalid(field, raw(element), want)
			return
		}
		var l timer.FlowLimit
		l, err = readFlowLimit(fmt.Sprintf("%s[%d]", field, len(limits)), element)
		limits = append(limits, l)
	})
	if err != nil {
		return "", err
	}
	return timer.NewFlowLimits(limits)
}

func readFlowLimit(path string, v value) (l timer.FlowLimit, err error) {
	err = v.object(path, []string{"pattern", "rate", "concurrency"}, func(name string, v value) (err error) {
		field := path + "." + name
		switch {
		case v.isNull(): // counts as absent
		case name == "pattern":
			l.Pattern, err = v.string(field, "1 to 255 bytes of UTF-8")
		case name == "rate":
			l.Rate, err = readFlowRate(field, v)
		default:
			l.Concurrency, err = v.integer(field, 1, timer.MaxFlowConcurrency, "1 to 10000")
		}
		return err
	})
	return l, err
}

func readFlowRate(path string, v value) (timer.FlowRate, error) {
	r := timer.FlowRate{Burst: 1}
	err := v.object(path, []string{"count", "per", "burst"}, func(name string, v value) (err error) {
		field := path + "." + name
		switch {
		case v.isNull(): // counts as absent
		case name == "count":
			r.Count, err = v.integer(field, 1, timer.MaxFlowCount, "1 to 1000000")
		case name == "per":
			r.Per, err = readDuration(field, v)
		default:
			r.Burst, err = v.integer(field, 1, timer.MaxFlowCount, "1 to the count")
		}
		return err
	})
	switch {
	case err != nil:
	case r.Count == 0:
		err = timer.Invalid(path+".count", missing{}, "1 to 1000000")
	case r.Per == 0:
		err = timer.Invalid(path+".per", missing{}, `a duration from "1s" to "24h"`)
	}
	return r, err
}

// TargetList is the body of targets/list.
type TargetList struct {
	Namespace string
	Limit     int
}

// ReadTargetList decodes the body of targets/list.
func ReadTargetList(body []byte) (TargetList, error) {
	l := TargetList{Namespace: DefaultNamespace, Limit: DefaultLimit}
	err := members(body, []string{"namespace", "limit"}, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "namespace":
			l.Namespace, err = readNamespace(name, v)
		default:
			err = readLimit(&l.Limit, v)
		}
		return err
	})
	return l, err
}

// FlowList is the body of flows/list.
type FlowList struct {
	Namespace, After string
	Limit            int
}

// ReadFlowList decodes the body of flows/list.
func ReadFlowList(body []byte) (FlowList, error) {
	const wantAfter = "a flow key, such as next of the page before"
	l := FlowList{Namespace: DefaultNamespace, Limit: DefaultLimit}
	err := members(body, []string{"namespace", "after", "limit"}, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "namespace":
			l.Namespace, err = readNamespace(name, v)
		case name == "after" && string(v) == `""`: // the first page
		case name == "after":
			if l.After, err = v.string(name, wantAfter); err == nil && timer.CheckFlowKey(l.After) != nil {
				err = timer.Invalid(name, l.After, wantAfter)
			}
		default:
			l.Limit, err = v.integer(name, 1, store.MaxFlowPage, "1 to 1000")
		}
		return err
	})
	return l, err
}
