package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/netresearch/go-cron"

	"github.com/timerbus/timerbus/pkg/timer"
)

// local is a local time without a zone, in the form of a time in UTC.
type local = time.Time

// rule yields local times.
type rule interface {
	// after returns the first local time of the rule after at. ok is false if there is none.
	after(at local) (next local, ok bool)
}

// maxYears is how many years a rule may be without an occurrence: 29 February on a certain weekday occurs every 40 years in the
// worst case.
const maxYears = 41

// lastYear bounds the local times of rules, and occurrences, so that they can be written in RFC 3339 in each zone.
const lastYear = 9990

var cronParser = cron.MustNewParser(
	cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.Extended | cron.DowOrDom,
).WithMaxSearchYears(maxYears)

// wantCron describes the cron expressions that are accepted.
const wantCron = `5 fields (minute, hour, day, month, weekday), 6 with seconds first, or @hourly, @daily, @weekly, ` +
	`@monthly, @yearly`

type cronRule struct{ cron.Schedule }

// descriptors are the names of expressions. The parser also knows @every, which is an interval, and @none, which never occurs.
var descriptors = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}

// parseCron parses a cron expression. The zone is that of the schedule, so TZ= is refused.
func parseCron(field, text string) (rule, error) {
	// Names and letters are accepted in upper and lower case.
	fields := strings.Fields(strings.ToLower(text))
	unknown := len(fields) > 0 && strings.HasPrefix(fields[0], "@") && !slices.Contains(descriptors, fields[0])
	if unknown || strings.Contains(text, "=") {
		return nil, timer.Invalid(field, text, wantCron)
	}
	// FRIL, as in Quartz, and 5L mean FRI#L. Days of the week count from Sunday, 0; Quartz counts from Sunday, 1.
	if len(fields) >= 5 {
		days := strings.Split(fields[len(fields)-1], ",")
		for i, day := range days {
			if name, last := strings.CutSuffix(day, "l"); last && name != "" && !strings.HasSuffix(name, "#") {
				days[i] = name + "#l"
			}
		}
		fields[len(fields)-1] = strings.Join(days, ",")
	}
	parsed, err := cronParser.Parse(strings.Join(fields, " "))
	if err != nil {
		return nil, timer.Invalid(field, text, fmt.Sprintf("%s (%v)", wantCron, err))
	}
	if spec, ok := parsed.(*cron.SpecSchedule); ok {
		spec.Location = time.UTC
	}
	return cronRule{parsed}, nil
}

func (r cronRule) after(at local) (local, bool) {
	next := r.Next(at)
	return next, !next.IsZero() && next.Year() <= lastYear
}

// dates are local times in order.
type dates []local

func (d dates) after(at local) (local, bool) {
	place, found := slices.BinarySearchFunc(d, at, local.Compare)
	if found {
		place++
	}
	if place == len(d) {
		return local{}, false
	}
	return d[place], true
}
