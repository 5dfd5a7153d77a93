package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// namespaceCommands are the commands about namespaces.
type namespaceCommands struct {
	*program
	remote
}

func (p *program) namespaceCommand() *cobra.Command {
	n := &namespaceCommands{program: p}
	c := group("namespace", "Create, show, change and delete namespaces", n.create(), n.get(), n.list(), n.update(), n.delete())
	n.remote.flags(c)
	return c
}

// settingsFlags are the settings of a namespace, which are the defaults of its timers.
type settingsFlags struct {
	timeout, retention, deadRetention, keepPayload time.Duration
	hostConcurrency                                int
	onDone, onDead, results                        string
	flows                                          []string
	quota                                          quotaFlags
	retry                                          retryFlags
	callbacks                                      callbackFlags
}

func (f *settingsFlags) add(c *cobra.Command) {
	durationFlag(c, &f.timeout, "callback-timeout", 0, "time limit of one attempt, 1s to 5m")
	durationFlag(c, &f.retention, "history-retention", 0, "how long outcomes are kept, such as 7d (1m to 365d)")
	durationFlag(c, &f.deadRetention, "dead-retention", 0, "how long dead timers are kept, such as 30d (1m to 365d)")
	durationFlag(c, &f.keepPayload, "keep-payload", 0,
		"how long done timers are kept with their payload, to retry them, such as 7d (the history retention to 30d); 0 removes the setting")
	c.Flags().IntVar(&f.hostConcurrency, "host-concurrency", 0, "concurrent callbacks to one host and port, 1 to 1024")
	c.Flags().StringVar(&f.onDone, "on-done", "", `URL to call when a timer is done; "" removes it`)
	c.Flags().StringVar(&f.onDead, "on-dead", "", `URL to call when a timer is dead or has expired; "" removes it`)
	c.Flags().StringVar(&f.results, "results", "",
		"attempts whose result events are published: all, failures (failed, expired or dead) or off")
	completeWith(c, "results", "all", "failures", "off")
	c.Flags().StringArrayVar(&f.flows, "flow", nil,
		`limit of a flow, such as "tenant-*:10/1s,burst=2,concurrency=4" (repeatable, replaces all limits); "" removes all`)
	f.quota.add(c)
	f.retry.add(c)
	f.callbacks.add(c)
}

// quotaFlags are the quotas of a namespace. 0 removes a limit.
type quotaFlags struct{ pending, creates, payload int }

func (f *quotaFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.pending, "max-pending", 0, "largest number of pending timers; 0 removes the limit")
	c.Flags().IntVar(&f.creates, "creates-per-second", 0, "creates that each ingest accepts in a second; 0 removes the limit")
	c.Flags().IntVar(&f.payload, "max-payload", 0, "largest payload of a timer in bytes; 0 removes the limit")
}

// input returns the given quotas; given is false if there are none.
func (f *quotaFlags) input(c *cobra.Command) (input client.NamespaceQuotaInput, given bool) {
	for name, limit := range map[string]struct {
		value int
		to    *client.Change[int]
	}{
		"max-pending":        {f.pending, &input.MaxPending},
		"creates-per-second": {f.creates, &input.CreatesPerSecond},
		"max-payload":        {f.payload, &input.MaxPayloadBytes},
	} {
		if !c.Flags().Changed(name) {
			continue
		}
		given = true
		if *limit.to = client.Set(limit.value); limit.value == 0 {
			*limit.to = client.Clear[int]()
		}
	}
	return input, given
}

func describeQuota(q *client.NamespaceQuota) [][]string {
	var rows [][]string
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"pending timers at most", q.MaxPending},
		{"creates a second at most", q.CreatesPerSecond},
		{"payload bytes at most", q.MaxPayloadBytes},
	} {
		if limit.value > 0 {
			rows = append(rows, []string{limit.name, strconv.Itoa(limit.value)})
		}
	}
	return rows
}

