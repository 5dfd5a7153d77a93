package main

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"github.com/timerbus/timerbus/internal/bench"
)

// Sizes of the report in pixels.
const (
	svgWidth  = 1120
	svgLabels = 190 // names of systems
	svgBars   = 500
	svgLine   = 20
	svgTop    = 64
	svgGap    = 26 // between two figures, with the title
)

// svg draws the report: for each figure a bar for each system's median, a line from the smallest to the largest value, and
// the ratio.
func (r *report) svg() []byte {
	var b bytes.Buffer
	rows := r.rows()
	height := svgTop + len(rows)*(svgGap+svgLine) + len(rows)*len(r.Peers)*svgLine + len(r.Peers)*svgLine
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="13">`+"\n",
		svgWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", svgWidth, height)
	write := func(x, y int, style, text string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" %s>`, x, y, style)
		_ = xml.EscapeText(&b, []byte(text)) // a buffer accepts everything
		b.WriteString("</text>\n")
	}
	write(10, 24, `font-size="17" font-weight="bold"`, r.title())
	write(10, 46, `fill="#555"`, r.Machine.String()+"; ratios to "+r.Reference)
	y := svgTop
	for _, p := range r.Peers {
		write(10, y+14, "", p.Peer)
		write(svgLabels, y+14, `fill="#555"`, p.what()+"; "+p.Durability)
		y += svgLine
	}
	for _, like := range rows {
		y += svgGap
		write(10, y+10, `font-weight="bold"`, like.Name)
		y += svgLine
		largest := r.largest(like.Key)
		for _, p := range r.Peers {
			write(10, y+14, "", p.Peer)
			if found := p.find(like.Key); found == nil {
				write(svgLabels+4, y+14, `fill="#999"`, map[bool]string{true: "–", false: "not run"}[p.NotRun == ""])
			} else {
				length := func(value float64) int { return int(svgBars * max(0, value) / largest) }
				fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="14" fill="%s"/>`+"\n",
					svgLabels, y+3, length(found.Median), p.color())
				fmt.Fprintf(&b, `<path d="M%d %dH%d" stroke="#222"/>`+"\n", svgLabels+length(found.Min), y+10, svgLabels+length(found.Max))
				text := bench.Show(found.Median, found.Unit)
				if ratio := found.ratio(); ratio != "" {
					text += "   × " + ratio
				}
				write(svgLabels+length(found.Max)+8, y+14, "", text)
			}
			y += svgLine
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// largest returns the largest value of a figure, or 1 if none is above 0.
func (r *report) largest(key string) float64 {
	var largest float64
	for _, p := range r.Peers {
		if found := p.find(key); found != nil {
			largest = max(largest, found.Max)
		}
	}
	if largest == 0 {
		return 1
	}
	return largest
}

// color distinguishes Timerbus from other systems.
func (r *result) color() string {
	if p, err := peerNamed(r.Peer); err == nil && p.setup != "" {
		return "#2b6cb0"
	}
	return "#a0aec0"
}
