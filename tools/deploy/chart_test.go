package deploy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"
	k8syaml "sigs.k8s.io/yaml"
)

const chartFolder = "../../deploy/helm/timerbus"

// versions are those of Kubernetes that the chart supports.
var versions = []string{"1.28.0", "1.29.0", "1.30.0", "1.31.0", "1.32.0", "1.33.0", "1.34.0"}

// valueSets are the values of installations, by name: YAML.
var valueSets = map[string]string{
	"least": "existingSecret: timerbus",
	"without a secret": `
insecure: true
store: {url: "dynamodb://timers?region=eu-central-1"}
bus: {url: "nats://nats:4222?replicas=3"}
serviceAccount: {name: timers, annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/timers"}}
ingest: {preStopSeconds: 0}
podDisruptionBudget: {enabled: false}
migrate: {enabled: false}
`,
	"tls": `
existingSecret: timerbus
tls: {existingSecret: serving}
serviceMonitor: {enabled: true}
`,
	"client certificates": `
existingSecret: timerbus
tls: {existingSecret: serving, clientCA: ca.crt}
serviceMonitor:
  enabled: true
  tlsConfig: {ca: {secret: {name: serving, key: ca.crt}}, cert: {secret: {name: scraper, key: tls.crt}}, keySecret: {name: scraper, key: tls.key}}
`,
	"everything": `
image: {repository: registry.example/timerbus, tag: v1.2.3, pullPolicy: Always}
imagePullSecrets: [{name: registry}]
fullnameOverride: timers
existingSecret: secrets
secretKeys: {store: STORE_URL, bus: BUS_URL, token: TOKEN, secretKey: SECRET_KEY, outbox: OUTBOX_URL}
settings:
  partitions: 1024
  callback-allow: private,*.svc.cluster.local
  callback-proxy: socks5://proxy:1080
  allowed-hosts: timers.internal
  start-wait: 2m30s
  ui: true
  ui-path: /timers/ui/
  ui-read-only: true
  ui-hide-payloads: true
  oidc-issuer: https://login.example.com/realms/ops
  oidc-audience: timerbus
  oidc-grants: ops=read,write,admin@* billing=read,write@billing-*
  ui-oidc-client-id: timerbus-ui
  ui-oidc-scopes: openid profile
  debug-listen: 127.0.0.1:6060
  log-level: debug
  log-format: json
drainTimeoutSeconds: 45
serviceAccount: {create: false, name: shared}
migrate: {activeDeadlineSeconds: 60, pod: {resources: {requests: {memory: 64Mi}, limits: {memory: 64Mi}}}}
pod:
  nodeSelector: {kubernetes.io/arch: arm64}
  tolerations: [{key: timers, operator: Exists}]
  affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: rack, labelSelector: {}}}]}}
  priorityClassName: important
  annotations: {example.com/team: timers}
  labels: {team: timers}
  env: [{name: SSL_CERT_FILE, value: /tls/ca.crt}, {name: TIMERBUS_NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
  volumes: [{name: tls, secret: {secretName: tls}}]
  volumeMounts: [{name: tls, mountPath: /tls, readOnly: true}]
ingest: {replicas: 3, imageTag: v1.2.2, preStopSeconds: 10, service: {type: LoadBalancer, port: 80, annotations: {example.com/internal: "true"}}}
scheduler: {imageTag: v1.2.1, pod: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {team: timers}}}]}}
dispatcher: {autoscaling: {enabled: true, maxReplicas: 20, averageValue: 5000000, selector: {cluster: main}}}
podDisruptionBudget: {maxUnavailable: 50%}
serviceMonitor: {enabled: true, labels: {release: prometheus}}
prometheusRule: {enabled: true, labels: {release: prometheus}}
`,
}

// roles are the Deployments.
var roles = []string{"ingest", "scheduler", "dispatcher"}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := k8syaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return values
}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render does what `helm template` does.
func render(t *testing.T, c *chart.Chart, values, version string) (*release.Release, error) {
	t.Helper()
	kube, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(&action.Configuration{Log: t.Logf})
	install.ClientOnly, install.DryRun, install.KubeVersion = true, true, kube
	install.ReleaseName, install.Namespace = "demo", "timers"
	return install.RunWithContext(t.Context(), c, parse(t, values))
}

// objects are the rendered objects by kind and name, as JSON.
type objects map[string]json.RawMessage

func decode(t *testing.T, r *release.Release) objects {
	t.Helper()
	manifests := []string{r.Manifest}
	for _, h := range r.Hooks {
		manifests = append(manifests, h.Manifest)
	}
	return decodeAll(t, manifests...)
}

func decodeAll(t *testing.T, manifests ...string) objects {
	t.Helper()
	found := objects{}
	for _, m := range manifests {
		reader := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(m)))
		for {
			text, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			object, err := k8syaml.YAMLToJSONStrict(text)
			if err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			var head metav1.PartialObjectMetadata
			if err := json.Unmarshal(object, &head); err != nil {
				t.Fatal(err)
			}
			if head.Kind == "" {
				continue // only a comment
			}
			found[head.Kind+" "+head.Name] = object
		}
	}
	return found
}