// input returns the given settings; given is false if there are none.
func (f *settingsFlags) input(c *cobra.Command, p *program) (input client.NamespaceSettingsInput, given bool, err error) {
	if c.Flags().Changed("callback-timeout") {
		input.CallbackTimeout, given = client.Set(f.timeout.String()), true
	}
	if c.Flags().Changed("history-retention") {
		input.HistoryRetention, given = client.Set(f.retention.String()), true
	}
	if c.Flags().Changed("dead-retention") {
		input.DeadRetention, given = client.Set(f.deadRetention.String()), true
	}
	if c.Flags().Changed("keep-payload") {
		input.KeepPayload, given = client.Set(f.keepPayload.String()), true
		if f.keepPayload == 0 {
			input.KeepPayload = client.Clear[string]()
		}
	}
	if c.Flags().Changed("host-concurrency") {
		input.HostConcurrency, given = client.Set(f.hostConcurrency), true
	}
	if c.Flags().Changed("results") {
		input.Results, given = client.Set(client.ResultEvents(f.results)), true
	}
	for name, url := range map[string]struct {
		value string
		to    *client.Change[string]
	}{"on-done": {f.onDone, &input.OnDone}, "on-dead": {f.onDead, &input.OnDead}} {
		if !c.Flags().Changed(name) {
			continue
		}
		given = true
		if *url.to = client.Set(url.value); url.value == "" {
			*url.to = client.Clear[string]()
		}
	}
	if c.Flags().Changed("flow") {
		given = true
		if input.Flows, err = flowLimits(f.flows); err != nil {
			return input, given, err
		}
	}
	if quota, some := f.quota.input(c); some {
		input.Quota, given = client.Set(quota), true
	}
	if policy, some := f.retry.input(c); some {
		input.RetryPolicy, given = client.Set(policy), true
	}
	some, err := f.callbacks.input(c, p, &input)
	return input, given || some, err
}

