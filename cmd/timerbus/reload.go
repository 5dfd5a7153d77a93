package main

import (
	"context"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/access/oidc"
	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/timer"
)

// reloadEvery is how often the files of secret settings are read.
const reloadEvery = 10 * time.Second

// reload applies changes of the files that contain secret settings.
type reload struct {
	settings func() (process.Config, error)
	config   process.Config // as applied
	token    *access.Token
	keys     encryption.Keyring
	urls     []*reloadedURL
	logger   *slog.Logger
}

// reloadedURL is a setting with a URL whose user and password can change.
type reloadedURL struct {
	setting string
	of      func(*process.Config) string
	set     func(*url.Userinfo)
	// applied is the URL in use, seen is the one that was read last.
	applied, seen string
}

func newReload(
	settings func() (process.Config, error), config *process.Config, token *access.Token, keys encryption.Keyring,
	opened *backend.Backend, callbackProxy *proxy, logger *slog.Logger,
) *reload {
	r := &reload{settings: settings, config: *config, token: token, keys: keys, logger: logger}
	r.watch("store", func(c *process.Config) string { return c.Store }, opened.SetStoreCredentials)
	r.watch("bus", func(c *process.Config) string { return c.Bus }, opened.SetBusCredentials)
	r.watch("callback-proxy", func(c *process.Config) string { return c.CallbackProxy }, callbackProxy.setUser)
	return r
}

func (r *reload) watch(setting string, of func(*process.Config) string, set func(*url.Userinfo)) {
	now := of(&r.config)
	r.urls = append(r.urls, &reloadedURL{setting: setting, of: of, set: set, applied: now, seen: now})
}

// run reads the files until ctx ends.
func (r *reload) run(ctx context.Context) {
	for timer.Sleep(ctx, reloadEvery) {
		r.once()
	}
}

func (r *reload) once() {
	now, err := r.settings()
	if err != nil {
		r.logger.Warn("the settings have changed and are not accepted, the earlier ones stay in use", "error", err)
		return
	}
	if now.Token != r.config.Token && r.token != nil && now.Token != "" {
		r.token.Set(now.Token)
		r.logger.Info("token replaced")
	}
	if now.SecretKey != r.config.SecretKey {
		keys, err := now.SecretKeys()
		if err != nil {
			return // settings has checked them
		}
		r.keys.Replace(keys)
		r.logger.Info("secret keys replaced", "keys", keys.IDs())
	}
	for _, u := range r.urls {
		u.once(u.of(&now), r.logger)
	}
	r.config = now
}

// once applies a changed user or password. It refuses other changes, and logs each of them once.
func (u *reloadedURL) once(now string, logger *slog.Logger) {
	if now == u.seen {
		return
	}
	u.seen = now
	if now == u.applied {
		logger.Info("a setting is again the one that is used", "setting", u.setting)
		return
	}
	user, err := backend.Rotated(u.applied, now)
	if err != nil {
		logger.Warn("a changed setting is not used until a restart: only its user and password can change without one",
			"setting", u.setting, "changed", err.Error())
		return
	}
	u.set(user)
	u.applied = now
	logger.Info("user and password replaced", "setting", u.setting)
}

// proxy is the proxy for callbacks.
type proxy struct{ url atomic.Pointer[url.URL] }

func newProxy(config *process.Config) (*proxy, error) {
	p := &proxy{}
	u, err := config.Proxy()
	if err == nil && u != nil {
		p.url.Store(u)
	}
	return p, err
}

// present returns a function that returns the present URL; nil without a proxy.
func (p *proxy) present() func() *url.URL {
	if p.url.Load() == nil {
		return nil
	}
	return p.url.Load
}

func (p *proxy) setUser(user *url.Userinfo) {
	changed := *p.url.Load()
	changed.User = user
	p.url.Store(&changed)
}

// verifierOf returns the verifier of the identity provider's tokens; nil if there is none.
func verifierOf(c *process.Config) (access.Verifier, error) {
	if c.OIDCIssuer == "" && c.OIDCAudience == "" && c.OIDCGrants == "" {
		return nil, nil //nolint:nilnil // no identity provider is not an error.
	}
	return oidc.New(oidc.Config{Issuer: c.OIDCIssuer, Audience: c.OIDCAudience, Claim: c.OIDCClaim, Grants: c.OIDCGrants})
}
