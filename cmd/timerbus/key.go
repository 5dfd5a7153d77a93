package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// keyCommands are the commands about API keys.
type keyCommands struct {
	*program
	remote
}

func (p *program) keyCommand() *cobra.Command {
	k := &keyCommands{program: p}
	c := group("key", "Create, list, rotate and revoke API keys", k.create(), k.list(), k.rotate(), k.revoke())
	c.Long = `Create, list, rotate and revoke API keys: credentials of clients with grants. A grant is verbs@namespaces: read, write
and admin, in the namespaces that match a pattern, in which each * matches any run of characters. No verb includes
another one.

The caller needs admin@*, which the token of the service has.`
	k.remote.flags(c)
	return c
}

func (k *keyCommands) create() *cobra.Command {
	var grants []string
	var expires time.Duration
	c := &cobra.Command{
		Use: "create NAME --grant VERBS@NAMESPACES", Short: "Create an API key and print its token", Args: exactly("NAME"),
		Long: "Create an API key and print its token. The service stores only a hash, so the token cannot be shown again.",
		Example: `  timerbus key create billing-ci --grant read,write@billing,billing-* --expires-in 90d
  timerbus key create prometheus --grant read@*`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(grants) == 0 {
				return usagef("--grant is missing: want verbs and namespaces, such as read,write@billing or read@*")
			}
			request := client.CreateKeyRequest{Name: args[0], ExpiresIn: expiresIn(expires)}
			for _, text := range grants {
				g, err := access.ParseGrant("--grant", text)
				if err != nil {
					return usageError{err}
				}
				granted := client.Grant{Namespaces: g.Namespaces}
				for _, v := range g.Verbs {
					granted.Verbs = append(granted.Verbs, client.Verb(v))
				}
				request.Grants = append(request.Grants, granted)
			}
			api, err := k.client()
			if err != nil {
				return err
			}
			made, err := api.CreateKey(c.Context(), request)
			return k.printNew(made, err)
		},
	}
	c.Flags().StringArrayVar(&grants, "grant", nil, "verbs and namespaces, such as read,write@billing-*; may be repeated")
	durationFlag(c, &expires, "expires-in", 0, "when the token ends, such as 90d; without it the token does not end")
	return c
}

func (k *keyCommands) rotate() *cobra.Command {
	var overlap, expires time.Duration
	c := &cobra.Command{
		Use: "rotate NAME", Short: "Give an API key a new token and print it", Args: exactly("NAME"),
		Long: `Give an API key a new token and print it. The earlier token is accepted for the time of --overlap, so that clients can
be changed one after another. At most two tokens of a key are accepted.`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := k.client()
			if err != nil {
				return err
			}
			made, err := api.RotateKey(c.Context(), client.RotateKeyRequest{
				Name: args[0], Overlap: timer.FormatDuration(overlap), ExpiresIn: expiresIn(expires),
			})
			return k.printNew(made, err)
		},
	}
	durationFlag(c, &overlap, "overlap", access.DefaultOverlap, "how long the earlier token is accepted, 0s to 30d")
	durationFlag(c, &expires, "expires-in", 0, "when the new token ends, such as 90d; without it the token does not end")
	return c
}

func expiresIn(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return timer.FormatDuration(d)
}

func (k *keyCommands) revoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Revoke an API key", Args: exactly("NAME"),
		Long: "Revoke an API key. A process that has used the key recently accepts it for at most 5 s more.",
		RunE: func(c *cobra.Command, args []string) error {
			api, err := k.client()
			if err != nil {
				return err
			}
			return api.RevokeKey(c.Context(), args[0])
		},
	}
}

func (k *keyCommands) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the API keys, without their tokens", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := k.client()
			if err != nil {
				return err
			}
			all, err := api.ListKeys(c.Context())
			switch {
			case err != nil:
				return err
			case k.json:
				return printJSON(k.stdout, map[string]any{"keys": all})
			}
			rows := [][]string{{"NAME", "GRANTS", "TOKENS", "EXPIRES", "CREATED", "BY"}}
			for i := range all {
				key := &all[i]
				rows = append(rows, []string{
					key.Name, grantsOf(key), fmt.Sprint(len(key.Tokens)), expiryOf(key), key.CreatedAt.String(), key.CreatedBy,
				})
			}
			return table(k.stdout, rows)
		},
	}
}

// printNew prints a key with its token.
func (k *keyCommands) printNew(made client.NewKey, err error) error {
	switch {
	case err != nil:
		return err
	case k.json:
		return printJSON(k.stdout, made)
	}
	return table(k.stdout, [][]string{
		{"name", made.Key.Name},
		{"grants", grantsOf(&made.Key)},
		{"expires", expiryOf(&made.Key)},
		{"token", made.Token},
		{"", "store the token now: it cannot be shown again"},
	})
}

func grantsOf(key *client.Key) string {
	texts := make([]string, len(key.Grants))
	for i, g := range key.Grants {
		verbs := make([]string, len(g.Verbs))
		for j, v := range g.Verbs {
			verbs[j] = string(v)
		}
		texts[i] = strings.Join(verbs, ",") + "@" + strings.Join(g.Namespaces, ",")
	}
	return strings.Join(texts, " ")
}

// expiryOf returns when the newest token ends.
func expiryOf(key *client.Key) string {
	if len(key.Tokens) == 0 || key.Tokens[0].ExpiresAt.IsZero() {
		return "never"
	}
	return key.Tokens[0].ExpiresAt.String()
}
