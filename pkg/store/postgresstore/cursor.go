package postgresstore

import "github.com/timerbus/timerbus/pkg/store/internal/relational"

// place is where a list stands.
type place = relational.Place

// cursors tell it.
var cursors = relational.Cursors{Live: "pg1l", Finished: "pg1f"}
