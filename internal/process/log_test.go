package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestReadableLog(t *testing.T) {
	var b bytes.Buffer
	log := NewLogger(&b, "text", slog.LevelInfo)
	log.Debug("not seen")
	log.With("component", "scheduler").WithGroup("shard").Warn("claim lost", "id", 7, "error", errors.New("fenced by a newer claim"))
	log.Info("bare")
	want := regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d{3} WARN  claim lost component=scheduler shard\.id=7 shard\.error="fenced by a newer claim"
\d\d:\d\d:\d\d\.\d{3} INFO  bare
$`)
	if !want.Match(b.Bytes()) {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}

func TestLoggedDurationsAreReadable(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		NewLogger(&b, format, slog.LevelInfo).With("every", time.Minute).WithGroup("g").
			Info("waiting", "for", 90*time.Second, "took", 1500*time.Microsecond, slog.Group("h", "grace", 2*time.Hour))
		want := []string{"every=1m", "g.for=1m30s", "g.took=1.5ms", "g.h.grace=2h"}
		if format == "json" {
			want = []string{`"every":"1m"`, `"for":"1m30s"`, `"took":"1.5ms"`, `"grace":"2h"`}
		}
		for _, attribute := range want {
			if !slices.Contains(strings.FieldsFunc(b.String(), func(r rune) bool { return strings.ContainsRune(" ,{}\n", r) }), attribute) {
				t.Errorf("%s: no %s in %s", format, attribute, b.String())
			}
		}
	}
}

func TestLogIsJSONWhereNobodyReadsAlong(t *testing.T) {
	var b bytes.Buffer
	NewLogger(&b, "auto", slog.LevelDebug).Debug("partition opened", "partition", 7)
	var line map[string]any
	if err := json.Unmarshal(b.Bytes(), &line); err != nil || line["msg"] != "partition opened" || line["partition"] != 7.0 {
		t.Errorf("%s: %v", b.String(), err)
	}
}

func TestReadableLogKeepsLinesApart(t *testing.T) {
	var b bytes.Buffer
	log := NewLogger(&b, "text", slog.LevelInfo)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				log.With("a", 1).Info("line", "b", 2)
			}
		})
	}
	wg.Wait()
	for line := range strings.Lines(b.String()) {
		if !strings.HasSuffix(line, " INFO  line a=1 b=2\n") {
			t.Fatalf("line %q", line)
		}
	}
}

func TestMetricsTellTheVersion(t *testing.T) {
	w := httptest.NewRecorder()
	MetricsHandler(NewRegistry("v1.2.3")).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if !strings.Contains(w.Body.String(), `timerbus_build_info{version="v1.2.3"} 1`) {
		t.Errorf("metrics: %s", w.Body.String())
	}
}
