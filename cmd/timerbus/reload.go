package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/access/oidc"
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
	logger   *slog.Logger
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
	for _, c := range []struct {
		setting string
		changed bool
	}{
		{"store", now.Store != r.config.Store},
		{"bus", now.Bus != r.config.Bus},
		{"callback-proxy", now.CallbackProxy != r.config.CallbackProxy},
	} {
		if c.changed {
			r.logger.Warn("a setting has changed: restart the process to use it", "setting", c.setting)
		}
	}
	r.config = now
}

// verifierOf returns the verifier of the identity provider's tokens; nil if there is none.
func verifierOf(c *process.Config) (access.Verifier, error) {
	if c.OIDCIssuer == "" && c.OIDCAudience == "" && c.OIDCGrants == "" {
		return nil, nil //nolint:nilnil // no identity provider is not an error.
	}
	return oidc.New(oidc.Config{Issuer: c.OIDCIssuer, Audience: c.OIDCAudience, Claim: c.OIDCClaim, Grants: c.OIDCGrants})
}
