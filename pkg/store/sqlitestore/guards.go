package sqlitestore

import "strings"

// guardStatements is a statement with each of the two guards.
type guardStatements struct{ generation, revision string }

var guardedBy = func() map[string]guardStatements {
	both := map[string]guardStatements{}
	for _, statement := range []string{insertHistory, deleteRow} {
		both[statement] = guardStatements{
			generation: strings.Replace(statement, guarded, byGeneration, 1),
			revision:   strings.Replace(statement, guarded, byRevision, 1),
		}
	}
	return both
}()
