package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/timerbus/timerbus/pkg/client"
)

// printJSON writes indented JSON, for programs and for people.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// table writes rows in aligned columns; the first row is the heading.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = printable(row[i])
		}
		if _, err := fmt.Fprintln(t, strings.TrimRight(strings.Join(row, "\t"), "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// printable replaces unprintable characters, so that text from other sources cannot move the cursor, change colours or
// break a table.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, s)
}

// short cuts s to the length most, in runes.
func short(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// when formats an instant and its distance from now.
func when(at client.Instant, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	distance := at.Sub(now).Round(time.Second)
	switch {
	case distance > 0:
		return fmt.Sprintf("%s (in %v)", at, distance)
	case distance < 0:
		return fmt.Sprintf("%s (%v ago)", at, -distance)
	default:
		return fmt.Sprintf("%s (now)", at)
	}
}

// printLine writes one JSON object on one line.
func printLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
