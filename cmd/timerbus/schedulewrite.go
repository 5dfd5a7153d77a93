package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// scheduleFlags are the fields of a schedule.
type scheduleFlags struct {
	definition definitionFlags
	policies   policyFlags
	timer      timerFlags
	shown      previewFlags
}

func (f *scheduleFlags) add(c *cobra.Command) {
	f.definition.add(c)
	f.policies.add(c)
	f.timer.addTemplate(c,
		"spread the occurrences over this window after their instants, always the same for a schedule and an instant (at most 7d)")
	c.Flags().IntVar(&f.shown.limit, "preview", 5, "how many of the next occurrences to print before the schedule is saved, 0 to 1000")
	c.Flags().BoolVar(&f.shown.dryRun, "dry-run", false, "only print the next occurrences, and do not save the schedule")
}

func (f *scheduleFlags) check(c *cobra.Command) error {
	if err := f.shown.check(); err != nil {
		return err
	}
	return f.policies.check(c)
}

func (s *scheduleCommands) create() *cobra.Command {
	var f scheduleFlags
	var onConflict string
	c := &cobra.Command{
		Use: "create ID (--cron | --rrule | --date | --every)", Short: "Create a schedule, or replace the one with its id",
		Long: `Create a schedule, or replace the one with its id. The schedule creates a timer, its occurrence, at each instant of its
specs: --cron, --rrule, --date and --every, which may be combined. The other flags, such as --callback-url, are those of
"timer create" and apply to each occurrence. Before the schedule is saved, the next occurrences are printed.`,
		Example: `  timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin --callback-url https://shop.example/report
  timerbus schedule create poll --every 15m --window 1m --overlap skip --callback-url https://shop.example/poll
  timerbus schedule create payroll --rrule 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0' --exclude 2030-12-24..2030-12-31 --dry-run`,
		RunE: func(c *cobra.Command, _ []string) error {
			if !anyChanged(c, specNames()...) {
				return usagef("create needs --%s", strings.Join(specNames(), ", --"))
			}
			if err := f.check(c); err != nil {
				return err
			}
			d, err := f.definition.definition(c)
			if err != nil {
				return err
			}
			d.Namespace = s.namespace
			request := client.CreateScheduleRequest{
				Namespace: s.namespace, ID: s.id, Specs: d.Specs, TimeZone: d.TimeZone, Start: d.Start, End: d.End, Exclude: d.Exclude,
				Gap: d.Gap, Repeated: d.Repeated,
				Count: f.policies.count, Overlap: api.ScheduleOverlap(f.policies.overlap),
				CatchUp: api.ScheduleCatchUp(f.policies.catchUp), PauseOnDead: f.policies.pauseOnDead,
				OnConflict: api.CreateScheduleRequestOnConflict(onConflict),
			}
			if c.Flags().Changed("catch-up-window") {
				request.CatchUpWindow = timer.FormatDuration(f.policies.window)
			}
			if err := f.timer.apply(c, s.stdin, &request.Timer); err != nil {
				return err
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			if err := s.showNext(c, api, d, &f.shown, request.Count); err != nil || f.shown.dryRun {
				return nameFlag(c, d.Specs, &f.definition, err)
			}
			written, err := api.CreateSchedule(c.Context(), request)
			return s.wrote("created", written, nameFlag(c, d.Specs, &f.definition, err))
		},
	}
	f.add(c)
	c.Flags().StringVar(&onConflict, "on-conflict", "", "replace, keep or fail (default replace)")
	completeWith(c, "on-conflict", client.ScheduleReplace, client.ScheduleKeep, client.ScheduleFail)
	return s.identified(c)
}

// scheduleUpdate is what `schedule update` sends.
type scheduleUpdate struct {
	client.UpdateScheduleRequest

	// template changes the template of the schedule, and is nil if the command does not. An update replaces the whole template, so the
	// command reads the present one first.
	template func(*client.CreateTimerRequest) error
	// redefined: the instants of occurrences change.
	redefined bool
}

func (s *scheduleCommands) update() *cobra.Command {
	var f scheduleFlags
	var cleared []string
	var pending string
	var ifVersion int
	c := &cobra.Command{
		Use: "update ID", Short: "Change fields of a schedule; the others are kept",
		Long: `Change fields of a schedule; the others are kept. --cron, --rrule, --date and --every together replace all
specs, and --exclude all exclusions. If the instants of occurrences change, the next ones are printed before the schedule is saved.

The change applies to occurrences that are not created yet. If the command has read the schedule, to print the next
occurrences or to change a field of the timer, it saves the change only if nobody else has changed the schedule since.`,
		Example: `  timerbus schedule update daily-report --time-zone Europe/Lisbon
  timerbus schedule update daily-report --callback-url https://shop.example/v2/report --clear count,exclude`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			if err := positive(c, "if-version", ifVersion); err != nil {
				return err
			}
			u := scheduleUpdate{UpdateScheduleRequest: client.UpdateScheduleRequest{Namespace: s.namespace, ID: s.id, IfVersion: ifVersion}}
			if err := setPending(pending, &u.Pending); err != nil {
				return err
			}
			if err := f.changes(c, cleared, s.stdin, &u); err != nil {
				return err
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			saved, err := s.save(c, api, &f, &u)
			if err != nil || !saved.sent {
				return nameFlag(c, u.Specs, &f.definition, err)
			}
			return s.wrote("updated", saved.WrittenSchedule, nil)
		},
	}
	f.add(c)
	c.Flags().StringSliceVar(&cleared, "clear", nil, "reset to the default: "+strings.Join(scheduleClearable(), ", "))
	completeWith(c, "clear", scheduleClearable()...)
	addPending(c, &pending, &ifVersion)
	return s.identified(c)
}

// scheduleClearable are the values of --clear. Each excludes the flag of the same name.
func scheduleClearable() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(definitionClears)), maps.Keys(templateClears))))
}