// get decodes an object into its type, which must know every field.
func get[T any](t *testing.T, all objects, name string) *T {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(all[name]))
	decoder.DisallowUnknownFields()
	object := new(T)
	if err := decoder.Decode(object); err != nil {
		t.Fatalf("%s: %v; rendered are %v", name, err, slices.Sorted(maps.Keys(all)))
	}
	return object
}

// TestChartRenders: for each set of values and each version of Kubernetes, what is rendered, and what holds for every pod.
func TestChartRenders(t *testing.T) {
	c := loadChart(t)
	deployments := func(prefix string) []string {
		return []string{"Deployment " + prefix + "-dispatcher", "Deployment " + prefix + "-ingest", "Deployment " + prefix + "-scheduler"}
	}
	budgets := func(prefix string) []string {
		return []string{
			"PodDisruptionBudget " + prefix + "-dispatcher", "PodDisruptionBudget " + prefix + "-ingest", "PodDisruptionBudget " + prefix + "-scheduler",
		}
	}
	wanted := map[string][]string{
		"least": slices.Concat(deployments("demo-timerbus"), []string{"Job demo-timerbus-migrate"}, budgets("demo-timerbus"),
			[]string{"Service demo-timerbus-ingest", "ServiceAccount demo-timerbus", "ServiceAccount demo-timerbus-migrate"}),
		"tls": slices.Concat(deployments("demo-timerbus"), []string{"Job demo-timerbus-migrate"}, budgets("demo-timerbus"), []string{
			"Service demo-timerbus-ingest", "Service demo-timerbus-metrics", "ServiceAccount demo-timerbus", "ServiceAccount demo-timerbus-migrate",
			"ServiceMonitor demo-timerbus",
		}),
		"client certificates": slices.Concat(deployments("demo-timerbus"), []string{"Job demo-timerbus-migrate"}, budgets("demo-timerbus"), []string{
			"Service demo-timerbus-ingest", "Service demo-timerbus-metrics", "ServiceAccount demo-timerbus", "ServiceAccount demo-timerbus-migrate",
			"ServiceMonitor demo-timerbus",
		}),
		"without a secret": slices.Concat(deployments("demo-timerbus"), []string{"Service demo-timerbus-ingest", "ServiceAccount timers"}),
		"everything": slices.Concat(deployments("timers"), []string{"HorizontalPodAutoscaler timers-dispatcher", "Job timers-migrate"},
			budgets("timers"), []string{"PrometheusRule timers", "Service timers-ingest", "Service timers-metrics", "ServiceMonitor timers"}),
	}
	for set, values := range valueSets {
		for _, version := range versions {
			t.Run(set+" on "+version, func(t *testing.T) {
				r, err := render(t, c, values, version)
				if err != nil {
					t.Fatal(err)
				}
				all := decode(t, r)
				if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, wanted[set]) {
					t.Errorf("rendered are\n%q, want\n%q", got, wanted[set])
				}
				sleeps := version >= "1.30"
				pods := map[string]labels.Set{}
				for name := range all {
					switch kind, _, _ := strings.Cut(name, " "); kind {
					case "Deployment":
						d := get[appsv1.Deployment](t, all, name)
						pods[d.Labels["app.kubernetes.io/component"]] = d.Spec.Template.Labels
						checkDeployment(t, d, sleeps)
						checkPod(t, &d.Spec.Template.Spec)
					case "Job":
						checkPod(t, &get[batchv1.Job](t, all, name).Spec.Template.Spec)
					case "ServiceAccount":
						if s := get[corev1.ServiceAccount](t, all, name); s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken {
							t.Errorf("%s: its token is mounted", name)
						}
					}
				}
				checkSelectors(t, all, pods)
			})
		}
	}
}

