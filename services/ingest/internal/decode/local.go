package decode

import (
	"cmp"
	"slices"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/timer"
)

// localFields are the local time in a body, of which executeAt becomes the instant.
type localFields struct {
	at, zone optional[string]
	gap      optional[timer.Gap]
	repeated optional[timer.Repeated]
}

var localNames = []string{"executeAtLocal", "timeZone", "gap", "repeated"}

// instantNames are the fields that a template must not have, because a schedule determines the time of its occurrences.
var instantNames = slices.Concat([]string{"executeAt", "executeIn", "expiresAt"}, localNames)

const (
	wantLocal    = "a local time without an offset, such as 2030-01-31T09:00:00, with at most milliseconds, in the years 1 to 9999"
	wantZone     = `a name of the IANA time zone database, such as "Europe/Berlin"`
	wantGap      = `"next" or "skip"`
	wantRepeated = `"first" or "second"`
)

func (f *localFields) read(name string, v value) (err error) {
	switch name {
	case "executeAtLocal":
		f.at.given = true
		if f.at.v, err = v.string(name, wantLocal); err == nil {
			_, err = timer.ParseLocal(f.at.v)
		}
	case "timeZone":
		f.zone.given = true
		f.zone.v, err = v.string(name, wantZone)
	case "gap":
		f.gap, err = maybe(name, v, readGap)
	case "repeated":
		f.repeated, err = maybe(name, v, readRepeated)
	}
	return err
}

func readGap(field string, v value) (timer.Gap, error) {
	switch s, err := v.string(field, wantGap); {
	case err != nil:
		return "", err
	case s == "next":
		return timer.GapNext, nil
	case s == string(timer.GapSkip):
		return timer.GapSkip, nil
	default:
		return "", timer.Invalid(field, s, wantGap)
	}
}

func readRepeated(field string, v value) (timer.Repeated, error) {
	switch s, err := v.string(field, wantRepeated); {
	case err != nil:
		return "", err
	case s == "first":
		return timer.RepeatedFirst, nil
	case s == string(timer.RepeatedSecond):
		return timer.RepeatedSecond, nil
	default:
		return "", timer.Invalid(field, s, wantRepeated)
	}
}

// complete checks what the fields require of each other and of the other times in the body.
func (f *localFields) complete(executeAt, executeIn bool) error {
	switch {
	case f.at.given && (executeAt || executeIn):
		return timer.Invalid("executeAtLocal", f.at.v, "only one of executeAt, executeIn and executeAtLocal")
	case f.at.given && !f.zone.given:
		return timer.Invalid("timeZone", missing{}, wantZone+", because executeAtLocal is given")
	case f.at.given:
		return nil
	case f.zone.given:
		return timer.Invalid("timeZone", f.zone.v, "executeAtLocal with it")
	case f.gap.given:
		return timer.Invalid("gap", given(&f.gap, "next"), "executeAtLocal and timeZone with it")
	default:
		return timer.Invalid("repeated", given(&f.repeated, "first"), "executeAtLocal and timeZone with it")
	}
}

// given returns a policy for an error message. The zero value is the default.
func given[T ~string](o *optional[T], byDefault string) any {
	if o.null {
		return raw("null")
	}
	return cmp.Or(string(o.v), byDefault)
}

// resolve sets executeAt to the instant of the local time, if the body has one. It returns the local time.
func (f *Fields) resolve(zones schedule.Zones) (*timer.LocalTime, error) {
	if f.local == nil {
		return nil, nil //nolint:nilnil // nil is a Spec without a local time
	}
	l := timer.LocalTime{At: f.local.at.v, Zone: f.local.zone.v, Gap: f.local.gap.v, Repeated: f.local.repeated.v}
	at, err := schedule.Resolve(&l, zones)
	if err != nil {
		return nil, err
	}
	f.executeAt = optional[timer.Millis]{given: true, v: at}
	return &l, nil
}
