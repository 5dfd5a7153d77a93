package decode

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/timer"
)

// MaxBatch is the maximum number of items in a batch.
const MaxBatch = 1000

// Item is one undecoded item of a batch: an invalid item must not affect the others.
type Item value

// Create decodes the item as the body of a create.
func (i Item) Create() (Create, error) { return readCreate(value(i)) }

// Delete decodes the item as the body of a delete.
func (i Item) Delete() (Delete, error) { return readDelete(value(i)) }

// CreateSchedule decodes the item as the body of a create of a schedule.
func (i Item) CreateSchedule() (CreateSchedule, error) { return readCreateSchedule(value(i)) }

// DeleteSchedule decodes the item as the body of a delete of a schedule.
func (i Item) DeleteSchedule() (UpdateSchedule, error) { return readDeleteSchedule(value(i)) }

// ReadBatch splits the body of a batch into its items. field is the name of its only member, "timers" or "schedules".
func ReadBatch(body []byte, field string) ([]Item, error) {
	want := fmt.Sprintf("an array of 1 to %d %s", MaxBatch, field)
	var items []Item
	given := false
	err := members(body, []string{field}, func(name string, v value) error {
		if v[0] != '[' {
			return timer.Invalid(name, raw(v), want)
		}
		given = true
		n := 0
		v.each(func(item value) {
			if n++; n <= MaxBatch {
				items = append(items, Item(item))
			}
		})
		if n == 0 || n > MaxBatch {
			return timer.Invalid(name, fmt.Sprintf("%d items", n), want)
		}
		return nil
	})
	if err == nil && !given {
		err = timer.Invalid(field, missing{}, want)
	}
	return items, err
}
