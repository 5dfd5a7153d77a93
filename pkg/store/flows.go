package store

import "context"

// Flows is an optional capability, found through As, of engines that store the state that dispatchers share about a flow. The
// engines of this repository have it.
type Flows interface {
	// GetFlow returns the state of a flow, or ErrNotFound.
	GetFlow(ctx context.Context, key FlowKey) (Flow, error)
	// ListFlows returns the flows of a namespace whose keys are after `after`, ordered by key as bytes: at most limit
	// (1 to 1,000).
	ListFlows(ctx context.Context, namespace, after string, limit int) ([]Flow, error)
	// SwapFlow writes a state if the stored version is from, where 0 means that there is none. Otherwise it returns ErrConflict
	// and changes nothing. If State is empty, it removes the flow.
	//
	// The caller chooses versions that never repeat, also after a removal. PostgreSQL, MySQL and SQLite: one INSERT,
	// UPDATE or DELETE. DynamoDB: a conditional PutItem or DeleteItem.
	SwapFlow(ctx context.Context, from int64, flow Flow) error
}

// FlowKey names a flow.
type FlowKey struct{ Namespace, Key string }

// Flow is the shared state of a flow, as it is stored.
type Flow struct {
	FlowKey

	// Version is not 0.
	Version int64
	// State is UTF-8 text of at most MaxFlowState bytes, which engines store unchanged.
	State string
}

const (
	// MaxFlowState bounds Flow.State, in bytes.
	MaxFlowState = 64 << 10
	// MaxFlowPage is the largest limit of ListFlows.
	MaxFlowPage = 1000
)
