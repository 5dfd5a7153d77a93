package dispatcher

// earlyHeap orders by due_at, then by arrival of the state: simulations must repeat.
type earlyHeap []*delivery

func (h earlyHeap) Len() int { return len(h) }
func (h earlyHeap) Less(i, j int) bool {
	if h[i].dueAt != h[j].dueAt {
		return h[i].dueAt < h[j].dueAt
	}
	return h[i].ref.UUID.Compare(h[j].ref.UUID) < 0
}
func (h earlyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *earlyHeap) Push(x any)   { *h = append(*h, x.(*delivery)) }
func (h *earlyHeap) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return d
}
