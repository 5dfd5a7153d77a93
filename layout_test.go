package timerbus_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// rules has one line for each unit: the packages of this module that the unit may import. The first line whose pattern
// matches a package applies to it. A package without a matching line is an error, so that a new directory gets its line
// (here and in section 10 of docs/design.md) with its first file.
//
// In a pattern, `*` matches one path element, and a trailing `/...` matches everything below. The part that the pattern
// matched is the unit: pkg/store/*/... makes pkg/store/memstore one unit with its subpackages. Packages of one unit may
// import each other.
//
//	timer ← shard ← {store, bus, event} ← {engines, suites, decorators} ← backend ← {timertest, cmd, e2e}
//	                {store, bus, event, process, api, …} ← services ← node ← {timerbus, timertest, cmd, e2e}
var rules = []rule{
	{unit: ".", std: true, why: "the root contains these rules and no code"},

	// The domain can be read and tested without any other package.
	{unit: "pkg/timer/...", std: true, why: "the domain depends on the standard library only"},
	{unit: "pkg/shard/...", std: true, may: "pkg/timer", why: "placement is arithmetic over timer ids"},

	{unit: "internal/outage/...", std: true, why: "every component logs its outages with it"},

	// The contracts do not import each other: a store that imported the bus could not be exchanged alone.
	{unit: "pkg/store", std: true, may: domain, why: "a contract must not depend on an engine or on another contract"},
	{unit: "pkg/bus", std: true, may: domain, why: "a contract must not depend on an engine or on another contract"},
	{unit: "internal/event/...", may: domain, tests: "schemas", why: "the wire format is the same over every bus and store"},

	// Engines, suites and decorators import their contract and not each other. Only tests combine them: an engine's
	// test runs the suite, and the tests of suites and decorators use the memory engine.
	{unit: "internal/store/storebench", may: domain + " pkg/store", why: "it measures every engine, so it must not depend on one"},
	{unit: "internal/store/...", may: domain + " pkg/store", why: "engines share it, so it must not depend on one"},
	{unit: "pkg/store/storetest/...", may: domain + " pkg/store", tests: "pkg/store/memstore internal/faultstore", why: "the suite tests every engine, so it must not depend on one"},
	{unit: "internal/faultstore", may: domain + " pkg/store", tests: "pkg/store/storetest/... pkg/store/memstore", why: "it decorates any store, so it must not depend on one"},
	{unit: "pkg/store/*/...", may: domain + " pkg/store internal/store/...", tests: "pkg/store/storetest/... pkg/store/memstore internal/store/... internal/testserver", why: "an engine depends on its contract only, so that it can be exchanged separately"},
	{unit: "internal/bus/...", may: domain + " pkg/bus internal/outage", why: "engines share it, so it must not depend on one"},
	{unit: "pkg/bus/bustest/...", may: domain + " pkg/bus", tests: "pkg/bus/membus", why: "the suite tests every engine, so it must not depend on one"},
	{unit: "pkg/bus/watermillbus/...", may: domain + " pkg/bus", tests: "pkg/bus/membus pkg/bus/natsbus/... pkg/bus/kafkabus pkg/timertest pkg/client/... internal/testserver", why: "it adapts any bus, so it must not depend on one; Watermill's suite tests it on each"},
	{unit: "internal/watermillsink/...", may: domain + " pkg/bus pkg/bus/watermillbus internal/event/...", tests: "pkg/bus/bustest/... pkg/bus/membus", why: "it carries public messages, which are events, and must not depend on an engine"},
	{unit: "pkg/bus/*/...", may: domain + " pkg/bus internal/bus/... internal/outage", tests: "pkg/bus/bustest/... pkg/bus/membus internal/outage/outagetest internal/testserver", why: "an engine depends on its contract only, so that it can be exchanged separately"},
	{unit: "internal/testcert", std: true, why: "tests of every TLS server and client make their certificates with it"},
	{unit: "internal/testserver", std: true, why: "tests of every engine find their servers with it"},
	{unit: "deploy/outbox", std: true, why: "these are SQL files, embedded"},
	{unit: "internal/outbox", std: true, why: "it is the contract of outboxes, which ingest uses, so it must not depend on a database"},
	{unit: "internal/outbox/*/...", may: "pkg/timer internal/outbox", tests: "internal/outbox/... internal/testserver deploy/outbox", why: "a database of an outbox depends on the contract only"},
	{unit: "internal/backend/...", may: contracts + " internal/process/... internal/outbox/... " + engines, why: "it is the only package that imports every engine, and it chooses one by URL"},

	// Callbacks: storage of secrets, signing, and the permitted destinations.
	{unit: "internal/flow", may: "pkg/timer", why: "dispatchers change the state of a flow and ingest shows it; it is pure"},
	{unit: "internal/changes", std: true, may: "pkg/timer", why: "dispatchers and ingest add the changes that they made, and ingest streams them"},
	{unit: "internal/zone", std: true, why: "it is the time zone database of a release, which must not depend on the machine"},
	{unit: "internal/schedule", may: domain + " pkg/store", tests: "internal/zone", why: "dispatchers advance schedules and ingest shows them; it is pure"},
	{unit: "internal/encryption/...", std: true, may: "pkg/timer", why: "the encryption of secrets depends on the standard library only"},
	{unit: "pkg/webhook/...", std: true, may: "pkg/timer", why: "signing is a function of bytes, for services and receivers"},

	{unit: "internal/egress/...", may: "pkg/timer", why: "the services that accept a URL and that call it apply the same policy"},

	// The foundation of programs and services.
	{unit: "schemas/...", std: true, why: "these are documents, embedded"},
	{unit: "pkg/api/...", why: "generated from schemas/openapi.yaml; client and server share it"},
	{unit: "pkg/client/...", may: "pkg/timer internal/event/... pkg/api/...", tests: "pkg/timertest", why: "a user's program must not pull in a service, a store or a bus"},
	{unit: "internal/bench/...", may: "internal/event/...", tests: "pkg/timer pkg/client pkg/timertest", why: "it measures a service from outside, so it uses public formats only"},
	{unit: "internal/tracing", may: "pkg/timer internal/event/...", tests: "internal/otlp", why: "services and embedding programs record spans without an exporter"},
	{unit: "internal/otlp", may: "internal/outage", why: "only programs link the exporter"},
	{unit: "internal/process/...", may: domain + " internal/encryption internal/egress pkg/api", tests: "internal/testcert", why: "configuration, signals, logs and metrics serve every process alike"},

	{unit: "internal/access/...", may: domain + " pkg/store", tests: "pkg/store/memstore internal/faultstore", why: "every HTTP server of a process checks credentials with it"},

	{unit: "internal/ui", std: true, may: "pkg/timer", why: "it serves files, and its pages use the public API only"},

	// Services communicate through the bus and the store, never by import.
	{unit: "internal/testclock", may: domain + " pkg/store", tests: "pkg/store/memstore internal/faultstore", why: "it moves the clock of a process by the state of its store"},

	{unit: "services/*/...", may: contracts + " internal/access internal/changes internal/flow internal/schedule internal/testclock internal/zone internal/outbox internal/outage internal/process/... internal/tracing pkg/api/... schemas" + callbacks, tests: "internal/outage/outagetest internal/otlp pkg/store/memstore internal/faultstore pkg/bus/membus", why: "a service depends on contracts, so that it runs on every engine, and communicates with other services by the bus"},

	// One process of the service, for programs and for users' tests (decision 0007).
	{unit: "internal/node/...", may: contracts + " internal/access internal/bus/localqueue internal/changes internal/outbox internal/outage internal/process/... internal/testclock internal/tracing internal/ui internal/zone pkg/api/... services/*" + callbacks, tests: "pkg/store/memstore pkg/bus/membus", why: "a node assembles services on any engines, so that a program links only the engines that it imports"},
	{unit: "pkg/timerbus/...", may: "pkg/timer pkg/store pkg/bus internal/access internal/process internal/tracing internal/watermillsink internal/node pkg/client/...", tests: "internal/event/... pkg/store/memstore pkg/store/sqlitestore pkg/bus/membus pkg/bus/watermillbus pkg/bus/natsbus/...", why: "it runs a node inside a user's program, on the engines and the Pub/Sub of the program"},
	{unit: "pkg/timertest/...", may: "pkg/timer internal/backend internal/process/... internal/testclock internal/node pkg/client/...", why: "it starts a node inside a user's test, and returns a client"},

	{unit: "internal/restore", may: domain + " pkg/store", tests: "pkg/store/memstore internal/faultstore", why: "it changes any store, which the program opens"},
	{unit: "internal/doctor", may: domain + " pkg/store pkg/bus", tests: "pkg/store/memstore internal/faultstore", why: "it checks any store and bus, which the program opens"},

	// The SDKs of other languages, and what tests them and the Go client.
	{unit: "sdk/conformance/...", std: true, may: "pkg/timer", why: "the fault proxy tests clients of every language, so it contains no client"},

	// Programs assemble the components, and get their engines from internal/backend.
	{unit: "cmd/*/...", may: programs, tests: "internal/testcert", why: "a program gets its engines from internal/backend"},
	{unit: "e2e/sim/...", may: contracts + " internal/bus/localqueue internal/schedule internal/zone services/* internal/encryption pkg/store/memstore internal/faultstore pkg/bus/membus", why: "the simulation runs the services on what it can control"},
	{unit: "e2e/...", may: programs + " internal/testcert internal/testserver sdk/conformance", why: "end-to-end tests import what programs import"},
	{unit: "benchmark/host", why: "it starts processes and reads the machine for benchmarks, so it must not depend on the product"},
	{unit: "benchmark/peers/...", may: "benchmark/host internal/bench", why: "it measures the service from outside, as it measures other systems"},
	{unit: "benchmark/...", may: programs, why: "benchmarks import what programs import"},
	{unit: "examples/verify/...", why: "users copy it, so it imports no package of this module"},
	{unit: "examples/...", may: "pkg/timerbus pkg/client/... pkg/timer pkg/store pkg/bus " + engines, why: "users copy it, so it imports what their programs import"},
	{unit: "tools/...", why: "tools are for the build and separate from the product"},
}

