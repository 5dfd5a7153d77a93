package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// flowCommands are the commands about flows.
type flowCommands struct {
	*program
	remote

	namespace string
}

func (p *program) flowCommand() *cobra.Command {
	f := &flowCommands{program: p}
	c := group("flow", "Show the flows of a namespace", f.list())
	f.remote.flags(c)
	c.PersistentFlags().StringVarP(&f.namespace, "namespace", "n", "default", "namespace")
	f.completeNamespaces(c)
	return c
}

func (f *flowCommands) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the flows that are in use", Args: exactly(),
		Long: `List the flow keys with timers that run or wait: the limit that applies, how many deliveries run, how many timers wait in the
memory of dispatchers, an estimate of how many wait in the store, and how many dispatchers use the flow.`,
		Example: `  timerbus flow list -n billing`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := f.client()
			if err != nil {
				return err
			}
			all := []client.Flow{}
			for request := (client.ListFlowsRequest{Namespace: f.namespace, Limit: 1000}); ; {
				page, err := api.ListFlows(c.Context(), request)
				if err != nil {
					return err
				}
				all = append(all, page.Flows...)
				if request.After = page.Next; request.After == "" {
					break
				}
			}
			if f.json {
				return printJSON(f.stdout, map[string]any{"namespace": f.namespace, "flows": all})
			}
			rows := [][]string{{"FLOW KEY", "LIMIT", "RUNNING", "WAITING", "BACKLOG", "DISPATCHERS"}}
			for i := range all {
				one := &all[i]
				limit := "-"
				if one.Limit.Pattern != "" {
					limit = printable(describeFlow(&one.Limit))
				}
				rows = append(rows, []string{
					printable(one.FlowKey), limit, strconv.Itoa(one.Running), strconv.Itoa(one.Waiting), strconv.Itoa(one.Backlog),
					strconv.Itoa(one.Dispatchers),
				})
			}
			return table(f.stdout, rows)
		},
	}
}

// describeFlow returns a limit in the form that --flow accepts.
func describeFlow(l *client.FlowLimit) string {
	var parts []string
	if l.Rate.Count > 0 {
		parts = append(parts, fmt.Sprintf("%d/%s", l.Rate.Count, l.Rate.Per))
	}
	if l.Rate.Burst > 1 {
		parts = append(parts, fmt.Sprintf("burst=%d", l.Rate.Burst))
	}
	if l.Concurrency > 0 {
		parts = append(parts, fmt.Sprintf("concurrency=%d", l.Concurrency))
	}
	return l.Pattern + ":" + strings.Join(parts, ",")
}

// flowLimits parses the values of --flow.
func flowLimits(texts []string) (client.Change[[]client.FlowLimit], error) {
	if len(texts) == 1 && texts[0] == "" {
		return client.Clear[[]client.FlowLimit](), nil
	}
	limits := make([]client.FlowLimit, len(texts))
	for i, text := range texts {
		var ok bool
		if limits[i], ok = parseFlow(text); !ok {
			return client.Change[[]client.FlowLimit]{}, fmt.Errorf(
				"--flow %q: want a pattern and its limits, such as \"tenant-*:10/1s,burst=2,concurrency=4\"", text)
		}
	}
	return client.Set(limits), nil
}

func parseFlow(text string) (l client.FlowLimit, ok bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 {
		return l, false
	}
	l.Pattern = text[:colon]
	for part := range strings.SplitSeq(text[colon+1:], ",") {
		var err error
		if name, value, named := strings.Cut(part, "="); named {
			switch name {
			case "burst":
				l.Rate.Burst, err = strconv.Atoi(value)
			case "concurrency":
				l.Concurrency, err = strconv.Atoi(value)
			default:
				return l, false
			}
		} else if count, per, rate := strings.Cut(part, "/"); rate {
			l.Rate.Per = per
			l.Rate.Count, err = strconv.Atoi(count)
		} else {
			return l, false
		}
		if err != nil {
			return l, false
		}
	}
	return l, true
}