func checkDeployment(t *testing.T, d *appsv1.Deployment, sleeps bool) {
	t.Helper()
	container, role := &d.Spec.Template.Spec.Containers[0], d.Labels["app.kubernetes.io/component"]
	if !slices.Equal(container.Args, []string{role}) {
		t.Errorf("%s: the arguments are %q", d.Name, container.Args)
	}
	for name, probe := range map[string]struct {
		*corev1.Probe

		path string
	}{"startup": {container.StartupProbe, "/healthz"}, "liveness": {container.LivenessProbe, "/healthz"}, "readiness": {container.ReadinessProbe, "/readyz"}} {
		if probe.Probe == nil || probe.HTTPGet.Path != probe.path || probe.HTTPGet.Port.StrVal != container.Ports[0].Name {
			t.Errorf("%s: the %s probe is %+v", d.Name, name, probe.Probe)
		}
	}
	if s := d.Spec.Strategy.RollingUpdate; s == nil || s.MaxUnavailable.String() != "0" || s.MaxSurge.String() != "1" {
		t.Errorf("%s: a rollout stops pods before their successors are ready: %s", d.Name, asJSON(t, d.Spec.Strategy))
	}
	var pause int64
	if container.Lifecycle != nil {
		if pause = container.Lifecycle.PreStop.Sleep.Seconds; !sleeps || role != "ingest" {
			t.Errorf("%s: it sleeps for %d s before it stops", d.Name, pause)
		}
	}
	environ := map[string]string{}
	for _, e := range container.Env {
		if _, twice := environ[e.Name]; twice {
			t.Errorf("%s: %s is set twice", d.Name, e.Name)
		}
		environ[e.Name] = e.Value
	}
	for _, name := range []string{"TIMERBUS_STORE", "TIMERBUS_BUS", "TIMERBUS_PARTITIONS", "TIMERBUS_CALLBACK_ALLOW"} {
		if _, ok := environ[name]; !ok {
			t.Errorf("%s: %s is missing", d.Name, name)
		}
	}
	if _, token := environ["TIMERBUS_TOKEN"]; token == (environ["TIMERBUS_INSECURE"] == "true") {
		t.Errorf("%s: it has a token: %t, and TIMERBUS_INSECURE is %q", d.Name, token, environ["TIMERBUS_INSECURE"])
	}
	if got := environ["TIMERBUS_LISTEN"]; got != fmt.Sprintf("0.0.0.0:%d", container.Ports[0].ContainerPort) {
		t.Errorf("%s: it listens on %s, and its port is %d", d.Name, got, container.Ports[0].ContainerPort)
	}
	grace := *d.Spec.Template.Spec.TerminationGracePeriodSeconds
	if got := environ["TIMERBUS_DRAIN_TIMEOUT"]; got != fmt.Sprintf("%ds", grace-pause-5) {
		t.Errorf("%s: it may take %s to stop, after %d s, and the grace period is %d s", d.Name, got, pause, grace)
	}
	for i := range d.Spec.Template.Spec.TopologySpreadConstraints {
		if s := d.Spec.Template.Spec.TopologySpreadConstraints[i].LabelSelector; s == nil || !matches(t, s, d.Spec.Template.Labels) {
			t.Errorf("%s: a constraint counts the pods %v", d.Name, s)
		}
	}
}

// checkPod checks what PodSecurity "restricted" requires, and what this program also needs.
func checkPod(t *testing.T, p *corev1.PodSpec) {
	t.Helper()
	c := &p.Containers[0]
	for what, is := range map[string][2]any{
		"security context of the pod": {p.SecurityContext, &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}},
		"security context": {c.SecurityContext, &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}},
		"enableServiceLinks":           {p.EnableServiceLinks, new(false)},
		"automountServiceAccountToken": {p.AutomountServiceAccountToken, new(false)},
	} {
		if !reflect.DeepEqual(is[0], is[1]) {
			t.Errorf("%s: the %s is %s, want %s", c.Name, what, asJSON(t, is[0]), asJSON(t, is[1]))
		}
	}
	if _, tag, _ := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":"); tag == "" || tag == "latest" {
		t.Errorf("%s: the image %s has no version", c.Name, c.Image)
	}
	if c.Resources.Limits.Memory().IsZero() || len(p.Volumes) != len(c.VolumeMounts) {
		t.Errorf("%s: the resources are %+v, the volumes %v, mounted are %v", c.Name, c.Resources, p.Volumes, c.VolumeMounts)
	}
	for _, e := range c.Env {
		if e.Value != "" && secretName.MatchString(e.Name) {
			t.Errorf("%s: %s is not in a Secret", c.Name, e.Name)
		}
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var secretName = regexp.MustCompile(`TOKEN|SECRET|PASSWORD`)

func matches(t *testing.T, s *metav1.LabelSelector, pod labels.Set) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return !selector.Empty() && selector.Matches(pod)
}

// checkSelectors checks which pods each object selects. pods has the labels of the pods by role.
func checkSelectors(t *testing.T, all objects, pods map[string]labels.Set) {
	t.Helper()
	for name := range all {
		kind, _, _ := strings.Cut(name, " ")
		role := name[strings.LastIndex(name, "-")+1:]
		var selector *metav1.LabelSelector
		selected := []string{role}
		switch kind {
		case "Deployment":
			selector = get[appsv1.Deployment](t, all, name).Spec.Selector
		case "PodDisruptionBudget":
			budget := get[policyv1.PodDisruptionBudget](t, all, name).Spec
			if p := budget.UnhealthyPodEvictionPolicy; p == nil || *p != policyv1.AlwaysAllow {
				t.Errorf("%s: pods that are not ready cannot be evicted: %s", name, asJSON(t, budget))
			}
			selector = budget.Selector
		case "Service":
			selector = &metav1.LabelSelector{MatchLabels: get[corev1.Service](t, all, name).Spec.Selector}
			if role == "metrics" {
				selected = roles
			}
		case "HorizontalPodAutoscaler":
			target := get[autoscalingv2.HorizontalPodAutoscaler](t, all, name).Spec.ScaleTargetRef.Name
			if d := get[appsv1.Deployment](t, all, "Deployment "+target); d.Spec.Replicas != nil {
				t.Errorf("%s scales %s, which each upgrade sets to %d replicas", name, target, *d.Spec.Replicas)
			}
			continue
		case "ServiceMonitor":
			monitor := get[monitoringv1.ServiceMonitor](t, all, name)
			service := get[corev1.Service](t, all, "Service "+monitor.Name+"-metrics")
			if !matches(t, &monitor.Spec.Selector, service.Labels) || monitor.Spec.Endpoints[0].Port != service.Spec.Ports[0].Name {
				t.Errorf("%s does not select %s", name, service.Name)
			}
			continue
		default:
			continue
		}
		for pod, its := range pods {
			if matches(t, selector, its) != slices.Contains(selected, pod) {
				t.Errorf("%s selects %s: %t", name, pod, matches(t, selector, its))
			}
		}
	}
}