// templateNames are the flags of the template.
func templateNames() []string {
	return []string{
		"callback-url", "payload", "deliver", "correlation-id", "callback-timeout", "header", "topic", "key", "method", "body",
		"content-type", "reschedule", "window", "expire-after", "flow-key", "on-done", "on-dead", "max-attempts", "max-attempts-duration",
		"initial-interval", "backoff-multiplier", "max-interval",
	}
}

// changes sets the fields of an update.
func (f *scheduleFlags) changes(c *cobra.Command, cleared []string, stdin io.Reader, u *scheduleUpdate) error {
	if err := f.definition.changes(c, &u.UpdateScheduleRequest); err != nil {
		return err
	}
	u.redefined = anyChanged(c, definitionNames()...)
	for flag, set := range map[string]func(){
		"count":           func() { u.Count = client.Set(f.policies.count) },
		"overlap":         func() { u.Overlap = client.Set(f.policies.overlap) },
		"catch-up":        func() { u.CatchUp = client.Set(f.policies.catchUp) },
		"catch-up-window": func() { u.CatchUpWindow = client.Set(timer.FormatDuration(f.policies.window)) },
		"pause-on-dead":   func() { u.PauseOnDead = client.Set(f.policies.pauseOnDead) },
	} {
		if c.Flags().Changed(flag) {
			set()
		}
	}
	var clears []func(*client.CreateTimerRequest)
	for _, field := range cleared {
		reset, ofTemplate := templateClears[field]
		restore, ofDefinition := definitionClears[field]
		switch {
		case c.Flags().Changed(field):
			return usagef("--clear %s and --%s exclude each other", field, field)
		case ofTemplate:
			clears = append(clears, reset)
		case ofDefinition:
			restore(&u.UpdateScheduleRequest)
			u.redefined = u.redefined || slices.Contains(definitionNames(), field)
		default:
			return usagef("--clear: %q is not accepted: want some of %s", field, strings.Join(scheduleClearable(), ", "))
		}
	}
	if len(clears) == 0 && !anyChanged(c, templateNames()...) {
		return nil
	}
	u.template = func(t *client.CreateTimerRequest) error {
		for _, reset := range clears {
			reset(t)
		}
		return f.changeTemplate(c, stdin, t)
	}
	return nil
}

// changeTemplate sets the given fields of a template, as a service's answer contains it.
func (f *scheduleFlags) changeTemplate(c *cobra.Command, stdin io.Reader, t *client.CreateTimerRequest) error {
	if c.Flags().Changed("callback-url") && t.CallbackURL == "" {
		t.Deliver = "" // the answer contains "event", which was the default without a URL
	}
	switch { // a timer has a payload or a request
	case f.timer.request.given(c):
		t.Payload = nil
	case c.Flags().Changed("payload"):
		t.Request = client.TimerRequest{}
	}
	if err := f.timer.apply(c, stdin, t); err != nil {
		return err
	}
	if text, err := json.Marshal(t); err == nil && string(text) == "{}" {
		t.Deliver = client.DeliverEvent // the default; a request would leave out an empty template, so the present one would stay
	}
	return nil
}

// savedSchedule is the result of save.
type savedSchedule struct {
	client.WrittenSchedule

	sent bool // false in a dry run
}

// save prints the next occurrences if they change, and sends an update.
func (s *scheduleCommands) save(c *cobra.Command, api *client.Client, f *scheduleFlags, u *scheduleUpdate) (savedSchedule, error) {
	shows := f.shown.dryRun || u.redefined && f.shown.limit > 0 && !s.json
	guarded := u.IfVersion != 0
	if shows || u.template != nil {
		present, err := api.GetSchedule(c.Context(), s.selection())
		if err != nil {
			return savedSchedule{}, err
		}
		u.IfVersion = cmp.Or(u.IfVersion, present.Version)
		if u.template != nil {
			u.Timer = present.Timer
			if err := u.template(&u.Timer); err != nil {
				return savedSchedule{}, err
			}
		}
		if shows {
			count := withChange(present.Count, u.Count)
			if count > 0 {
				count = max(count-present.Created, 1)
			}
			if err := s.showNext(c, api, changed(&present, &u.UpdateScheduleRequest), &f.shown, count); err != nil {
				return savedSchedule{}, err
			}
		}
	}
	if f.shown.dryRun {
		return savedSchedule{}, nil
	}
	written, err := api.UpdateSchedule(c.Context(), u.UpdateScheduleRequest)
	if client.IsCode(err, client.CodeVersionConflict) && !guarded {
		err = hintedError{err, "The schedule was changed at the same time. Run the command again."}
	}
	return savedSchedule{written, true}, err
}

// wrote prints the result of a create or update.
func (s *scheduleCommands) wrote(verb string, w client.WrittenSchedule, err error) error {
	if err != nil {
		return err
	}
	if s.json {
		return printJSON(s.stdout, w.Schedule)
	}
	next := "next occurrence " + when(w.NextAt, time.Now())
	if w.Status != api.ScheduleStatusActive {
		next = string(w.Status)
	}
	if _, err := fmt.Fprintf(s.stdout, "%s %s in namespace %s: %s\n", verb, printable(w.ID), w.Namespace, next); err != nil {
		return err
	}
	if w.InTime {
		return nil
	}
	_, err = fmt.Fprintln(s.stdout, "an occurrence by the earlier definition may have been created at this moment")
	return err
}
