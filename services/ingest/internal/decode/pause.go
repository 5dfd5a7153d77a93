package decode

import (
	"slices"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Pause is the body of a pause.
type Pause struct {
	Delete // the timer and its generation
	Note   string
}

// Resume is the body of a resume.
type Resume struct {
	Delete
	Skip bool
}

// PauseMatching is the body of a pause by filter.
type PauseMatching struct {
	Matching
	Note string
}

// ResumeMatching is the body of a resume by filter.
type ResumeMatching struct {
	Matching
	Skip bool
	// Rate is how many overdue timers become due in a second, 0 if all are due at once. StartAt is when the first one is due; 0 means
	// the receipt.
	Rate    int
	StartAt timer.Millis
}

const (
	maxResumeRate  = 100_000
	wantOverdue    = `"deliver" or "skip"`
	wantResumeRate = "1 to 100000 timers per second"
)

var (
	pauseNames          = slices.Concat(deleteNames, []string{"note"})
	resumeNames         = slices.Concat(deleteNames, []string{"overdue"})
	pauseMatchingNames  = slices.Concat(listNames, []string{"note"})
	resumeMatchingNames = slices.Concat(listNames, []string{"overdue", "resumeRate", "startAt"})
)

// ReadPause decodes the body of a pause.
func ReadPause(body []byte) (Pause, error) {
	var p Pause
	err := members(body, pauseNames, func(name string, v value) error {
		if name == "note" {
			return readNote(&p.Note, v)
		}
		return p.Delete.read(name, v)
	})
	if err == nil {
		err = p.complete()
	}
	return p, err
}

// ReadResume decodes the body of a resume.
func ReadResume(body []byte) (Resume, error) {
	var r Resume
	err := members(body, resumeNames, func(name string, v value) error {
		if name == "overdue" {
			return readOverdue(&r.Skip, v)
		}
		return r.Delete.read(name, v)
	})
	if err == nil {
		err = r.complete()
	}
	return r, err
}

// ReadPauseMatching decodes the body of a pause by filter.
func ReadPauseMatching(body []byte) (PauseMatching, error) {
	var p PauseMatching
	var err error
	p.Matching, err = readFilter(body, pauseMatchingNames, func(name string, v value) error {
		return readNote(&p.Note, v) // the only other member
	}, timer.StatusScheduled, timer.StatusRetrying)
	return p, err
}

// ReadResumeMatching decodes the body of a resume by filter.
func ReadResumeMatching(body []byte) (ResumeMatching, error) {
	var r ResumeMatching
	var err error
	r.Matching, err = readFilter(body, resumeMatchingNames, func(name string, v value) (err error) {
		switch name {
		case "overdue":
			err = readOverdue(&r.Skip, v)
		case "resumeRate":
			r.Rate, err = v.integer(name, 1, maxResumeRate, wantResumeRate)
		case "startAt":
			r.StartAt, err = readInstant(name, v)
		}
		return err
	}, timer.StatusPaused)
	if err == nil && r.StartAt != 0 && r.Rate == 0 {
		err = timer.Invalid("resumeRate", missing{}, wantResumeRate+", because startAt is given")
	}
	r.Query.Status = timer.StatusPaused
	return r, err
}

func readNote(note *string, v value) (err error) {
	if v.isNull() {
		return nil // counts as absent
	}
	if *note, err = v.string("note", timer.WantPauseNote); err == nil {
		err = timer.ValidatePauseNote(*note)
	}
	return err
}

func readOverdue(skip *bool, v value) error {
	if v.isNull() {
		return nil // counts as absent
	}
	s, err := v.string("overdue", wantOverdue)
	if err == nil && s != "deliver" && s != "skip" {
		err = timer.Invalid("overdue", s, wantOverdue)
	}
	*skip = s == "skip"
	return err
}
