package bench

// Figure is one measured value.
type Figure struct {
	// Key names the figure for programs: the phase, a dot, and the name within the phase.
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
	// CPUSeconds is processor time in seconds per 10,000 timers.
	CPUSeconds = "CPU s / 10,000"
)

// figures collects the figures of a phase.
type figures struct {
	phase string
	list  []Figure
}

func (f *figures) add(key, name, unit string, value float64) {
	f.list = append(f.list, Figure{Key: f.phase + "." + key, Name: name, Unit: unit, Value: value})
}

// cost is the processor time between two instants, in seconds: of the service, the load generator and the receiver.
type cost struct {
	service, generator, receiver float64
	// together means that generator and receiver are one process, whose time is in generator.
	together bool
}

// addCost adds the processor time per 10,000 timers.
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
