package engine

// Rounds splits places into rounds in which each key occurs at most once, and keeps their order.
func Rounds[K comparable](places []int, key func(place int) K) [][]int {
	var out [][]int
	times := make(map[K]int, len(places))
	for _, place := range places {
		k := key(place)
		if times[k] == len(out) {
			out = append(out, nil)
		}
		out[times[k]] = append(out[times[k]], place)
		times[k]++
	}
	return out
}

// Places returns 0 to the slice's last index.
func Places[T any](items []T) []int {
	out := make([]int, len(items))
	for i := range out {
		out[i] = i
	}
	return out
}
