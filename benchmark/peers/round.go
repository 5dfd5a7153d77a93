package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/benchmark/host"
	"github.com/timerbus/timerbus/internal/bench"
)

// played is the result of one round of one system.
type played struct {
	versions string
	figures  []figure
}

// figure is one measured value. Details are in the JSON file only.
type figure struct {
	bench.Figure

	detail bool
}

// absentError says that a server cannot be had on this machine.
type absentError struct {
	server string
	cause  error
}

func (e *absentError) Error() string { return "no " + e.server + " on this machine" }
func (e *absentError) Unwrap() error { return e.cause }

// round is the measurement of one system, in a folder that is removed afterwards.
type round struct {
	*options
	played

	peer     *peer
	receiver bench.ReceiverAt
	client   string // URL of the client's process
	memory   *watch
	id       string
	pending  int
	// rate is the most recently measured rate of creates as fast as the system can, in timers per second.
	rate float64
	// Of all timers that fired.
	early, duplicates, count int
	stderr                   io.Writer
}

const startPatience = 2 * time.Minute

// playRound measures one system once. With an error it also returns the figures that were measured before.
func playRound(ctx context.Context, o *options, p *peer, stderr io.Writer) (_ played, err error) {
	folder, err := os.MkdirTemp("", "timerbus-peers-")
	if err != nil {
		return played{}, err
	}
	var processes []*host.Process
	defer func() {
		for _, p := range slices.Backward(processes) {
			err = errors.Join(err, p.Stop())
		}
		err = errors.Join(err, os.RemoveAll(folder))
	}()
	r := &round{options: o, peer: p, stderr: stderr, id: strconv.FormatUint(rand.Uint64()>>28, 36)}
	in := surroundings{Folder: folder}
	var measured []root // the processes of the system
	if len(p.needs) > 0 {
		servers, err := host.StartServers(ctx, o.testenv, p.needs)
		if err != nil {
			return played{}, &absentError{strings.Join(p.needs, " or "), err}
		}
		processes = append(processes, servers.Process)
		measured = append(measured, root{pid: servers.PID(), childrenOnly: true})
		in.Servers = servers.Addresses
		if p.prepare != nil {
			if err := p.prepare(ctx, in.Servers); err != nil {
				return played{}, err
			}
		}
	}
	receiver, found, err := r.start(ctx, "the receiver", regexp.MustCompile(`(http://\S+)\n`), o.binary, "bench", "receive", "--listen", "127.0.0.1:0")
	if err != nil {
		return played{}, err
	}
	processes = append(processes, receiver)
	if r.receiver, err = bench.NewReceiverAt(found[1]); err != nil {
		return played{}, err
	}
	in.Callback = found[1] + bench.FirePath

	if p.setup != "" {
		setups, err := host.SetupsNamed(p.setup)
		if err != nil {
			return played{}, err
		}
		service, err := host.StartService(ctx, o.binary, setups[0].Arguments(folder, in.Servers))
		if err != nil {
			return played{}, err
		}
		processes = append(processes, service.Process)
		measured = append(measured, root{pid: service.PID()})
		in.Service = service.API
	}
	text, err := json.Marshal(in)
	if err != nil {
		return played{}, err
	}
	clientAs := clientRole
	if p.embedded {
		clientAs = bothRoles
	} else if p.setup == "" {
		worker, _, err := r.startRole(ctx, workerRole, text, regexp.MustCompile(`works\n`))
		if err != nil {
			return played{}, err
		}
		processes = append(processes, worker)
		measured = append(measured, root{pid: worker.PID()})
	}
	client, found, err := r.startRole(ctx, clientAs, text, regexp.MustCompile(`client (http://\S+) of (.+)\n`))
	if err != nil {
		return played{}, err
	}
	processes = append(processes, client)
	if p.embedded {
		measured = append(measured, root{pid: client.PID()})
	}
	r.client, r.versions = found[1], found[2]
	r.memory = watchMemory(measured)
	defer r.memory.stop()
	if err = r.phases(ctx); err != nil {
		err = fmt.Errorf("%w%s", err, lastLines(processes))
	}
	return r.played, err
}

// start starts a process and waits until its output matches the pattern.
func (r *round) start(
	ctx context.Context, name string, until *regexp.Regexp, binary string, args ...string,
) (*host.Process, []string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("%s did not become ready", name))
	defer cancel()
	p, err := host.Start(name, binary, nil, args...)
	if err != nil {
		return nil, nil, err
	}
	found, err := p.See(ctx, until)
	if err != nil {
		return nil, nil, errors.Join(err, p.Stop())
	}
	return p, found, nil
}

func (r *round) startRole(ctx context.Context, role string, surroundings []byte, until *regexp.Regexp) (*host.Process, []string, error) {
	binary, args, err := r.peer.command(r.options, role, surroundings)
	if err != nil {
		return nil, nil, err
	}
	return r.start(ctx, "the "+role+" of "+r.peer.name, until, binary, args...)
}

