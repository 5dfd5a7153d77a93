package backend

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// servers is a parsed URL with a list of hosts, which url.Parse does not accept.
type servers struct {
	user  *url.Userinfo // nil if there is none
	hosts []string
	query url.Values
	// refused is the error to return if a host is not acceptable.
	refused error
}

func splitServers(scheme, raw, accepted string) (servers, error) {
	var u servers
	rest := raw[len(scheme)+1:]
	address, query, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "?")
	u.refused = notAccepted("bus", Redacted(raw), accepted)
	var err error
	if u.query, err = url.ParseQuery(query); err != nil || !strings.HasPrefix(rest, "//") || strings.Contains(address, "/") {
		return u, u.refused
	}
	credentials, hosts, given := cutLast(address, "@")
	if given {
		parsed, err := url.Parse(scheme + "://" + credentials + "@host")
		if err != nil {
			return u, u.refused
		}
		u.user = parsed.User
	}
	u.hosts = strings.Split(hosts, ",")
	return u, nil
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// cutLast is strings.Cut at the last separator. Without a separator, after is the whole string.
func cutLast(s, separator string) (before, after string, found bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return "", s, false
	}
	return s[:at], s[at+len(separator):], true
}

// Masked replaces a secret in messages.
const Masked = "xxxxx"

// Redacted returns the URL of a store, bus or proxy without secrets, for messages.
func Redacted(raw string) string {
	scheme, rest, isURL := strings.Cut(raw, "://")
	address, query, _ := strings.Cut(rest, "?")
	credentials, _, given := cutLast(address, "@")
	switch {
	case strings.Contains(query, "@"), !isURL && strings.Contains(raw, "@"): // a password may begin or end anywhere
		if !isURL {
			return Masked
		}
		return scheme + "://" + Masked
	case given:
		user, _, named := strings.Cut(credentials, ":")
		// On NATS, a user without a password is a token.
		if !named && !slices.Contains([]string{"postgres", "postgresql", "mysql", "kafka"}, strings.ToLower(scheme)) {
			user = Masked
		}
		raw = scheme + "://" + user + rest[len(credentials):]
	}
	return secretParameter.ReplaceAllString(raw, "${1}"+Masked)
}

// secretParameter matches a parameter whose name says that it is secret, such as sslpassword of PostgreSQL.
var secretParameter = regexp.MustCompile(`(?i)([?&][^=&]*(?:password|secret|token)[^=&]*=)[^&]*`)

// connectionTLS returns the TLS configuration of the parameters tls, ca, cert and key, and removes them from the query; nil
// without them. The files of the client certificate are read at each connection, so they can be replaced.
func connectionTLS(query url.Values) (*tls.Config, error) {
	given := map[string]string{}
	for _, name := range []string{"tls", "ca", "cert", "key"} {
		if query.Has(name) {
			given[name] = query.Get(name)
			query.Del(name)
		}
	}
	encrypt, err := strconv.ParseBool(cmp.Or(given["tls"], "false"))
	if err != nil {
		return nil, timer.Invalid("tls", given["tls"], "true or false")
	}
	delete(given, "tls")
	if !encrypt && len(given) == 0 {
		return nil, nil //nolint:nilnil // no TLS is not an error.
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file, ok := given["ca"]; ok {
		if config.RootCAs, err = certificates(file); err != nil {
			return nil, errors.Join(timer.Invalid("ca", file, "a file of certificates in PEM"), err)
		}
	}
	cert, key := given["cert"], given["key"]
	if cert == "" && key == "" {
		return config, nil
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		return &pair, err
	}
	if _, err := config.GetClientCertificate(nil); err != nil {
		return nil, errors.Join(timer.Invalid("cert", cert, "a file with a certificate in PEM, and key with its key"), err)
	}
	return config, nil
}

func certificates(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s contains no certificate", file)
	}
	return pool, nil
}
