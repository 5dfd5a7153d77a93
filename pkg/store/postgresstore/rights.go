package postgresstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tableRights are the tables on which a user needs a privilege, by the privilege. UPDATE on one column is sufficient, because a
// statement may change or lock only that column.
type tableRights map[string][]string

// rights are what the statements of each role need. deploy/postgresql/rights.sql grants exactly these.
var rights = map[string]tableRights{
	"ingest": {
		"SELECT": {
			migrationsTable, "schema_support", "cluster", "timers", "timer_history", "claims", "watermarks", "namespaces", "positions",
			"removed_blocks", "api_keys", "flows",
		},
		"INSERT": {"cluster", "timers", "namespaces", "positions", "api_keys", "room"},
		"UPDATE": {"timers", "namespaces", "positions", "removed_blocks", "api_keys"},
		"DELETE": {"timers", "timer_history", "claims", "watermarks", "namespaces", "api_keys", "flows", "room"},
	},
	"scheduler": {
		"SELECT": {
			migrationsTable, "schema_support", "cluster", "timers", "timer_history", "timer_history_dead", "claims", "watermarks",
			"namespaces", "api_keys",
		},
		"INSERT": {"cluster", "claims", "watermarks", "room"},
		"UPDATE": {"timers", "timer_history", "claims", "watermarks"},
		"DELETE": {"room"},
	},
	"dispatcher": {
		"SELECT": {
			migrationsTable, "schema_support", "cluster", "timers", "timer_history", "timer_history_default", "timer_history_dead",
			"namespaces", "api_keys", "flows",
		},
		"INSERT": {"cluster", "timers", "timer_history", "flows", "room"}, // a callback's answer may create a timer
		"UPDATE": {"timers", "timer_history", "timer_history_default", "timer_history_dead", "flows"},
		"DELETE": {"timers", "timer_history", "timer_history_default", "timer_history_dead", "flows", "room"},
	},
}

// needed returns the privileges and tables of a role as pairs. Without a role these are the rights of all roles.
func needed(role string) (privileges, tables []string) {
	all := map[[2]string]bool{}
	for name, of := range rights {
		if role != "" && role != name {
			continue
		}
		for privilege, on := range of {
			for _, table := range on {
				all[[2]string{table, privilege}] = true
			}
		}
	}
	pairs := slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, pair := range pairs {
		tables, privileges = append(tables, pair[0]), append(privileges, pair[1])
	}
	return privileges, tables
}

// selectRights returns which of the needed rights the user lacks. The schema must exist.
var selectRights = statement{"select_rights", `SELECT coalesce(string_agg(name || ' (' || privileges || ')', ', ' ORDER BY name DESC), '')
FROM (
	SELECT n.name, string_agg(n.privilege, ', ' ORDER BY n.privilege) AS privileges
	FROM unnest($1::text[], $2::text[]) AS n(name, privilege)
	WHERE NOT CASE n.privilege WHEN 'UPDATE' THEN has_any_column_privilege(n.name, 'UPDATE')
		ELSE has_table_privilege(n.name, n.privilege) END
	GROUP BY n.name) AS lacking`}

// checkRights returns an error if the user lacks rights that the role needs.
func (s *Store) checkRights(ctx context.Context, role string) error {
	privileges, tables := needed(role)
	var missing string
	err := s.ask(ctx, call{
		statement: selectRights,
		args: [][]byte{
			texts(len(tables), func(i int) string { return tables[i] }),
			texts(len(privileges), func(i int) string { return privileges[i] }),
		},
		row: func(r *record) { missing = r.text() },
	})
	if err == nil && missing != "" {
		err = fmt.Errorf("the user may not read and write %s: GRANT these rights, for example with deploy/postgresql/rights.sql", missing)
	}
	return err
}

// checkRole returns an error if the role is unknown.
func checkRole(role string) error {
	if _, known := rights[role]; role != "" && !known {
		return fmt.Errorf("role %q: want %s, or none", role, strings.Join(slices.Sorted(maps.Keys(rights)), ", "))
	}
	return nil
}