// lastLines returns the end of what the processes have written.
func lastLines(processes []*host.Process) string {
	var all strings.Builder
	for _, p := range processes {
		if lines := strings.Split(strings.TrimSpace(p.Output()), "\n"); len(lines) > 1 {
			fmt.Fprintf(&all, "\n%s", strings.Join(lines[max(1, len(lines)-5):], "\n"))
		}
	}
	return all.String()
}

func (r *round) add(key, name, unit string, value float64) {
	r.figures = append(r.figures, figure{Figure: bench.Figure{Key: key, Name: name, Unit: unit, Value: value}})
}

func (r *round) addDetail(key, name, unit string, value float64) {
	r.add(key, name, unit, value)
	r.figures[len(r.figures)-1].detail = true
}

// phases measures everything in one order. The timers of a phase stay pending in the phases after it.
func (r *round) phases(ctx context.Context) error {
	w := &r.workload
	if err := r.singles(ctx); err != nil {
		return fmt.Errorf("creates: %w", err)
	}
	for i, pending := range w.Pending {
		if err := r.fill(ctx, pending, i == 0); err != nil {
			return fmt.Errorf("creates in batches: %w", err)
		}
		if i == 0 {
			if err := r.backlog(ctx); err != nil {
				return fmt.Errorf("backlog: %w", err)
			}
		}
		for _, rate := range w.Rates {
			if err := r.steady(ctx, rate); err != nil {
				return fmt.Errorf("%d/s with %d pending: %w", rate, pending, err)
			}
		}
		r.add("memory."+compact(pending), "peak memory, "+bench.Digits(float64(pending))+" pending", bench.Mebibytes,
			float64(r.memory.peak())/(1<<20))
	}
	r.add("early", fmt.Sprintf("early callbacks, of %s", bench.Digits(float64(r.count))), bench.Count, float64(r.early))
	r.add("duplicates", "duplicate callbacks", bench.Count, float64(r.duplicates))
	return nil
}

// distant is far enough in the future that a timer does not fire during the round.
const distant = 30 * 24 * time.Hour

func (r *round) singles(ctx context.Context) error {
	w := &r.workload
	end, err := spend()
	if err != nil {
		return err
	}
	took, err := r.create(ctx, creation{
		Prefix: r.id + "-s-", Count: w.Creates, Connections: w.Connections, Batch: 1, Due: time.Now().Add(distant), Every: time.Millisecond,
	})
	if err != nil {
		return err
	}
	cpu, err := end(w.Creates)
	r.pending += w.Creates
	r.rate = float64(w.Creates) / took
	r.add("create.single", fmt.Sprintf("creates/s, one a call, %d connections", w.Connections), bench.PerSecond, r.rate)
	r.addDetail("create.single.cpu", "CPU of the machine, creates one a call", bench.CPUSeconds, cpu)
	return err
}

// bulk returns how the system creates many timers: in batches, if it can.
func (r *round) bulk(name string, count int, due time.Time, every time.Duration) creation {
	c := creation{
		Prefix: r.id + "-" + name + "-", Count: count, Due: due, Every: every,
		Connections: r.workload.BatchConnections, Batch: r.workload.Batch,
	}
	if r.peer.noBatch {
		c.Connections, c.Batch = r.workload.Connections, 1
	}
	return c
}

// fill creates timers until pending are pending. The rate is a figure in the first call only.
func (r *round) fill(ctx context.Context, pending int, first bool) error {
	missing := pending - r.pending
	if missing <= 0 {
		return nil
	}
	end, err := spend()
	if err != nil {
		return err
	}
	took, err := r.create(ctx, r.bulk("f"+compact(pending), missing, time.Now().Add(distant), time.Millisecond))
	if err != nil {
		return err
	}
	cpu, err := end(missing)
	r.pending = pending
	r.rate = float64(missing) / took
	if first && !r.peer.noBatch {
		r.add("create.batch", fmt.Sprintf("creates/s, batches of %d, %d connections", r.workload.Batch, r.workload.BatchConnections),
			bench.PerSecond, r.rate)
		r.addDetail("create.batch.cpu", "CPU of the machine, creates in batches", bench.CPUSeconds, cpu)
	}
	return err
}

func (r *round) backlog(ctx context.Context) error {
	count := r.workload.Backlog
	got, err := r.fire(ctx, "b", count, 0)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s due at once, %s pending", bench.Digits(float64(count)), bench.Digits(float64(r.pending)))
	from := got.due
	if got.report.First.Before(from) {
		from = got.report.First // the system fires early
	}
	r.add("backlog.rate", "fires/s, "+name, bench.PerSecond, float64(count)/got.report.Last.Sub(from).Seconds())
	r.add("backlog.cpu", "CPU of the machine, "+name, bench.CPUSeconds, got.cpu)
	return nil
}