// TestChartAppliesValues compares what the values of the set "everything" become.
func TestChartAppliesValues(t *testing.T) {
	r, err := render(t, loadChart(t), valueSets["everything"], "1.34.0")
	if err != nil {
		t.Fatal(err)
	}
	all := decode(t, r)
	scheduler := get[appsv1.Deployment](t, all, "Deployment timers-scheduler").Spec.Template
	migrate := get[batchv1.Job](t, all, "Job timers-migrate").Spec.Template
	hpa := get[autoscalingv2.HorizontalPodAutoscaler](t, all, "HorizontalPodAutoscaler timers-dispatcher").Spec
	for what, is := range map[string][2]any{
		"ingest's image":           {get[appsv1.Deployment](t, all, "Deployment timers-ingest").Spec.Template.Spec.Containers[0].Image, "registry.example/timerbus:v1.2.2"},
		"scheduler's image":        {scheduler.Spec.Containers[0].Image, "registry.example/timerbus:v1.2.1"},
		"migration's image":        {migrate.Spec.Containers[0].Image, "registry.example/timerbus:v1.2.3"},
		"ingest's replicas":        {*get[appsv1.Deployment](t, all, "Deployment timers-ingest").Spec.Replicas, int32(3)},
		"scheduler's memory":       {scheduler.Spec.Containers[0].Resources.Limits.Memory().String(), "1Gi"},
		"migration's memory":       {migrate.Spec.Containers[0].Resources.Limits.Memory().String(), "64Mi"},
		"scheduler's constraints":  {scheduler.Spec.TopologySpreadConstraints[0].TopologyKey, "rack"},
		"scheduler's nodes":        {scheduler.Spec.NodeSelector["kubernetes.io/arch"], "arm64"},
		"scheduler's toleration":   {scheduler.Spec.Tolerations[0].Key, "timers"},
		"scheduler's affinity":     {len(scheduler.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution), 1},
		"scheduler's priority":     {scheduler.Spec.PriorityClassName, "important"},
		"scheduler's annotation":   {scheduler.Annotations["example.com/team"], "timers"},
		"scheduler's label":        {scheduler.Labels["team"], "timers"},
		"scheduler's account":      {scheduler.Spec.ServiceAccountName, "shared"},
		"migration's account":      {migrate.Spec.ServiceAccountName, "shared"},
		"scheduler's pull secret":  {scheduler.Spec.ImagePullSecrets[0].Name, "registry"},
		"scheduler's mount":        {scheduler.Spec.Containers[0].VolumeMounts[0].MountPath, "/tls"},
		"migration's mount":        {migrate.Spec.Containers[0].VolumeMounts[0].MountPath, "/tls"},
		"scheduler's grace period": {*scheduler.Spec.TerminationGracePeriodSeconds, int64(50)},
		"budget":                   {get[policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget timers-ingest").Spec.MaxUnavailable.String(), "50%"},
		"ingest's port":            {get[corev1.Service](t, all, "Service timers-ingest").Spec.Ports[0].Port, int32(80)},
		"HPA's metric":             {hpa.Metrics[0].External.Metric.Name, "timerbus_timers_overdue"},
		"HPA's target":             {hpa.Metrics[0].External.Target.AverageValue.Value(), int64(5000000)},
		"HPA's bounds":             {[2]int32{*hpa.MinReplicas, hpa.MaxReplicas}, [2]int32{2, 20}},
		"monitor's labels":         {get[monitoringv1.ServiceMonitor](t, all, "ServiceMonitor timers").Spec.Endpoints[0].HonorLabels, true},
		"monitor's token":          {get[monitoringv1.ServiceMonitor](t, all, "ServiceMonitor timers").Spec.Endpoints[0].Authorization.Credentials.Key, "TOKEN"},
	} {
		if is[0] != is[1] {
			t.Errorf("%s: %v, want %v", what, is[0], is[1])
		}
	}
	variables := func(p corev1.PodTemplateSpec) string {
		var b strings.Builder
		for _, e := range p.Spec.Containers[0].Env {
			value := e.Value
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				value = e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
			}
			fmt.Fprintf(&b, "%s=%s\n", e.Name, value)
		}
		return b.String()
	}
	if got, want := variables(scheduler), `TIMERBUS_STORE=secrets/STORE_URL
TIMERBUS_BUS=secrets/BUS_URL
TIMERBUS_TOKEN=secrets/TOKEN
TIMERBUS_SECRET_KEY=secrets/SECRET_KEY
TIMERBUS_LISTEN=0.0.0.0:8080
TIMERBUS_DRAIN_TIMEOUT=45s
TIMERBUS_ALLOWED_HOSTS=timers.internal
TIMERBUS_CALLBACK_ALLOW=private,*.svc.cluster.local
TIMERBUS_CALLBACK_PROXY=socks5://proxy:1080
TIMERBUS_DEBUG_LISTEN=127.0.0.1:6060
TIMERBUS_LOG_FORMAT=json
TIMERBUS_LOG_LEVEL=debug
TIMERBUS_OIDC_AUDIENCE=timerbus
TIMERBUS_OIDC_GRANTS=ops=read,write,admin@* billing=read,write@billing-*
TIMERBUS_OIDC_ISSUER=https://login.example.com/realms/ops
TIMERBUS_PARTITIONS=1024
TIMERBUS_START_WAIT=2m30s
TIMERBUS_UI=true
TIMERBUS_UI_HIDE_PAYLOADS=true
TIMERBUS_UI_OIDC_CLIENT_ID=timerbus-ui
TIMERBUS_UI_OIDC_SCOPES=openid profile
TIMERBUS_UI_PATH=/timers/ui/
TIMERBUS_UI_READ_ONLY=true
SSL_CERT_FILE=/tls/ca.crt
TIMERBUS_NODE=
`; got != want {
		t.Errorf("scheduler's variables are\n%swant\n%s", got, want)
	}
	if got := variables(get[appsv1.Deployment](t, all, "Deployment timers-ingest").Spec.Template); !strings.Contains(got, "\nTIMERBUS_OUTBOX=secrets/OUTBOX_URL\n") {
		t.Errorf("ingest's variables do not have the outbox:\n%s", got)
	}
	if got, want := variables(migrate), "TIMERBUS_STORE=secrets/STORE_URL\nSSL_CERT_FILE=/tls/ca.crt\nTIMERBUS_NODE=\n"; got != want {
		t.Errorf("the migration's variables are\n%swant\n%s", got, want)
	}
}

// TestChartTLS: with a Secret for TLS, the roles serve it, and the probes and Prometheus use it.
func TestChartTLS(t *testing.T) {
	r, err := render(t, loadChart(t), valueSets["client certificates"], "1.34.0")
	if err != nil {
		t.Fatal(err)
	}
	all := decode(t, r)
	for _, role := range []string{"ingest", "scheduler", "dispatcher"} {
		pod := get[appsv1.Deployment](t, all, "Deployment demo-timerbus-"+role).Spec.Template.Spec
		c := pod.Containers[0]
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if probe.HTTPGet.Scheme != corev1.URISchemeHTTPS {
				t.Errorf("%s: probe of %s by %s", role, probe.HTTPGet.Path, probe.HTTPGet.Scheme)
			}
		}
		files := map[string]string{}
		for _, e := range c.Env {
			if strings.HasPrefix(e.Name, "TIMERBUS_TLS_") {
				files[e.Name] = e.Value
			}
		}
		want := map[string]string{
			"TIMERBUS_TLS_CERT": "/etc/timerbus/tls/tls.crt", "TIMERBUS_TLS_KEY": "/etc/timerbus/tls/tls.key",
			"TIMERBUS_TLS_CLIENT_CA": "/etc/timerbus/tls/ca.crt",
		}
		if !maps.Equal(files, want) {
			t.Errorf("%s: %v, want %v", role, files, want)
		}
		if pod.Volumes[0].Secret.SecretName != "serving" || c.VolumeMounts[0].MountPath != "/etc/timerbus/tls" || !c.VolumeMounts[0].ReadOnly {
			t.Errorf("%s: volumes %v, mounted at %v", role, pod.Volumes, c.VolumeMounts)
		}
	}
	if port := get[corev1.Service](t, all, "Service demo-timerbus-ingest").Spec.Ports[0]; *port.AppProtocol != "https" {
		t.Errorf("the Service says %s", *port.AppProtocol)
	}
	e := get[monitoringv1.ServiceMonitor](t, all, "ServiceMonitor demo-timerbus").Spec.Endpoints[0]
	if e.Scheme != "https" || e.TLSConfig.Cert.Secret.Name != "scraper" || e.TLSConfig.KeySecret.Key != "tls.key" {
		t.Errorf("scraped by %v with the client certificate %+v", e.Scheme, e.TLSConfig)
	}
	if r, err = render(t, loadChart(t), valueSets["tls"], "1.34.0"); err != nil {
		t.Fatal(err)
	}
	e = get[monitoringv1.ServiceMonitor](t, decode(t, r), "ServiceMonitor demo-timerbus").Spec.Endpoints[0]
	if e.Scheme != "https" || e.TLSConfig.CA.Secret.Name != "serving" || *e.TLSConfig.ServerName != "demo-timerbus-ingest.timers.svc" {
		t.Errorf("scraped by %v with %+v", e.Scheme, e.TLSConfig)
	}
	if migrate := get[batchv1.Job](t, all, "Job demo-timerbus-migrate").Spec.Template.Spec; len(migrate.Volumes) > 0 {
		t.Errorf("the migration has volumes %v", migrate.Volumes)
	}
}

