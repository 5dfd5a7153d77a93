package dynamostore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// An item of history is one attempt: its outcome and attributes of rows.go. For a final outcome these are the whole
// finished timer. Otherwise they are only those of the history entry: the attempt's number in attempts, its start in
// executed_at, its result in last_status and last_error.
const (
	attrOutcome    = "outcome"
	attrNextAt     = "next_at"
	attrFinishedAt = "finished_at"
	// attrExpires is in milliseconds. From this time on, reads ignore the item.
	attrExpires = "expires"
	// attrTTL is in seconds. The service deletes the item some time after it. A dead timer has no TTL until its outbox
	// entry is published.
	attrTTL = "ttl"
)

// entry has the attributes of every item of history.
type entry struct {
	of       store.HistoryEntry
	expires  timer.Millis
	marked   bool
	markedAt timer.Millis
}

func readEntry(it item) (entry, error) {
	read := reader{item: it}
	e := entry{
		of: store.HistoryEntry{
			Generation:    timer.Generation(read.int(attrGeneration)),
			Attempt:       timer.Attempt(read.int(attrAttempts)),
			Outcome:       store.Outcome(read.text(attrOutcome)),
			ExecuteAt:     read.time(attrExecuteAt),
			NextAt:        read.time(attrNextAt),
			StartedAt:     read.time(attrExecutedAt),
			FinishedAt:    read.time(attrFinishedAt),
			StatusCode:    int(read.int(attrLastStatus)),
			Error:         read.text(attrLastError),
			CorrelationID: read.text(attrCorr),
		},
		expires:  read.time(attrExpires),
		markedAt: read.time(attrMarkedAt),
	}
	_, e.marked = it[attrMarkedAt]
	return e, read.err
}

// isEnd reports whether the item is a final outcome, and so has the whole timer.
func (e *entry) isEnd() bool {
	return e.of.Outcome == store.OutcomeDone || e.of.Outcome == store.OutcomeDead
}

// readEnd reads the timer of a final outcome.
func readEnd(it item) (timer.Timer, error) {
	read := reader{item: it}
	t := read.timer(historyPrefix)
	return t, read.err
}

// newestFirst is the order of History.
func newestFirst(a, b store.HistoryEntry) int {
	return -cmp.Or(
		cmp.Compare(a.FinishedAt, b.FinishedAt),
		cmp.Compare(a.Attempt, b.Attempt),
		cmp.Compare(a.Generation, b.Generation),
	)
}

// historyOf calls visit for a timer's items of history, in no particular order.
func (s *Store) historyOf(
	ctx context.Context, ref store.Ref, in dynamodb.QueryInput, values item, visit func(entry, item) error,
) error {
	return s.historyUnder(ctx, ref, historyPrefix+ref.UUID.String()+"#", in, values, visit)
}

