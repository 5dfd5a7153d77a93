package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// callbackFlags are the settings of a namespace for its callbacks and events.
type callbackFlags struct {
	headers            []string
	finalStatuses      []int
	secret             string
	rotate, remove     string
	overlap            time.Duration
	ca, certificate, k string
	auth               authFlags
	topics             []string
	cleared            []string
}

const headerUsage = "extra header of callbacks, 'Name: value'; may be repeated"

func (f *callbackFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.headers, "header", nil, headerUsage)
	c.Flags().IntSliceVar(&f.finalStatuses, "final-status", nil, "4xx answers that end a timer, in addition to 410, such as 400,422")
	c.Flags().StringVar(&f.secret, "secret", "", "sign callbacks with this secret, whsec_…; @file reads a file, - the input")
	c.Flags().StringVar(&f.ca, "ca", "", "PEM file of the CA certificates for callbacks, instead of the system's")
	c.Flags().StringVar(&f.certificate, "client-cert", "", "PEM file of the client certificate of callbacks")
	c.Flags().StringVar(&f.k, "client-key", "", "PEM file of the client certificate's key")
	f.auth.add(c)
	c.Flags().StringSliceVar(&f.topics, "event-topics", nil,
		"topics that timers' events may go to, such as 'orders.*,billing.timeouts'; * matches any characters")
}

// clearableSettings are the values of --clear. Each excludes the flag of the same name.
func clearableSettings() []string {
	return []string{"ca", "callback-auth", "client-cert", "event-topics", "final-status", "header", "secret"}
}

// addChanges adds the flags that only the update command has.
func (f *callbackFlags) addChanges(c *cobra.Command) {
	c.Flags().StringVar(&f.rotate, "rotate-secret", "", "sign with this secret and with the present one; @file, - as for --secret")
	durationFlag(c, &f.overlap, "overlap", 0, "how long the earlier secret still signs (default: until it is removed)")
	c.Flags().StringVar(&f.remove, "remove-secret", "", "id of a secret to remove")
	c.Flags().Bool("reseal", false, "encrypt the secrets again, with the newest key of the service")
	c.Flags().StringSliceVar(&f.cleared, "clear", nil, "reset to the default: "+strings.Join(clearableSettings(), ", "))
	completeWith(c, "clear", clearableSettings()...)
}

// input copies the given settings to input.
func (f *callbackFlags) input(c *cobra.Command, p *program, input *client.NamespaceSettingsInput) (given bool, err error) {
	if c.Flags().Changed("header") {
		headers, err := headerMap(f.headers)
		if err != nil {
			return false, err
		}
		input.Headers, given = client.Set(headers), true
	}
	if c.Flags().Changed("final-status") {
		input.FinalStatuses, given = client.Set(f.finalStatuses), true
	}
	if c.Flags().Changed("event-topics") {
		input.EventTopics, given = client.Set(f.topics), true
	}
	secrets, some, err := f.secrets(c, p)
	if err != nil {
		return false, err
	}
	if some {
		input.Secrets, given = client.Set(secrets), true
	}
	tls, some, err := f.tls(c)
	if err != nil {
		return false, err
	}
	if some {
		input.TLS, given = client.Set(tls), true
	}
	auth, some, err := f.auth.input(c, p)
	if err != nil {
		return false, err
	}
	if some {
		input.CallbackAuth, given = client.Set(auth), true
	}
	for _, field := range f.cleared {
		if err := f.clear(c, field, input); err != nil {
			return false, err
		}
		given = true
	}
	return given || c.Flags().Changed("reseal"), nil
}

func (f *callbackFlags) secrets(c *cobra.Command, p *program) (input client.SecretsInput, given bool, err error) {
	if err := atMostOne(c, "secret", "rotate-secret", "remove-secret"); err != nil {
		return input, false, err
	}
	if c.Flags().Changed("overlap") {
		if !c.Flags().Changed("rotate-secret") {
			return input, false, usagef("--overlap requires --rotate-secret")
		}
		input.Overlap = f.overlap.String()
	}
	switch {
	case c.Flags().Changed("secret"):
		input.Set, err = p.secretText("--secret", f.secret)
	case c.Flags().Changed("rotate-secret"):
		input.Rotate, err = p.secretText("--rotate-secret", f.rotate)
	case c.Flags().Changed("remove-secret"):
		input.Remove = f.remove
	default:
		return input, false, nil
	}
	return input, true, err
}

// secretText reads the value of a flag: the text, @FILE for a file, or - for the input.
func (p *program) secretText(flag, given string) (string, error) {
	raw, err := readValue(given, p.stdin)
	if err != nil {
		return "", usagef("%s: %w", flag, err)
	}
	return strings.TrimSpace(string(raw)), nil
}

func (f *callbackFlags) tls(c *cobra.Command) (input client.NamespaceTLSInput, given bool, err error) {
	for _, file := range []struct {
		flag, name string
		to         *client.Change[string]
	}{{"ca", f.ca, &input.CA}, {"client-cert", f.certificate, &input.Certificate}, {"client-key", f.k, &input.Key}} {
		if !c.Flags().Changed(file.flag) {
			continue
		}
		raw, err := os.ReadFile(file.name)
		if err != nil {
			return input, false, usagef("--%s: %w", file.flag, err)
		}
		*file.to, given = client.Set(string(raw)), true
	}
	if c.Flags().Changed("client-cert") != c.Flags().Changed("client-key") {
		return input, false, usagef("--client-cert and --client-key require each other")
	}
	return input, given, nil
}

func (f *callbackFlags) clear(c *cobra.Command, field string, input *client.NamespaceSettingsInput) error {
	tls, _ := input.TLS.Value()
	switch field {
	case "header":
		input.Headers = client.Clear[client.Headers]()
	case "event-topics":
		input.EventTopics = client.Clear[[]string]()
	case "final-status":
		input.FinalStatuses = client.Clear[[]int]()
	case "secret":
		if err := atMostOne(c, "clear", "rotate-secret", "remove-secret"); err != nil {
			return err
		}
		input.Secrets = client.Clear[client.SecretsInput]()
	case "callback-auth":
		input.CallbackAuth = client.Clear[client.CallbackAuthInput]()
	case "ca":
		tls.CA = client.Clear[string]()
		input.TLS = client.Set(tls)
	case "client-cert":
		tls.Certificate, tls.Key = client.Clear[string](), client.Clear[string]()
		input.TLS = client.Set(tls)
	default:
		return usagef("--clear: %q is not accepted: want some of %s", field, strings.Join(clearableSettings(), ", "))
	}
	if c.Flags().Changed(field) {
		return usagef("--clear %s and --%s exclude each other", field, field)
	}
	return nil
}

// headerMap parses the values of --header.
func headerMap(given []string) (client.Headers, error) {
	headers := client.Headers{}
	for _, line := range given {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			return nil, usagef("--header: %q is not accepted: want 'Name: value'", short(name, 80))
		}
		if _, twice := headers[name]; twice {
			return nil, usagef("--header: %s is given twice", name)
		}
		headers[name] = value
	}
	return headers, nil
}
