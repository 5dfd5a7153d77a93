package relational

import (
	"regexp"
	"slices"
	"strconv"
)

// Named is a statement that was written with named parameters: @name.
type Named struct {
	// SQL has numbered parameters instead: $1, $2, … or ?1, ?2, …
	SQL string
	// Names are the parameters' names, ordered by number.
	Names []string
}

var parameter = regexp.MustCompile(`@[a-z_]+`)

// Name numbers the parameters of a statement. mark is the prefix of the numbers.
func Name(sql, mark string) Named {
	var n Named
	n.SQL = parameter.ReplaceAllStringFunc(sql, func(at string) string {
		place := slices.Index(n.Names, at[1:])
		if place < 0 {
			place = len(n.Names)
			n.Names = append(n.Names, at[1:])
		}
		return mark + strconv.Itoa(place+1)
	})
	return n
}

// Pick returns the values of the statement's parameters in their order.
func Pick[T any](n *Named, values map[string]T) []T {
	args := make([]T, len(n.Names))
	for i, name := range n.Names {
		args[i] = values[name]
	}
	return args
}