func (n *namespaceCommands) create() *cobra.Command {
	var f settingsFlags
	var shards int
	var preset string
	c := &cobra.Command{
		Use: "create NAME (--shards N | --preset SIZE)", Short: "Create a namespace", Args: exactly("NAME"),
		Long: `Create a namespace. Its number of shards cannot be changed later: small (16) for up to 10,000 pending timers,
medium (256) for up to 1,000,000, large (1024) for up to 10,000,000, xlarge (4096) beyond.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := one(c, "shards", "preset"); err != nil {
				return err
			}
			api, err := n.client()
			if err != nil {
				return err
			}
			request := client.CreateNamespaceRequest{Name: args[0], NumShards: shards, Preset: client.Preset(preset)}
			if request.Settings, _, err = f.input(c, n.program); err != nil {
				return err
			}
			ns, err := api.CreateNamespace(c.Context(), request)
			return n.print(ns, err)
		},
	}
	c.Flags().IntVar(&shards, "shards", 0, "number of shards, 1 to 8192")
	c.Flags().StringVar(&preset, "preset", "", "small, medium, large or xlarge")
	completeWith(c, "preset", "small", "medium", "large", "xlarge")
	f.add(c)
	return c
}

func (n *namespaceCommands) get() *cobra.Command {
	return &cobra.Command{
		Use: "get NAME", Short: "Show a namespace", Args: exactly("NAME"), ValidArgsFunction: n.offerNamespaces,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := n.client()
			if err != nil {
				return err
			}
			ns, err := api.GetNamespace(c.Context(), args[0])
			return n.print(ns, err)
		},
	}
}

func (n *namespaceCommands) update() *cobra.Command {
	var f settingsFlags
	var version int64
	c := &cobra.Command{
		Use: "update NAME", Short: "Change a namespace's settings; the others are kept", Args: exactly("NAME"),
		ValidArgsFunction: n.offerNamespaces,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := n.client()
			if err != nil {
				return err
			}
			settings, given, err := f.input(c, n.program)
			if err != nil {
				return err
			}
			if !given {
				return usagef("nothing to change: give at least one setting")
			}
			request := client.UpdateNamespaceRequest{Name: args[0], Settings: settings, IfVersion: version}
			ns, err := api.UpdateNamespace(c.Context(), request)
			return n.print(ns, err)
		},
	}
	f.add(c)
	f.callbacks.addChanges(c)
	c.Flags().Int64Var(&version, "if-version", 0, "update only if the namespace has this version")
	return c
}

func (n *namespaceCommands) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all namespaces", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := n.client()
			if err != nil {
				return err
			}
			all, err := api.ListNamespaces(c.Context())
			switch {
			case err != nil:
				return err
			case n.json:
				return printJSON(n.stdout, map[string]any{"namespaces": all})
			}
			rows := [][]string{{"NAME", "SHARDS", "TIMEOUT", "RETENTION", "ATTEMPTS", "CREATED"}}
			for i := range all {
				ns := &all[i]
				rows = append(rows, []string{
					ns.Name, strconv.Itoa(ns.NumShards), ns.Settings.CallbackTimeout, ns.Settings.HistoryRetention,
					strconv.Itoa(ns.Settings.RetryPolicy.MaxAttempts), ns.CreatedAt.String(),
				})
			}
			return table(n.stdout, rows)
		},
	}
}

func (n *namespaceCommands) print(ns client.Namespace, err error) error {
	switch {
	case err != nil:
		return err
	case n.json:
		return printJSON(n.stdout, ns)
	}
	retry := ns.Settings.RetryPolicy
	rows := [][]string{
		{"name", ns.Name},
		{"shards", strconv.Itoa(ns.NumShards)},
		{"callback timeout", ns.Settings.CallbackTimeout},
		{"history retention", ns.Settings.HistoryRetention},
		{"dead retention", ns.Settings.DeadRetention},
		{"host concurrency", strconv.Itoa(ns.Settings.HostConcurrency)},
		{"retry", fmt.Sprintf("%d attempts, %s apart at first, × %v, at most %s",
			retry.MaxAttempts, retry.InitialInterval, retry.BackoffMultiplier, retry.MaxInterval)},
	}
	for _, optional := range [][]string{
		{"results", string(ns.Settings.Results)},
		{"keep payload", ns.Settings.KeepPayload},
		{"on done", ns.Settings.OnDone},
		{"on dead", ns.Settings.OnDead},
	} {
		if optional[1] != "" {
			rows = append(rows, optional)
		}
	}
	for i := range ns.Settings.Flows {
		rows = append(rows, []string{"flow", printable(describeFlow(&ns.Settings.Flows[i]))})
	}
	rows = append(rows, describeQuota(&ns.Settings.Quota)...)
	rows = append(rows, describeCallbacks(&ns.Settings)...)
	rows = append(rows, []string{"version", strconv.FormatInt(ns.Version, 10)})
	rows = append(rows, []string{"created at", ns.CreatedAt.String()}, []string{"updated at", ns.UpdatedAt.String()})
	if !ns.DeletingSince.IsZero() {
		rows = append(rows, []string{"deleting since", ns.DeletingSince.String()})
	}
	return table(n.stdout, rows)
}

// describeCallbacks returns rows for the callback and event settings that are set.
func describeCallbacks(s *client.NamespaceSettings) [][]string {
	var rows [][]string
	if len(s.FinalStatuses) > 0 {
		rows = append(rows, []string{"final statuses", strings.Trim(fmt.Sprint(s.FinalStatuses), "[]")})
	}
	rows = append(rows, describeHeaders(s.Headers)...)
	for _, secret := range s.Secrets {
		line := fmt.Sprintf("%s, since %s", secret.ID, secret.CreatedAt)
		if !secret.ExpiresAt.IsZero() {
			line += ", until " + secret.ExpiresAt.String()
		}
		rows = append(rows, []string{"signing secret", line})
	}
	if s.TLS.CA != "" {
		rows = append(rows, []string{"trusted CA", strconv.Itoa(strings.Count(s.TLS.CA, "BEGIN CERTIFICATE")) + " certificates"})
	}
	if s.TLS.Certificate != "" {
		rows = append(rows, []string{"client certificate", "set"})
	}
	rows = append(rows, describeAuth(&s.CallbackAuth)...)
	if len(s.EventTopics) > 0 {
		rows = append(rows, []string{"event topics", strings.Join(s.EventTopics, ", ")})
	}
	return rows
}

func describeHeaders(headers client.Headers) [][]string {
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		rows = append(rows, []string{"header", printable(name + ": " + headers[name])})
	}
	return rows
}
