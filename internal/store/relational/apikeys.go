package relational

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
)

func (s *Statements) addAPIKeys(prepare func(name, sql string) *Statement) {
	const selection = "SELECT name, version, body FROM api_keys"
	s.selectAPIKeys = prepare("select_api_keys", selection)
	s.selectAPIKey = prepare("select_api_key", selection+" WHERE name = @name")
	s.insertAPIKey = prepare("insert_api_key", "INSERT INTO api_keys (name, version, body) VALUES (@name, 1, @body)")
	s.updateAPIKey = prepare("update_api_key",
		"UPDATE api_keys SET body = @body, version = version + 1 WHERE name = @name AND version = @version")
	s.deleteAPIKey = prepare("delete_api_key", "DELETE FROM api_keys WHERE name = @name")
}

// GetAPIKey implements store.APIKeys.
func (c *Core) GetAPIKey(ctx context.Context, name string) (store.APIKey, error) {
	op := fmt.Sprintf("get API key %q", name)
	var found []store.APIKey
	err := c.db.Read(ctx, op, func(run Run) error { return run(c.readAPIKey(name, &found)) })
	if err != nil {
		return store.APIKey{}, err
	}
	if len(found) == 0 {
		return store.APIKey{}, fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	return found[0], nil
}

func (c *Core) readAPIKey(name string, into *[]store.APIKey) Call {
	*into = nil
	return Call{Statement: c.statements.selectAPIKey, Values: Values{"name": name}, Row: scanAPIKey(into)}
}

func scanAPIKey(into *[]store.APIKey) func(Row) error {
	return func(r Row) error {
		var k store.APIKey
		err := r.Scan(&k.Name, &k.Version, &k.Body)
		*into = append(*into, k)
		return err
	}
}

// ListAPIKeys implements store.APIKeys.
func (c *Core) ListAPIKeys(ctx context.Context) ([]store.APIKey, error) {
	var all []store.APIKey
	err := c.db.Read(ctx, "list API keys", func(run Run) error {
		all = nil
		return run(Call{Statement: c.statements.selectAPIKeys, Row: scanAPIKey(&all)})
	})
	return all, err
}

// PutAPIKey implements store.APIKeys.
func (c *Core) PutAPIKey(ctx context.Context, key store.APIKey) error {
	op := fmt.Sprintf("put API key %q", key.Name)
	values := Values{"name": key.Name, "version": key.Version, "body": key.Body}
	var refused error
	err := c.db.Write(ctx, op, func(run Run) error {
		var changed int64
		var present []store.APIKey
		read := c.readAPIKey(key.Name, &present)
		if key.Version != 0 {
			err := run(Call{Statement: c.statements.updateAPIKey, Values: values, Changed: &changed}, read)
			switch refused = nil; {
			case len(present) == 0:
				refused = store.ErrNotFound
			case changed == 0:
				refused = store.ErrConflict
			}
			return err
		}
		var calls []Call
		if lock := c.statements.lockNamespaces; lock != nil { // it also serializes the creation of keys
			calls = append(calls, Call{Statement: lock})
		}
		if err := run(append(calls, read)...); err != nil {
			return err
		}
		if refused = nil; len(present) > 0 {
			refused = store.ErrExists
			return nil
		}
		return run(Call{Statement: c.statements.insertAPIKey, Values: values})
	})
	if err == nil && refused != nil {
		err = fmt.Errorf("%s: %w", op, refused)
	}
	return err
}

// DeleteAPIKey implements store.APIKeys.
func (c *Core) DeleteAPIKey(ctx context.Context, name string) error {
	op := fmt.Sprintf("delete API key %q", name)
	var changed int64
	err := c.db.Write(ctx, op, func(run Run) error {
		return run(Call{Statement: c.statements.deleteAPIKey, Values: Values{"name": name}, Changed: &changed})
	})
	if err == nil && changed == 0 {
		err = fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	return err
}