// TestChartHooks: the migration runs before the roles, with an account that exists by then.
func TestChartHooks(t *testing.T) {
	r, err := render(t, loadChart(t), valueSets["least"], "1.34.0")
	if err != nil {
		t.Fatal(err)
	}
	events := []release.HookEvent{release.HookPreInstall, release.HookPreUpgrade}
	policies := []release.HookDeletePolicy{release.HookBeforeHookCreation, release.HookSucceeded}
	weights := map[string]int{}
	for _, h := range r.Hooks {
		weights[h.Kind] = h.Weight
		if !slices.Equal(h.Events, events) || !slices.Equal(h.DeletePolicies, policies) {
			t.Errorf("%s %s: the events are %v, the policies %v", h.Kind, h.Name, h.Events, h.DeletePolicies)
		}
	}
	if want := map[string]int{"ServiceAccount": -1, "Job": 0}; !maps.Equal(weights, want) {
		t.Errorf("the hooks are %v, want %v", weights, want)
	}
	for _, part := range []string{"port-forward service/demo-timerbus-ingest 8080:8080", "get secret timerbus", "{.data.token}"} {
		if !strings.Contains(r.Info.Notes, part) {
			t.Errorf("the notes do not contain %q:\n%s", part, r.Info.Notes)
		}
	}
}