func (r *round) steady(ctx context.Context, rate int) error {
	count, every := r.workload.steady(rate)
	key := "steady." + strconv.Itoa(rate) + "." + compact(r.pending)
	got, err := r.fire(ctx, strconv.Itoa(rate)+"-"+compact(r.pending), count, every)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s/s, %s pending", bench.Digits(float64(rate)), bench.Digits(float64(r.pending)))
	r.add(key+".p50", "lateness at "+name+": p50", bench.Milliseconds, got.report.Lateness.P50)
	r.add(key+".p99", "lateness at "+name+": p99", bench.Milliseconds, got.report.Lateness.P99)
	r.addDetail(key+".p999", "lateness at "+name+": p99.9", bench.Milliseconds, got.report.Lateness.P999)
	r.addDetail(key+".max", "lateness at "+name+": max", bench.Milliseconds, got.report.Lateness.Max)
	r.add(key+".cpu", "CPU of the machine, "+name, bench.CPUSeconds, got.cpu)
	return nil
}

// armTries is the number of tries to create timers before the first of them is due. Each try allows twice as much time.
const armTries = 3

// fired is the result of firing a set of timers.
type fired struct {
	due    time.Time // of the first timer
	report bench.Report
	cpu    float64 // seconds of the machine per 10,000 timers
}

// fire creates timers, waits for their due time and until the receiver has all of them.
func (r *round) fire(ctx context.Context, name string, count int, every time.Duration) (fired, error) {
	creating := time.Duration(1.5 * float64(count) / r.rate * float64(time.Second))
	for try := range armTries {
		due := time.Now().Add(creating + r.workload.margin).Truncate(time.Millisecond)
		c := r.bulk(fmt.Sprintf("%s-%d", name, try), count, due, every)
		if err := r.receiver.Expect(ctx, c.Prefix, count); err != nil {
			return fired{}, err
		}
		if _, err := r.create(ctx, c); err != nil {
			return fired{}, err
		}
		late := !time.Now().Before(due)
		got, err := r.caught(ctx, &c)
		if err != nil {
			return fired{}, err
		}
		if !late {
			r.early, r.duplicates, r.count = r.early+got.report.Early, r.duplicates+got.report.Duplicates, r.count+count
			return got, nil
		}
		fmt.Fprintln(r.stderr, "  creates took too long, again with more time")
		creating *= 2
	}
	return fired{}, fmt.Errorf("%d timers could not be created before they were due, in %d tries", count, armTries)
}

// caught waits until the receiver has all timers.
func (r *round) caught(ctx context.Context, c *creation) (fired, error) {
	if err := rest(ctx, time.Until(c.Due)-10*time.Millisecond); err != nil {
		return fired{}, err
	}
	end, err := spend()
	if err != nil {
		return fired{}, err
	}
	if err := r.await(ctx, c.Count, c.at(c.Count-1)); err != nil {
		return fired{}, err
	}
	if err := rest(ctx, r.workload.settle); err != nil {
		return fired{}, err
	}
	cpu, err := end(c.Count)
	if err != nil {
		return fired{}, err
	}
	report, err := r.receiver.Report(ctx, true)
	return fired{due: c.Due, report: report, cpu: cpu}, err
}

// pollEvery is how often the receiver's counts are read. It does not limit the precision of the figures.
const pollEvery = 100 * time.Millisecond

// await waits until the receiver has received count timers, the last of which is due at last.
func (r *round) await(ctx context.Context, count int, last time.Time) error {
	seen, moved := -1, time.Now()
	for {
		got, err := r.receiver.Report(ctx, false)
		if err != nil {
			return err
		}
		if got.Received >= count {
			return nil
		}
		now := time.Now()
		if got.Received != seen {
			seen, moved = got.Received, now
		}
		if now.Sub(moved) > r.workload.patience && now.Sub(last) > r.workload.patience {
			return fmt.Errorf("%d of %d callbacks arrived, none of them in the last %v", got.Received, count, r.workload.patience)
		}
		if err := rest(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// create lets the client create timers, and returns how many seconds that took.
func (r *round) create(ctx context.Context, c creation) (seconds float64, err error) {
	fmt.Fprintf(r.stderr, "  create %s %s\n", bench.Digits(float64(c.Count)), strings.TrimPrefix(c.Prefix, r.id+"-"))
	body, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.client, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the client answered %s: %s", response.Status, bytes.TrimSpace(answer))
	}
	var done created
	err = json.Unmarshal(answer, &done)
	return done.Seconds, err
}

// spend starts to measure the processor time of the whole machine. The returned function returns the seconds per 10,000
// timers.
func spend() (func(timers int) (float64, error), error) {
	before, err := host.SpentUntilNow()
	return func(timers int) (float64, error) {
		after, err := host.SpentUntilNow()
		return (after.Machine - before.Machine).Seconds() * 10_000 / float64(timers), err
	}, err
}

func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
