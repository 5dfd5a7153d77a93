package dispatcher

import (
	"container/list"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// stage is where a delivery stands.
type stage int

const (
	stageEarly     stage = iota + 1 // waits for its time
	stageReady                      // waits for a slot
	stageChecking                   // has a slot; its row is being read
	stageQueued                     // waits for its host
	stageSuspected                  // waits for a group of suspects, or to be alone
	stageRunning                    // begun, or its row is being moved
	stageSettled                    // the board has forgotten it
)

// delivery is one due event on its way through this process.
type delivery struct {
	due event.Due
	ref store.Ref
	// dueAt is when it may begin: the event's, or the row's where that is later.
	dueAt       timer.Millis
	redelivered bool
	session     *session
	namespace   string // empty if it is not known here and the row not read yet
	hostName    string // the name of its target for people; empty without a target and before the row is read

	// Guarded by board.mu.
	stage      stage
	target     timer.Target    // from the event, then from the row; 0: none, or not known
	messages   []*bus.Delivery // not yet acknowledged
	inline     [1]*bus.Delivery
	keys       []state // under which the board knows it
	slot       bool
	roomy      bool
	bytes      int // of its row
	exposed    bool
	starts     int  // of a suspect: those counted, and the one that it waits for or has made
	apart      bool // a suspect that has begun
	grouped    bool // a suspect that has begun and holds no row lease
	concluding bool
	lease      *lease
	since      time.Duration // when it was admitted
	deadline   time.Duration // when the keeper looks next
	element    *list.Element // in byAge
	lane       *lane         // whose slot it holds
	host       *host         // whose place it holds, or waits for
	circuit    *circuit      // of its namespace with the host whose place it holds
	passed     func(error)   // reports the call's result to that circuit; nil without a place
	calling    bool          // its row was checked, and there is no result yet
	calledAt   time.Duration // since when, by the activity clock
	queuedAt   time.Duration // when it began to wait for its host

	// The goroutine that has the delivery: the checker, then its own, then its lease's until that has
	// ended.
	row       timer.Timer
	startedAt timer.Millis
	// How its namespace wants the callback; set before it is made.
	profile       *callback.Profile
	finalStatuses timer.StatusCodes
	// held is the revision last known to be in the row and this delivery's; heldDueAt is where.
	held      timer.Revision
	heldDueAt timer.Millis
	// maybe is a revision that a lease may have written, without an answer; 0 if there is none.
	maybe timer.Revision
	// counted: this start is counted in the row, or was meant to be and the answer was lost; its lease does
	// not count it.
	counted bool
	// maybeCounted: the answer to a count of this start was lost, so it is not counted again.
	maybeCounted bool
	// uncalled: its attempt is used without a call.
	uncalled bool
	write    finishJob
}

func (d *delivery) state() state { return state{uuid: d.due.UUID, revision: d.due.Revision} }
