package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// root is a process of the measured system, with its descendants.
type root struct {
	pid int
	// childrenOnly leaves out the process itself, which only starts others.
	childrenOnly bool
}

// watch samples the memory of a system and keeps the peak.
type watch struct {
	mu      sync.Mutex
	highest int64
	ended   chan struct{}
	done    sync.WaitGroup
}

const sampleEvery = 250 * time.Millisecond

func watchMemory(roots []root) *watch {
	w := &watch{ended: make(chan struct{})}
	w.done.Go(func() {
		again := time.NewTicker(sampleEvery)
		defer again.Stop()
		for {
			now := resident("/proc", roots)
			w.mu.Lock()
			w.highest = max(w.highest, now)
			w.mu.Unlock()
			select {
			case <-again.C:
			case <-w.ended:
				return
			}
		}
	})
	return w
}

// peak returns the largest memory in bytes since the last call.
func (w *watch) peak() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	highest := w.highest
	w.highest = 0
	return highest
}

func (w *watch) stop() {
	close(w.ended)
	w.done.Wait()
}

// usage is the resident memory of one process in KiB, from /proc/PID/status.
type usage struct{ own, file, shared int64 }

// resident returns the resident memory of processes and their descendants in bytes. Processes of one program share pages of
// files and shared memory, such as the buffers of PostgreSQL, so of these only the largest process counts.
func resident(proc string, roots []root) int64 {
	children := map[int][]int{}
	stats, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "stat"))
	if err != nil {
		return 0 // the pattern is valid
	}
	for _, name := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], pid)
		}
	}
	var own int64
	largest := map[string]usage{}
	var visit func(pid int)
	visit = func(pid int) {
		program, u := usageOf(filepath.Join(proc, strconv.Itoa(pid), "status"))
		own += u.own
		l := largest[program]
		largest[program] = usage{file: max(l.file, u.file), shared: max(l.shared, u.shared)}
		for _, child := range children[pid] {
			visit(child)
		}
	}
	for _, r := range roots {
		if !r.childrenOnly {
			visit(r.pid)
			continue
		}
		for _, child := range children[r.pid] {
			visit(child)
		}
	}
	for _, l := range largest {
		own += l.file + l.shared
	}
	return own << 10
}

// usageOf returns the name of a program and its memory; nothing if it has ended.
func usageOf(status string) (program string, u usage) {
	text, err := os.ReadFile(status)
	if err != nil {
		return "", usage{}
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		kib, _ := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64)
		switch name {
		case "Name":
			program = value
		case "RssAnon":
			u.own = kib
		case "RssFile":
			u.file = kib
		case "RssShmem":
			u.shared = kib
		}
	}
	return program, u
}
