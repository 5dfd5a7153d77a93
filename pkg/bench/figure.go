package bench

// Figure is one thing that was measured.
type Figure struct {
	// Key names the figure for programs: the phase, a dot, and what of it.
	Key string `json:"key"`
	// Name and Unit are for people.
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

// Units of figures.
const (
	PerSecond    = "/s"
	Milliseconds = "ms"
	Seconds      = "s"
	Percent      = "% of a core"
	Mebibytes    = "MiB"
	Count        = ""
	// CPUSeconds is processor time in seconds for 10,000 timers.
	CPUSeconds = "CPU s / 10,000"
)

// figures gathers what a phase has measured.
type figures struct {
	phase string
	list  []Figure
}

func (f *figures) add(key, name, unit string, value float64) {
	f.list = append(f.list, Figure{Key: f.phase + "." + key, Name: name, Unit: unit, Value: value})
}

// cost is processor time between two moments, of the service and of those who measure it.
type cost struct {
	service, generator, receiver float64
	// together: generator is the time of both.
	together bool
}

// addCost tells what some timers took.
func (f *figures) addCost(what string, c cost, timers int) {
	each := func(seconds float64) float64 { return seconds * 10_000 / float64(timers) }
	f.add("cpu_service", what+": CPU of the service", CPUSeconds, each(c.service))
	if c.together {
		f.add("cpu_generator", what+": CPU of generator and receiver", CPUSeconds, each(c.generator))
		return
	}
	f.add("cpu_generator", what+": CPU of the generator", CPUSeconds, each(c.generator))
	f.add("cpu_receiver", what+": CPU of the receiver", CPUSeconds, each(c.receiver))
}
