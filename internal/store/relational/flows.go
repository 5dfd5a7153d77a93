package relational

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
)

func (s *Statements) addFlows(d *Dialect, prepare func(name, sql string) *Statement) {
	const (
		selection = "SELECT namespace, flow_key, version, state FROM flows WHERE namespace = @namespace AND "
		only      = " WHERE namespace = @namespace AND flow_key = @flow_key AND version = @from_version"
	)
	s.selectFlow = prepare("select_flow", selection+"flow_key = @flow_key")
	s.selectFlows = prepare("select_flows", selection+d.ByFlowKey+" > @after ORDER BY "+d.ByFlowKey+" LIMIT @limit")
	s.insertFlow = prepare("insert_flow",
		"INSERT INTO flows (namespace, flow_key, version, state) VALUES (@namespace, @flow_key, @version, @state)"+d.KeepFlow)
	s.updateFlow = prepare("update_flow", "UPDATE flows SET version = @version, state = @state"+only)
	s.deleteFlow = prepare("delete_flow", "DELETE FROM flows"+only)
}

func scanFlow(into *[]store.Flow) func(Row) error {
	return func(r Row) error {
		var f store.Flow
		err := r.Scan(&f.Namespace, &f.Key, &f.Version, &f.State)
		*into = append(*into, f)
		return err
	}
}

// GetFlow implements store.Flows.
func (c *Core) GetFlow(ctx context.Context, key store.FlowKey) (store.Flow, error) {
	op := fmt.Sprintf("get flow %q of %q", key.Key, key.Namespace)
	var found []store.Flow
	err := c.db.Read(ctx, op, func(run Run) error {
		found = nil
		values := Values{"namespace": key.Namespace, "flow_key": key.Key}
		return run(Call{Statement: c.statements.selectFlow, Values: values, Row: scanFlow(&found)})
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	if err != nil {
		return store.Flow{}, err
	}
	return found[0], nil
}

// ListFlows implements store.Flows.
func (c *Core) ListFlows(ctx context.Context, namespace, after string, limit int) ([]store.Flow, error) {
	var found []store.Flow
	err := c.db.Read(ctx, "list flows", func(run Run) error {
		found = nil
		values := Values{"namespace": namespace, "after": after, "limit": int64(limit)}
		return run(Call{Statement: c.statements.selectFlows, Values: values, Row: scanFlow(&found)})
	})
	return found, err
}

// SwapFlow implements store.Flows.
func (c *Core) SwapFlow(ctx context.Context, from int64, flow store.Flow) error {
	op := fmt.Sprintf("write flow %q of %q", flow.Key, flow.Namespace)
	statement := c.statements.updateFlow
	switch {
	case flow.State == "":
		statement = c.statements.deleteFlow
	case from == 0:
		statement = c.statements.insertFlow
	}
	values := Values{
		"namespace": flow.Namespace, "flow_key": flow.Key, "from_version": from, "version": flow.Version, "state": flow.State,
	}
	var changed int64
	err := c.db.Write(ctx, op, func(run Run) error {
		return run(Call{Statement: statement, Values: values, Changed: &changed})
	})
	if err == nil && changed == 0 {
		err = fmt.Errorf("%s: %w", op, store.ErrConflict)
	}
	return err
}
