package deploy

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

const folder = "../../deploy/compose"

// load returns the project as `docker compose -f file` sees it, with the services of all profiles.
func load(t *testing.T, path string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{path}, cli.WithWorkingDirectory(filepath.Dir(path)),
		cli.WithEnvFiles(), cli.WithDotEnv, cli.WithProfiles([]string{"*"}))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(t.Context())
}

// TestCompose compares what each file starts: the conditions that each service waits for.
func TestCompose(t *testing.T) {
	const healthy, completed = types.ServiceConditionHealthy, types.ServiceConditionCompletedSuccessfully
	roles := func(bus string) map[string]string { return map[string]string{"migrate": completed, bus: healthy} }
	cluster := func(store, bus string) map[string]map[string]string {
		return map[string]map[string]string{
			store: {}, bus: {}, "migrate": {store: healthy}, "prometheus": {}, "grafana": {"prometheus": healthy},
			"ingest": roles(bus), "scheduler": roles(bus), "dispatcher": roles(bus),
		}
	}
	wanted := map[string]map[string]map[string]string{
		"compose.yaml":            cluster("postgres", "nats"),
		"compose.kafka.yaml":      cluster("postgres", "kafka"),
		"compose.mysql.yaml":      cluster("mysql", "nats"),
		"compose.all-in-one.yaml": {"timerbus": {}},
	}
	files, err := filepath.Glob(folder + "/compose*.yaml")
	if err != nil || len(files) != len(wanted) {
		t.Fatalf("the files are %v, %v", files, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			project, err := load(t, file)
			if err != nil {
				t.Fatal(err)
			}
			starts := map[string]map[string]string{}
			for name := range project.Services {
				service := project.Services[name]
				starts[name] = map[string]string{}
				for on, dependency := range service.DependsOn {
					starts[name][on] = dependency.Condition
				}
				check(t, &service)
			}
			if !maps.EqualFunc(starts, wanted[name], maps.Equal) {
				t.Errorf("it starts %v, want %v", starts, wanted[name])
			}
			if name == "compose.all-in-one.yaml" {
				if service := project.Services["timerbus"]; len(project.Volumes)+len(service.Volumes) > 0 {
					t.Errorf("it has the volumes %v, %v", project.Volumes, service.Volumes)
				}
				return
			}
			for service, replicas := range map[string]int{"ingest": 1, "scheduler": 2, "dispatcher": 2} {
				if got := project.Services[service]; got.GetScale() != replicas {
					t.Errorf("it starts %d of %s, want %d", got.GetScale(), service, replicas)
				}
			}
			if got := project.Services["grafana"].Profiles; !slices.Equal(got, []string{"dashboards"}) {
				t.Errorf("grafana has the profiles %v", got)
			}
		})
	}
}

// check checks what holds for every service of every file.
func check(t *testing.T, s *types.ServiceConfig) {
	t.Helper()
	if name, tag, _ := strings.Cut(s.Image, ":"); tag == "" || tag == "latest" {
		t.Errorf("%s: the image %s has no version", s.Name, name)
	}
	if once := s.Name == "migrate"; once != (s.HealthCheck == nil || s.HealthCheck.Disable) {
		t.Errorf("%s: the health check is %+v", s.Name, s.HealthCheck)
	}
	for _, port := range s.Ports {
		if port.HostIP != "127.0.0.1" {
			t.Errorf("%s: port %s is published on %q, beyond this machine", s.Name, port.Published, port.HostIP)
		}
	}
	if ours := strings.Contains(s.Image, "/timerbus:"); ours && (!slices.Equal(s.CapDrop, []string{"ALL"}) || s.ReadOnly == (s.Command[0] == "dev")) {
		t.Errorf("%s: it has more rights than it needs: cap_drop %v, read_only %t", s.Name, s.CapDrop, s.ReadOnly)
	}
}

// TestComposeRefusals: the loader that the other test relies on finds a misspelt key and an unknown dependency.
func TestComposeRefusals(t *testing.T) {
	for file, want := range map[string]string{
		"testdata/misspelt.yaml": "healthchek",
		"testdata/unknown.yaml":  `depends on undefined service "postgres"`,
	} {
		if _, err := load(t, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}
