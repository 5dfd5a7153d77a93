package sqlitestore

import "github.com/timerbus/timerbus/internal/store/relational"

// place is a position in a list.
type place = relational.Place

// cursors encodes the cursors of this engine.
var cursors = relational.Cursors{Live: "sq1l", Finished: "sq1f"}