const (
	domain    = "pkg/timer pkg/shard"
	contracts = domain + " pkg/store pkg/bus internal/event/..."
	callbacks = " internal/encryption pkg/webhook internal/egress"
	engines   = "pkg/store/memstore pkg/store/sqlitestore pkg/store/postgresstore pkg/store/mysqlstore pkg/store/dynamostore pkg/bus/membus pkg/bus/natsbus/... pkg/bus/kafkabus"
	programs  = contracts + " deploy/outbox internal/outbox internal/access/... internal/backend internal/bench internal/doctor internal/restore internal/process/... internal/testclock internal/tracing internal/otlp internal/ui internal/node pkg/client/... pkg/api/... schemas services/*" + callbacks
)

func TestArrows(t *testing.T) {
	g := readGraph(t)
	if g["pkg/timer"] == nil {
		t.Fatalf("pkg/timer is not among the %d packages found: this test is looking in the wrong place", len(g))
	}
	for _, v := range g.violations(rules) {
		t.Error(v)
	}
}

// TestArrowsAreCaught checks one import at a time, in a graph that contains nothing else.
func TestArrowsAreCaught(t *testing.T) {
	for _, c := range []struct {
		from, to string
		inTest   bool
		allowed  bool
	}{
		{from: "pkg/timer", to: "pkg/shard"},
		{from: "pkg/timer", to: "github.com/google/uuid"},
		{from: "pkg/timer", to: "crypto/sha1", allowed: true},
		{from: "pkg/shard", to: "pkg/store"},
		{from: "pkg/shard", to: "pkg/timer", allowed: true},
		{from: "pkg/store", to: "pkg/bus"},
		{from: "pkg/store", to: "internal/event"},
		{from: "pkg/store", to: "pkg/store/memstore"},
		{from: "pkg/store", to: "modernc.org/sqlite"},
		{from: "pkg/bus", to: "pkg/store"},
		{from: "pkg/bus", to: "internal/event"},
		{from: "pkg/bus", to: "internal/bus/window"},
		{from: "internal/event", to: "pkg/store"},
		{from: "internal/event", to: "pkg/bus"},

		{from: "pkg/store/memstore", to: "pkg/store", allowed: true},
		{from: "pkg/store/memstore", to: "pkg/store/sqlitestore"},
		{from: "pkg/store/memstore", to: "pkg/store/sqlitestore", inTest: true},
		{from: "pkg/store/memstore", to: "pkg/store/storetest"},
		{from: "pkg/store/memstore", to: "pkg/store/storetest", inTest: true, allowed: true},
		{from: "pkg/store/sqlitestore", to: "modernc.org/sqlite", allowed: true},
		{from: "pkg/store/sqlitestore", to: "pkg/store/sqlitestore/migrations", allowed: true},
		{from: "pkg/store/sqlitestore/migrations", to: "pkg/store/memstore"},
		{from: "pkg/store/dynamostore", to: "github.com/aws/aws-sdk-go-v2/service/dynamodb", allowed: true},
		{from: "pkg/store/dynamostore", to: "pkg/store/storetest", inTest: true, allowed: true},
		{from: "pkg/store/dynamostore", to: "pkg/store/postgresstore"},
		{from: "pkg/store", to: "github.com/aws/aws-sdk-go-v2/service/dynamodb"},
		{from: "internal/faultstore", to: "pkg/bus"},
		{from: "pkg/store/storetest", to: "pkg/store/memstore"},
		{from: "pkg/store/storetest", to: "pkg/store/memstore", inTest: true, allowed: true},
		{from: "pkg/bus/natsbus", to: "internal/bus/window", allowed: true},
		{from: "pkg/bus/natsbus", to: "pkg/bus/membus"},
		{from: "pkg/bus/kafkabus", to: "internal/bus/window", allowed: true},
		{from: "pkg/bus/kafkabus", to: "pkg/bus/natsbus"},
		{from: "pkg/bus/kafkabus", to: "internal/event"},
		{from: "pkg/bus/watermillbus", to: "github.com/ThreeDotsLabs/watermill/message", allowed: true},
		{from: "pkg/bus/watermillbus", to: "pkg/bus/kafkabus"},
		{from: "pkg/bus/watermillbus", to: "pkg/bus/kafkabus", inTest: true, allowed: true},
		{from: "pkg/bus", to: "github.com/ThreeDotsLabs/watermill/message"},
		{from: "internal/watermillsink", to: "internal/event", allowed: true},
		{from: "internal/watermillsink", to: "pkg/bus/natsbus"},
		{from: "internal/watermillsink", to: "pkg/store"},
		{from: "internal/bus/window", to: "pkg/bus/natsbus"},
		{from: "pkg/bus/bustest", to: "pkg/bus/membus"},
		{from: "internal/backend", to: "pkg/store/sqlitestore", allowed: true},
		{from: "internal/backend", to: "pkg/bus/natsbus", allowed: true},
		{from: "internal/backend", to: "pkg/bus/kafkabus", allowed: true},
		{from: "internal/backend", to: "services/ingest"},
		{from: "internal/backend", to: "pkg/store/storetest"},

		{from: "internal/encryption", to: "crypto/aes", allowed: true},
		{from: "internal/encryption", to: "pkg/store"},
		{from: "pkg/webhook", to: "internal/encryption"},
		{from: "internal/egress", to: "pkg/store"},
		{from: "internal/egress", to: "pkg/timer", allowed: true},
		{from: "services/ingest", to: "internal/egress", allowed: true},
		{from: "pkg/store", to: "internal/encryption"},
		{from: "services/dispatcher", to: "pkg/webhook", allowed: true},

		{from: "pkg/api", to: "pkg/timer"},
		{from: "pkg/client", to: "pkg/api", allowed: true},
		{from: "pkg/client", to: "pkg/store"},
		{from: "pkg/client", to: "services/ingest"},
		{from: "pkg/client", to: "pkg/timertest"},
		{from: "pkg/client", to: "pkg/timertest", inTest: true, allowed: true},
		{from: "internal/process", to: "pkg/store"},
		{from: "internal/process", to: "pkg/api", allowed: true},

		{from: "internal/node", to: "services/ingest", allowed: true},
		{from: "internal/node", to: "services/ingest/internal/commit"},
		{from: "internal/node", to: "pkg/store/sqlitestore"},
		{from: "internal/node", to: "internal/backend"},
		{from: "internal/node", to: "pkg/client"},
		{from: "pkg/timertest", to: "internal/node", allowed: true},
		{from: "pkg/timertest", to: "services/ingest"},
		{from: "pkg/timerbus", to: "internal/watermillsink", allowed: true},
		{from: "pkg/timerbus", to: "pkg/store", allowed: true},
		{from: "pkg/timerbus", to: "pkg/store/sqlitestore"},
		{from: "pkg/timerbus", to: "internal/backend"},
		{from: "internal/node", to: "internal/watermillsink"},
		{from: "cmd/timerbus", to: "pkg/timerbus"},
		{from: "internal/node", to: "internal/ui", allowed: true},
		{from: "internal/ui", to: "pkg/store"},
		{from: "internal/ui", to: "services/ingest"},
		{from: "internal/ui", to: "html/template", allowed: true},
		{from: "internal/ui", to: "github.com/evanw/esbuild/pkg/api"},
		{from: "services/ingest", to: "internal/ui"},
		{from: "services/ingest", to: "internal/node"},
		{from: "services/ingest", to: "internal/tracing", allowed: true},
		{from: "services/dispatcher", to: "internal/otlp"},
		{from: "internal/node", to: "internal/otlp"},
		{from: "internal/tracing", to: "internal/otlp"},
		{from: "pkg/timerbus", to: "internal/otlp"},
		{from: "cmd/timerbus", to: "internal/otlp", allowed: true},

		{from: "services/ingest", to: "pkg/store", allowed: true},
		{from: "services/ingest", to: "services/ingest/internal/commit", allowed: true},
		{from: "services/ingest", to: "pkg/store/sqlitestore"},
		{from: "services/ingest", to: "pkg/store/sqlitestore", inTest: true},
		{from: "services/ingest", to: "pkg/store/memstore"},
		{from: "services/ingest", to: "pkg/store/memstore", inTest: true, allowed: true},
		{from: "services/ingest", to: "internal/backend"},
		{from: "services/ingest", to: "pkg/client"},
		{from: "services/scheduler", to: "services/dispatcher"},
		{from: "services/scheduler", to: "services/dispatcher", inTest: true},
		{from: "services/scheduler/internal/timerheap", to: "services/dispatcher"},

		{from: "cmd/timerbus", to: "services/ingest", allowed: true},
		{from: "cmd/timerbus", to: "internal/backend", allowed: true},
		{from: "cmd/timerbus", to: "internal/node", allowed: true},
		{from: "cmd/timerbus", to: "pkg/store/sqlitestore"},
		{from: "e2e/demo", to: "pkg/client", allowed: true},
		{from: "e2e/sim", to: "pkg/store/memstore", allowed: true},
		{from: "e2e/sim", to: "pkg/store/sqlitestore"},
		{from: "e2e", to: "pkg/bus/natsbus", inTest: true},
		{from: "e2e", to: "sdk/conformance", inTest: true, allowed: true},
		{from: "e2e/conformance", to: "sdk/conformance", allowed: true},
		{from: "sdk/conformance", to: "pkg/client"},
		{from: "internal/backend", to: "cmd/timerbus"},
		{from: "examples/verify/go", to: "pkg/webhook"},
		{from: "examples/reminder", to: "pkg/timerbus", allowed: true},
		{from: "examples/reminder", to: "internal/node"},

		{from: "pkg/util", to: "fmt"}, // no matching rule
	} {
		g := graph{c.from: {imports: []string{c.to}}}
		if c.inTest {
			g = graph{c.from: {testImports: []string{c.to}}}
		}
		got := g.violations(rules)
		switch {
		case c.allowed && len(got) != 0:
			t.Errorf("%s → %s (in a test: %t) should be allowed, but: %v", c.from, c.to, c.inTest, got)
		case !c.allowed && len(got) == 0:
			t.Errorf("%s → %s (in a test: %t) was not caught", c.from, c.to, c.inTest)
		}
	}
}

