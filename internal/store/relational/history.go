package relational

// Rules of history, as conditions on a row, for the statements that an engine writes itself. A prefix such as h. precedes them.
const (
	// IsEnd: the row is the last attempt of a timer.
	IsEnd = "outcome IN ('done', 'dead')"
	// IsReplaceable: a later outcome of the same attempt replaces the row. Final outcomes are kept.
	IsReplaceable = "outcome = 'failed'"
	// NewestEnds is how many of the newest generations or attempts of an id are searched for the end of an earlier timer, so that
	// a long history does not make each outcome slower.
	NewestEnds = "100"
)
