package main

import "testing"

// TestPanelsDoNotOverlap: no panel hides another, and none is beyond the grid.
func TestPanelsDoNotOverlap(t *testing.T) {
	board, err := build()
	if err != nil {
		t.Fatal(err)
	}
	taken := map[[2]uint32]string{}
	panels := 0
	for _, p := range board.Panels {
		if p.Panel == nil {
			continue
		}
		panels++
		at := p.Panel.GridPos
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, ok := taken[[2]uint32{x, y}]; ok || x >= 24 {
					t.Fatalf("%q is over %q, or beyond the grid", *p.Panel.Title, other)
				}
				taken[[2]uint32{x, y}] = *p.Panel.Title
			}
		}
	}
	if panels == 0 {
		t.Error("the dashboard has no panels")
	}
}