// TestTheBinaryDoesWithoutWatermill: only programs that use pkg/timerbus with their own Pub/Sub link Watermill.
func TestTheBinaryDoesWithoutWatermill(t *testing.T) {
	g := readGraph(t)
	if len(g.importers("pkg/timerbus", "github.com/ThreeDotsLabs/")) == 0 {
		t.Error("pkg/timerbus is found without Watermill: this test is looking in the wrong place")
	}
	for _, p := range g.importers("cmd/timerbus", "github.com/ThreeDotsLabs/") {
		t.Errorf("the binary has Watermill by way of %s", p)
	}
}

// TestPackageComments requires a package comment in every package: what it owns, what it may import, what it never
// does.
func TestPackageComments(t *testing.T) {
	for _, v := range readGraph(t).uncommented() {
		t.Error(v)
	}
}

func TestMissingPackageCommentIsCaught(t *testing.T) {
	g := graph{
		"pkg/silent":    {files: 2},
		"pkg/commented": {files: 2, comment: true},
		"e2e":           {files: 0}, // tests only
	}
	if got := g.uncommented(); len(got) != 1 {
		t.Errorf("uncommented() = %q, want one line about pkg/silent", got)
	}
}

// TestPublicPackages: pkg contains the packages that other modules may import, and each says how stable it is. All other
// packages are internal (decision 0049).
func TestPublicPackages(t *testing.T) {
	g, public := readGraph(t), 0
	for _, name := range slices.Sorted(maps.Keys(g)) {
		if !strings.HasPrefix(name, "pkg/") || g[name].files == 0 {
			continue
		}
		public++
		if strings.Contains(name, "/internal/") {
			t.Errorf("%s: packages that are not public belong in internal", name)
		} else if !g[name].stability {
			t.Errorf("%s: the package comment has no section \"# Stability\"", name)
		}
	}
	if public == 0 {
		t.Error("no public package found: this test is looking in the wrong place")
	}
}
