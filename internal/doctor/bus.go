package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The names of the checks.
const (
	CheckBus           = "bus"
	checkBusTopics     = "bus topics"
	checkBusPartitions = "bus partitions"
	checkBusRights     = "bus rights"
	checkBusClock      = "bus clock"
)

// BusChecks are the names of the checks of the bus.
func BusChecks() []string {
	return []string{CheckBus, checkBusTopics, checkBusPartitions, checkBusRights, checkBusClock}
}

// Bus runs the checks of the bus. partitions is the number of the cluster. founded is false if no
// process has started yet, so topics may be missing.
func Bus(ctx context.Context, o *Options, partitions int, founded bool) []Result {
	if o.Bus == nil {
		return Skip(o.NoBus, BusChecks()...)
	}
	began := o.Clock()
	found, err := within(ctx, o.Timeout, o.Bus)
	if err != nil {
		advice := "correct the bus URL or the rights of its user"
		if errors.Is(err, bus.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			advice = "check --bus and that its servers run; timers are stored meanwhile, and delivered when the bus is back"
		}
		return append([]Result{{Check: CheckBus, Status: Failed, Found: err.Error(), Advice: advice}},
			Skip("the bus does not answer", BusChecks()[1:]...)...)
	}
	ended := o.Clock()
	results := []Result{
		{Check: CheckBus, Status: OK, Found: fmt.Sprintf("inspected in %v", ended.Sub(began))},
		topics(found.Topics, founded), busPartitions(&found, partitions), rights(found.Topics),
	}
	if found.Clock.IsZero() {
		return append(results, Skip("this bus does not show its clock", checkBusClock)...)
	}
	return append(results, busClock(found.Clock, began, ended))
}

// join describes topics in one line.
func join(states []bus.TopicState, describe func(*bus.TopicState) string) string {
	var all []string
	for i := range states {
		if text := describe(&states[i]); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

func topics(states []bus.TopicState, founded bool) Result {
	missing := join(states, func(s *bus.TopicState) string {
		if s.Missing {
			return s.Name
		}
		return ""
	})
	broken := join(states, func(s *bus.TopicState) string {
		if s.Err != nil {
			return s.Name + ": " + s.Err.Error()
		}
		return ""
	})
	switch {
	case missing != "" && founded:
		return Result{
			Check: checkBusTopics, Status: Failed, Found: "missing: " + missing,
			Advice: "check the prefix of --bus; processes create missing topics at their start, unless the URL has create=false",
		}
	case missing != "":
		return Result{
			Check: checkBusTopics, Status: Warning, Found: "missing: " + missing,
			Advice: "the first process creates them, unless the URL has create=false",
		}
	case broken != "":
		return Result{Check: checkBusTopics, Status: Failed, Found: broken, Advice: "start the servers of the bus that are down"}
	default:
		return Result{Check: checkBusTopics, Status: OK, Found: fmt.Sprintf("%d exist and work", len(states))}
	}
}

// busPartitions compares the partition counts of topics with that of the cluster.
func busPartitions(found *bus.Inspection, partitions int) Result {
	read, more := 0, 0
	wrong := join(found.Topics, func(s *bus.TopicState) string {
		if s.Partitions > 0 {
			read++
		}
		switch {
		case s.Partitions == 0 || s.Partitions == partitions:
			return ""
		case s.Partitions > partitions && found.MorePartitions:
			more++
			return ""
		default:
			return fmt.Sprintf("%s has %d", s.Name, s.Partitions)
		}
	})
	result := Result{Check: checkBusPartitions, Status: OK, Found: fmt.Sprintf("%d, as the cluster", partitions)}
	switch {
	case read == 0:
		return Skip("no topic could be read", checkBusPartitions)[0]
	case wrong != "":
		result.Status, result.Found = Failed, fmt.Sprintf("the cluster has %d; %s", partitions, wrong)
		result.Advice = "no process starts: the topics belong to another cluster, or were created by hand; use another prefix in --bus"
	case more > 0:
		result.Found = fmt.Sprintf("%d, as the cluster; more were added to %d topics, and are not published to", partitions, more)
	}
	return result
}

func rights(states []bus.TopicState) Result {
	denied := join(states, func(s *bus.TopicState) string {
		if len(s.Denied) > 0 {
			return s.Name + ": " + strings.Join(s.Denied, ", ")
		}
		return ""
	})
	if denied != "" {
		return Result{
			Check: checkBusRights, Status: Failed, Found: "denied: " + denied,
			Advice: "grant them to the user of the bus URL; a user with the rights of one role only lacks those of the other roles",
		}
	}
	return Result{Check: checkBusRights, Status: OK, Found: "the user has the rights that were tried"}
}

// busClock judges a reading of the bus's clock that was made between two times of this machine's clock.
func busClock(at time.Time, from, to timer.Millis) Result {
	offset := least(at.Sub(to.Time()), at.Sub(from.Time()))
	result := Result{Check: checkBusClock, Status: OK, Found: ahead(offset)}
	if offset.Abs() > wallBound {
		result.Status = Warning
		result.Advice = "set the clocks by NTP: executeIn of a topic command counts from the bus's clock"
	}
	return result
}