// TestChartRules: the chart installs the alert rules of deploy/prometheus.
func TestChartRules(t *testing.T) {
	r, err := render(t, loadChart(t), valueSets["everything"], "1.34.0")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../deploy/prometheus/timerbus.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var want monitoringv1.PrometheusRuleSpec
	if err := k8syaml.UnmarshalStrict(text, &want); err != nil {
		t.Fatal(err)
	}
	got := get[monitoringv1.PrometheusRule](t, decode(t, r), "PrometheusRule timers").Spec
	if len(want.Groups) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("the rules are %+v, want %+v", got, want)
	}
}

func TestChartLint(t *testing.T) {
	for set, values := range valueSets {
		for _, version := range versions {
			kube, err := chartutil.ParseKubeVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range lint.AllWithKubeVersion(chartFolder, parse(t, values), "timers", kube).Messages {
				if m.Severity > support.InfoSev {
					t.Errorf("%s on %s: %s", set, version, m.Error())
				}
			}
		}
	}
}

// TestChartRefuses: wrong values are errors that name the value.
func TestChartRefuses(t *testing.T) {
	c := loadChart(t)
	for values, want := range map[string]string{
		"{}": "existingSecret is missing",
		"{store: {url: dynamodb://t}, bus: {url: nats://nats}}":                                            "existingSecret is missing",
		"{existingSecret: s, tls: {existingSecret: t, clientCA: ca.crt}, serviceMonitor: {enabled: true}}": "serviceMonitor.tlsConfig is missing",
		"existingSecret: Timerbus":                                              "/existingSecret",
		"existingSecret: [timerbus]":                                            "/existingSecret",
		"{existingSecret: s, secretKeys: {token: ''}}":                          "/secretKeys/token",
		"{existingSecret: s, secretKeys: {tokens: t}}":                          "'tokens' not allowed",
		"{existingSecret: s, token: hunter2}":                                   "'token' not allowed",
		"{existingSecret: s, replicas: 3}":                                      "'replicas' not allowed",
		"{existingSecret: s, store: {url: 'postgres://u:p@db/t'}}":              "/store/url",
		"{existingSecret: s, store: {url: 'postgres://db/t?password=p'}}":       "/store/url",
		"{existingSecret: s, store: {url: 'sqlite:///data'}}":                   "/store/url",
		"{existingSecret: s, store: {url: db:5432}}":                            "/store/url",
		"{existingSecret: s, bus: {url: 'nats://token@nats:4222'}}":             "/bus/url",
		"{existingSecret: s, bus: {url: 'amqp://rabbit'}}":                      "/bus/url",
		"{existingSecret: s, insecure: 'yes'}":                                  "/insecure",
		"{existingSecret: s, settings: {partitions: 0}}":                        "/settings/partitions",
		"{existingSecret: s, settings: {partitions: 1025}}":                     "/settings/partitions",
		"{existingSecret: s, settings: {partitions: '16'}}":                     "/settings/partitions",
		"{existingSecret: s, settings: {partition: 16}}":                        "'partition' not allowed",
		"{existingSecret: s, settings: {store: x}}":                             "'store' not allowed",
		"{existingSecret: s, settings: {log-level: loud}}":                      "/settings/log-level",
		"{existingSecret: s, settings: {log-format: xml}}":                      "/settings/log-format",
		"{existingSecret: s, settings: {start-wait: 60}}":                       "/settings/start-wait",
		"{existingSecret: s, settings: {start-wait: 1 minute}}":                 "/settings/start-wait",
		"{existingSecret: s, settings: {debug-listen: '0.0.0.0:6060'}}":         "/settings/debug-listen",
		"{existingSecret: s, settings: {callback-proxy: 'http://u:p@proxy'}}":   "/settings/callback-proxy",
		"{existingSecret: s, drainTimeoutSeconds: 601}":                         "/drainTimeoutSeconds",
		"{existingSecret: s, drainTimeoutSeconds: 10s}":                         "/drainTimeoutSeconds",
		"{existingSecret: s, image: {tag: 'a b'}}":                              "/image/tag",
		"{existingSecret: s, image: {pullPolicy: Sometimes}}":                   "/image/pullPolicy",
		"{existingSecret: s, imagePullSecrets: [registry]}":                     "/imagePullSecrets/0",
		"{existingSecret: s, fullnameOverride: 7up}":                            "/fullnameOverride",
		"{existingSecret: s, ingest: {replicas: -1}}":                           "/ingest/replicas",
		"{existingSecret: s, ingest: {replicas: many}}":                         "/ingest/replicas",
		"{existingSecret: s, ingest: {service: {type: ExternalName}}}":          "/ingest/service/type",
		"{existingSecret: s, ingest: {service: {port: 70000}}}":                 "/ingest/service/port",
		"{existingSecret: s, scheduler: {preStopSeconds: 5}}":                   "'preStopSeconds' not allowed",
		"{existingSecret: s, scheduler: {autoscaling: {enabled: true}}}":        "'autoscaling' not allowed",
		"{existingSecret: s, dispatcher: {autoscaling: {averageValue: 0}}}":     "/dispatcher/autoscaling/averageValue",
		"{existingSecret: s, migrate: {activeDeadlineSeconds: 0}}":              "/migrate/activeDeadlineSeconds",
		"{existingSecret: s, podDisruptionBudget: {maxUnavailable: some}}":      "/podDisruptionBudget/maxUnavailable",
		"{existingSecret: s, podDisruptionBudget: {minAvailable: 1}}":           "'minAvailable' not allowed",
		"{existingSecret: s, pod: {securityContext: {}}}":                       "'securityContext' not allowed",
		"{existingSecret: s, pod: {resources: {limit: {}}}}":                    "'limit' not allowed",
		"{existingSecret: s, pod: {env: [{name: TIMERBUS_TOKEN, value: x}]}}":   "/pod/env/0/name",
		"{existingSecret: s, pod: {env: [{name: A}]}}":                          "/pod/env/0",
		"{existingSecret: s, pod: {topologySpreadConstraints: [{maxSkew: 1}]}}": "/pod/topologySpreadConstraints/0",
		"{existingSecret: s, ingest: {pod: {nodeSelector: {a: true}}}}":         "/ingest/pod/nodeSelector",
		"{existingSecret: s, serviceMonitor: {interval: 15}}":                   "/serviceMonitor/interval",
		"{existingSecret: s, tls: {existingSecret: TLS}}":                       "/tls/existingSecret",
		"{existingSecret: s, tls: {existingSecret: tls, clientCA: a/b}}":        "/tls/clientCA",
		"{existingSecret: s, tls: {cert: tls.crt}}":                             "'cert' not allowed",
		"{existingSecret: s, prometheusRule: {rules: []}}":                      "'rules' not allowed",
	} {
		if _, err := render(t, c, values, "1.34.0"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", values, err, want)
		}
	}
	if _, err := render(t, c, valueSets["least"], "1.27.9"); err == nil || !strings.Contains(err.Error(), "1.28") {
		t.Errorf("on Kubernetes 1.27: %v", err)
	}
}