// historyUnder is historyOf for the items whose sort keys begin with a prefix.
func (s *Store) historyUnder(
	ctx context.Context, ref store.Ref, prefix string, in dynamodb.QueryInput, values item, visit func(entry, item) error,
) error {
	in.TableName = &s.options.History
	in.KeyConditionExpression = aws.String("#shard_id = :shard AND begins_with(#sk, :timer)")
	in.ExpressionAttributeNames = names(
		*in.KeyConditionExpression, aws.ToString(in.FilterExpression), aws.ToString(in.ProjectionExpression))
	values[":shard"] = number(int64(ref.Shard))
	values[":timer"] = text(prefix)
	in.ExpressionAttributeValues = values
	for {
		page, err := s.query(ctx, &in)
		if err != nil {
			return err
		}
		for _, it := range page.Items {
			e, err := readEntry(it)
			if err != nil {
				return err
			}
			e.of.Ref = ref
			if err := visit(e, it); err != nil {
				return err
			}
		}
		if page.LastEvaluatedKey == nil {
			return nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// lastEnd returns the timer's newest final outcome that has not expired.
func (s *Store) lastEnd(ctx context.Context, now timer.Millis, ref store.Ref) (last timer.Timer, found bool, err error) {
	var newest store.HistoryEntry
	err = s.historyOf(ctx, ref,
		dynamodb.QueryInput{FilterExpression: aws.String("#outcome IN (:done, :dead) AND #expires > :now")},
		item{":done": text(string(store.OutcomeDone)), ":dead": text(string(store.OutcomeDead)), ":now": number(now)},
		func(e entry, it item) (err error) {
			if !found || newestFirst(e.of, newest) < 0 {
				newest, found = e.of, true
				last, err = readEnd(it)
			}
			return err
		})
	return last, found, err
}

// entryAttributes are the attributes of a history entry.
const entryAttributes = "#shard_id, #sk, #gen, #attempts, #outcome, #execute_at, #next_at, #executed_at, #finished_at, " +
	"#last_status, #last_error, #correlation"

// History implements store.Timers. It reads and sorts all history of the timer: an index by age would cost a write for
// each attempt, and apply the limit of 10 GB to this table.
func (s *Store) History(ctx context.Context, now timer.Millis, ref store.Ref, limit int) ([]store.HistoryEntry, error) {
	if err := s.calls.Enter(ctx, "history"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	var out []store.HistoryEntry
	err := s.historyOf(ctx, ref,
		dynamodb.QueryInput{FilterExpression: aws.String("#expires > :now"), ProjectionExpression: aws.String(entryAttributes)},
		item{":now": number(now)}, func(e entry, _ item) error {
			out = append(out, e.of)
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("history of timer %s: %w", ref.UUID, err)
	}
	slices.SortFunc(out, newestFirst)
	return out[:min(limit, len(out))], nil
}

// endsSeen bounds how many history items of a timer are searched for its previous final outcome.
const endsSeen = 100

// finishedAt returns the finishedAt of an attempt in history. A final outcome is ordered after the previous one, even
// if the clock of that one's writer was ahead. The query is needed only if the row was written shortly before the
// outcome.
func (s *Store) finishedAt(ctx context.Context, now timer.Millis, a *engine.Attempt) (timer.Millis, error) {
	at := a.FinishedAt
	if !a.Recent {
		return at, nil
	}
	// Items are sorted by generation.
	const key, ended = "#shard_id = :shard AND begins_with(#sk, :timer)", "#outcome IN (:done, :dead) AND #expires > :now"
	in := dynamodb.QueryInput{
		TableName: &s.options.History, ScanIndexForward: aws.Bool(false), Limit: aws.Int32(endsSeen),
		KeyConditionExpression: aws.String(key), FilterExpression: aws.String(ended), ProjectionExpression: aws.String("#finished_at"),
		ExpressionAttributeNames: names(key, ended, "#finished_at"),
		ExpressionAttributeValues: item{
			":shard": number(int64(a.Ref.Shard)), ":timer": text(historyPrefix + a.Ref.UUID.String() + "#"),
			":done": text(string(store.OutcomeDone)), ":dead": text(string(store.OutcomeDead)), ":now": number(now),
		},
	}
	for seen := int32(0); ; {
		page, err := s.query(ctx, &in)
		if err != nil {
			return 0, fmt.Errorf("previous final outcome: %w", err)
		}
		for _, it := range page.Items {
			read := reader{item: it}
			at = max(at, read.time(attrFinishedAt)+1)
			if read.err != nil {
				return 0, read.err
			}
		}
		seen += page.ScannedCount
		if page.LastEvaluatedKey == nil || seen >= endsSeen {
			return at, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// left is the history that a Finish writes.
type left struct {
	item item
	mark *types.TransactWriteItem // the outbox item of a dead timer
}

// leaves returns the history of an attempt.
func (s *Store) leaves(a *engine.Attempt, finishedAt timer.Millis) left {
	var it item
	if a.Outcome == store.OutcomeDone || a.Outcome == store.OutcomeDead {
		end := a.End()
		it = timerItem(&end)
	} else {
		it = item{}
		it.int(attrGeneration, int64(a.Generation))
		it.int(attrAttempts, int64(a.Attempt))
		it.time(attrExecuteAt, a.Timer.ExecuteAt)
		it.time(attrExecutedAt, a.StartedAt)
		it.int(attrLastStatus, int64(a.StatusCode))
		it.text(attrLastError, a.Error)
		it.text(attrCorr, a.Timer.CorrelationID)
		it.time(attrNextAt, a.NextAt)
	}
	it.text(attrOutcome, string(a.Outcome))
	it.time(attrFinishedAt, finishedAt)
	it[attrExpires] = number(a.ExpiresAt)
	maps.Copy(it, historyKey(a.Ref, a.Generation, a.Attempt))
	if a.MarkedAt == 0 {
		it[attrTTL] = number(ttl(a.ExpiresAt))
		return left{item: it}
	}
	it[attrMarkedAt] = number(a.MarkedAt)
	return left{item: it, mark: s.putMark(&store.OutboxID{
		Ref: a.Ref, Status: timer.StatusDead, Generation: a.Generation, Attempt: a.Attempt,
	}, a.MarkedAt)}
}

// ttl returns the first second in which an item has expired.
func ttl(expires timer.Millis) int64 {
	const second = 1000
	return int64(expires+second-1) / second
}

// Purge implements store.Outcomes. It does nothing, because the table's time to live deletes history.
func (s *Store) Purge(ctx context.Context, _ timer.Millis, _ int) (int, error) {
	if err := s.calls.Enter(ctx, "purge history"); err != nil {
		return 0, err
	}
	s.calls.Leave()
	return 0, nil
}
