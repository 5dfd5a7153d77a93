package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// authFlags are how callbacks authenticate.
type authFlags struct {
	kind, tokenURL, clientID, audience, username, secret string
	scopes                                               []string
}

func (f *authFlags) add(c *cobra.Command) {
	kinds := []string{string(client.AuthOAuth2), string(client.AuthBasic), string(client.AuthBearer)}
	c.Flags().StringVar(&f.kind, "callback-auth", "", "how callbacks authenticate: "+strings.Join(kinds, ", "))
	completeWith(c, "callback-auth", kinds...)
	c.Flags().StringVar(&f.secret, "callback-auth-secret", "", "the client secret, password or token: @file, or - for the input")
	c.Flags().StringVar(&f.tokenURL, "callback-token-url", "", "token endpoint of oauth2")
	c.Flags().StringVar(&f.clientID, "callback-client-id", "", "client id of oauth2")
	c.Flags().StringSliceVar(&f.scopes, "callback-scopes", nil, "scopes of oauth2, such as 'orders.read,orders.write'")
	c.Flags().StringVar(&f.audience, "callback-audience", "", "audience of oauth2, which some token endpoints require")
	c.Flags().StringVar(&f.username, "callback-username", "", "user name of basic")
}

// input returns the authentication; given is false if no flag is set. The server checks which fields a type has.
func (f *authFlags) input(c *cobra.Command, p *program) (input client.CallbackAuthInput, given bool, err error) {
	if !c.Flags().Changed("callback-auth") {
		for _, flag := range []string{
			"callback-auth-secret", "callback-token-url", "callback-client-id", "callback-scopes", "callback-audience", "callback-username",
		} {
			if c.Flags().Changed(flag) {
				return input, false, usagef("--%s requires --callback-auth: all of it replaces the present value", flag)
			}
		}
		return input, false, nil
	}
	input = client.CallbackAuthInput{
		Type: client.CallbackAuthType(f.kind), TokenURL: f.tokenURL, ClientID: f.clientID, Scopes: f.scopes, Audience: f.audience,
		Username: f.username,
	}
	secret, err := f.read(c, p)
	if err != nil {
		return input, false, err
	}
	switch input.Type {
	case client.AuthOAuth2:
		input.ClientSecret = secret
	case client.AuthBasic:
		input.Password = secret
	case client.AuthBearer:
		input.Token = secret
	default:
		return input, false, usagef("--callback-auth: %q is not accepted: want oauth2, basic or bearer", short(f.kind, 80))
	}
	return input, true, nil
}

// read reads the secret from a file or the input. A line break at its end does not belong to it. A secret on the command line is
// refused, because every user of the machine sees it.
func (f *authFlags) read(c *cobra.Command, p *program) (string, error) {
	const flag = "--callback-auth-secret"
	if f.secret != "-" && !strings.HasPrefix(f.secret, "@") {
		return "", usagef("--callback-auth requires %s: @file, or - for the input; a secret on the command line is not accepted", flag)
	}
	for _, other := range []string{"secret", "rotate-secret"} {
		if given := c.Flags().Lookup(other); f.secret == "-" && given != nil && given.Value.String() == "-" {
			return "", usagef("%s and --%s cannot both read the input", flag, other)
		}
	}
	text, err := readValue(f.secret, p.stdin)
	if err != nil {
		return "", usagef("%s: %w", flag, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// describeAuth returns rows for the authentication, if there is one.
func describeAuth(a *client.CallbackAuth) [][]string {
	if a.Type == "" {
		return nil
	}
	rows := [][]string{{"callback auth", string(a.Type)}}
	for _, field := range [][2]string{
		{"token URL", a.TokenURL},
		{"client id", a.ClientID},
		{"scopes", strings.Join(a.Scopes, " ")},
		{"audience", a.Audience},
		{"user name", a.Username},
	} {
		if field[1] != "" {
			rows = append(rows, []string{field[0], printable(field[1])})
		}
	}
	return rows
}