// TestChartIsDocumented: the table of the chart's README has every value, and docs/operations.md every setting that the schema
// knows; and the schema knows every setting of the roles that the chart does not set itself.
func TestChartIsDocumented(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(chartFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllSubmatch(readme, -1) {
		table[string(row[1])] = true
	}
	known := map[string]bool{}
	var walk func(name string, value any)
	walk = func(name string, value any) {
		known[name] = true
		children, _ := value.(map[string]any)
		if len(children) == 0 && !table[name] {
			t.Errorf("README.md does not describe the value %s", name)
		}
		if table[name] {
			return // with all that it contains
		}
		for child, value := range children {
			walk(strings.TrimPrefix(name+"."+child, "."), value)
		}
	}
	walk("", loadChart(t).Values)
	for name := range table {
		if !known[name] {
			t.Errorf("README.md describes %s, which values.yaml does not have", name)
		}
	}

	operations, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := []string{
		"store", "bus", "token", "secret-key", "outbox", "insecure", "listen", "drain-timeout", // the chart sets them by other values
		"data", "due-queue", "nats-listen", "nats-sync", "test-clock", // not settings of the roles
		"tls-cert", "tls-key", "tls-client-ca", // tls.existingSecret sets them
		"node", // its default, the host's name, is the pod's name
	}
	settings := slices.Clone(elsewhere)
	var schema struct {
		Properties struct {
			Settings struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(loadChart(t).Schema, &schema); err != nil {
		t.Fatal(err)
	}
	settings = slices.AppendSeq(settings, maps.Keys(schema.Properties.Settings.Properties))
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| `TIMERBUS_").FindAllSubmatch(operations, -1) {
		documented = append(documented, string(row[1]))
	}
	slices.Sort(settings)
	slices.Sort(documented)
	if !slices.Equal(settings, documented) {
		t.Errorf("settings of values.schema.json and of this test: %q\nsettings of docs/operations.md: %q", settings, documented)
	}
}

// trial returns the objects of the servers to try the chart with.
func trial(t *testing.T) objects {
	t.Helper()
	text, err := os.ReadFile("../../deploy/helm/trial.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return decodeAll(t, string(text))
}

// TestChartTrial: its NATS server has the settings of the compose files, and its Services select pods with their ports.
func TestChartTrial(t *testing.T) {
	all := trial(t)
	want, err := os.ReadFile("../../deploy/compose/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	if got := get[corev1.ConfigMap](t, all, "ConfigMap nats").Data["nats.conf"]; got != string(want) {
		t.Errorf("nats.conf is\n%swant\n%s", got, want)
	}
	for _, name := range []string{"postgres", "nats"} {
		template := get[appsv1.Deployment](t, all, "Deployment "+name).Spec.Template
		service := get[corev1.Service](t, all, "Service "+name).Spec
		port := template.Spec.Containers[0].Ports[0]
		if !labels.SelectorFromSet(service.Selector).Matches(labels.Set(template.Labels)) || service.Ports[0].TargetPort.StrVal != port.Name ||
			service.Ports[0].Port != port.ContainerPort {
			t.Errorf("%s: the Service is %+v, the pod's port %+v", name, service, port)
		}
	}
}

// schemaFolder loads each document of the schemas from a folder, by the last part of its URL.
type schemaFolder string

func (f schemaFolder) Load(url string) (any, error) {
	text, err := os.ReadFile(filepath.Join(string(f), path.Base(url)))
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// schemasOf returns a compiler of the schemas of a version, in which objects have no other fields.
func schemasOf(version string) *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(schemaFolder(filepath.Join(os.Getenv(schemasVariable), "v"+version+"-local-strict")))
	return compiler
}

const schemasVariable = "TIMERBUS_KUBERNETES_SCHEMAS"

// TestChartSchemas validates what is rendered with the schemas of each version of Kubernetes. The schemas of the custom kinds are
// not among them; get checks their fields.
func TestChartSchemas(t *testing.T) {
	if os.Getenv(schemasVariable) == "" {
		t.Skip("`make check-chart` downloads the schemas, and sets " + schemasVariable)
	}
	c := loadChart(t)
	for _, version := range versions {
		compiler := schemasOf(version)
		checked := 0
		sets := map[string]objects{"trial.yaml": trial(t)}
		for set, values := range valueSets {
			r, err := render(t, c, values, version)
			if err != nil {
				t.Fatal(err)
			}
			sets[set] = decode(t, r)
		}
		for set, all := range sets {
			for name, object := range all {
				var head metav1.TypeMeta
				if err := json.Unmarshal(object, &head); err != nil {
					t.Fatal(err)
				}
				group, api, _ := strings.Cut(head.APIVersion, "/")
				if group == "monitoring.coreos.com" {
					continue
				}
				file := strings.ToLower(head.Kind) + "-" + group
				if api != "" {
					group, _, _ = strings.Cut(group, ".")
					file = strings.ToLower(head.Kind) + "-" + group + "-" + api
				}
				schema, err := compiler.Compile("file:///" + file + ".json")
				if err != nil {
					t.Fatal(err)
				}
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(object))
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(value); err != nil {
					t.Errorf("%s: %s on Kubernetes %s: %v", set, name, version, err)
				}
				checked++
			}
		}
		t.Logf("Kubernetes %s: %d objects validated", version, checked)
	}
	// A misspelt field is found.
	schema, err := schemasOf("1.34.0").Compile("file:///service-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(map[string]any{"apiVersion": "v1", "kind": "Service", "spec": map[string]any{"selektor": map[string]any{}}}) == nil {
		t.Error("a Service with the field selektor is valid")
	}
}
