package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/client"
)

func (s *scheduleCommands) preview() *cobra.Command {
	var f definitionFlags
	var from string
	var limit int
	c := &cobra.Command{
		Use:   "preview (ID | --cron | --rrule | --date | --every)",
		Short: "Print the next occurrences of a schedule, or of a definition that is not saved",
		Example: `  timerbus schedule preview daily-report --limit 20
  timerbus schedule preview --cron '30 2 * * *' --time-zone Europe/Berlin --from 2030-03-29T00:00:00Z --limit 4`,
		RunE: func(c *cobra.Command, _ []string) error {
			request, err := f.definition(c)
			if err != nil {
				return err
			}
			request.Namespace, request.ID, request.Limit = s.namespace, s.id, limit
			if request.From, err = instant("--from", from); err != nil {
				return err
			}
			if limit < 1 || limit > 1000 {
				return usagef("--limit: %d is not accepted: want 1 to 1000", limit)
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			p, err := api.PreviewSchedule(c.Context(), request)
			switch {
			case err != nil:
				return nameFlag(c, request.Specs, &f, err)
			case s.json:
				return printJSON(s.stdout, p)
			default:
				return s.printOccurrences(&p, limit)
			}
		},
	}
	f.add(c)
	c.Flags().StringVar(&from, "from", "", "print the occurrences after this instant (default: now)")
	c.Flags().IntVar(&limit, "limit", 10, "how many, 1 to 1000")
	s.identified(c)
	oneSchedule := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		given := ""
		for _, flag := range definitionNames() {
			if c.Flags().Changed(flag) {
				given = flag
			}
		}
		switch {
		case given == "" && len(args) == 0 && !c.Flags().Changed("id"):
			return usagef("preview needs ID, or --cron, --rrule, --date or --every")
		case given == "":
			return oneSchedule(c, args)
		case len(args) > 0 || c.Flags().Changed("id"):
			return usagef("the ID of a schedule and --%s exclude each other", given)
		case !anyChanged(c, specNames()...):
			return usagef("--%s requires --cron, --rrule, --date or --every", given)
		default:
			return nil
		}
	}
	return c
}

// previewFlags say which occurrences a write prints.
type previewFlags struct {
	limit  int
	dryRun bool
}

func (f *previewFlags) check() error {
	switch {
	case f.limit < 0 || f.limit > 1000:
		return usagef("--preview: %d is not accepted: want 0 to 1000", f.limit)
	case f.limit == 0 && f.dryRun:
		return usagef("--dry-run requires --preview to be at least 1")
	default:
		return nil
	}
}

// showNext prints the next occurrences of a definition before it is saved: at most count, unless it is 0. With --json it prints them in a
// dry run only, because the output is one document.
func (s *scheduleCommands) showNext(
	c *cobra.Command, api *client.Client, d client.PreviewScheduleRequest, f *previewFlags, count int,
) error {
	if f.limit == 0 || s.json && !f.dryRun {
		return nil
	}
	d.Limit = f.limit
	if count > 0 {
		d.Limit = min(d.Limit, count)
	}
	p, err := api.PreviewSchedule(c.Context(), d)
	if err != nil {
		return err
	}
	if s.json {
		return printJSON(s.stdout, p)
	}
	if err := s.printOccurrences(&p, f.limit); err != nil || !f.dryRun {
		return err
	}
	_, err = fmt.Fprintln(s.stdout, "nothing was saved")
	return err
}

// printOccurrences prints a preview. If it has fewer occurrences than wanted, there are no others.
func (s *scheduleCommands) printOccurrences(p *client.SchedulePreview, wanted int) error {
	n := len(p.Occurrences)
	title := "the next"
	switch {
	case n == 0:
		_, err := fmt.Fprintln(s.stdout, "there is no occurrence")
		return err
	case n < wanted:
		title = "the only"
	}
	_, err := fmt.Fprintf(s.stdout, "%s %s in %s (time zone database %s):\n",
		title, counted(n, "occurrence"), printable(p.TimeZone), printable(p.ZoneVersion))
	if err != nil {
		return err
	}
	rows := [][]string{{"LOCAL", "UTC", "REMARK"}}
	named := p.Occurrences[0].TimerID != ""
	if named {
		rows[0] = append(rows[0], "TIMER ID")
	}
	for i := range p.Occurrences {
		o := &p.Occurrences[i]
		row := []string{localTime(o.Local), o.At.String(), remark(o.Remark)}
		if named {
			row = append(row, o.TimerID)
		}
		rows = append(rows, row)
	}
	return table(s.stdout, rows)
}

// localTime adds the day of the week to a local time in RFC 3339.
func localTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.Format("Mon 2006-01-02 15:04:05 -07:00")
}

// remark explains a remark of the service.
func remark(r api.ScheduleOccurrenceRemark) string {
	switch r {
	case "":
		return "-"
	case api.ScheduleOccurrenceRemarkGap:
		return "moved: the clocks skip its local time"
	case api.ScheduleOccurrenceRemarkFirst:
		return "first of two: the clocks repeat this local time"
	case api.ScheduleOccurrenceRemarkSecond:
		return "second of two: the clocks repeat this local time"
	default:
		return string(r) // of a later release
	}
}
