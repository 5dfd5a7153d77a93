package deploy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

const (
	kubeconfigVariable = "TIMERBUS_TEST_KUBERNETES"
	releaseName        = "timerbus"
	releaseNamespace   = "timers"
)

// cluster is an API server, and the release on it. No controllers and no kubelets run there, so the test takes the part of the Job
// controller: it admits a pod of each Job and sets the Job's status.
type cluster struct {
	t       *testing.T
	chart   *chart.Chart
	helm    *action.Configuration
	client  *kubernetes.Clientset
	objects dynamic.Interface
}

func connectCluster(t *testing.T) *cluster {
	t.Helper()
	kubeconfig := os.Getenv(kubeconfigVariable)
	if kubeconfig == "" {
		t.Skip("`make e2e-helm` starts an API server, and sets " + kubeconfigVariable)
	}
	settings := cli.New()
	settings.KubeConfig = kubeconfig
	settings.SetNamespace(releaseNamespace)
	c := &cluster{t: t, chart: loadChart(t), helm: new(action.Configuration)}
	if err := c.helm.Init(settings.RESTClientGetter(), releaseNamespace, "secret", func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	config, err := settings.RESTClientGetter().ToRESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if c.objects, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	return c
}

// prepare creates a namespace that enforces PodSecurity "restricted", the Secret, and the custom kinds.
func (c *cluster) prepare() {
	c.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: releaseNamespace, Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest",
	}}}
	if _, err := c.client.CoreV1().Namespaces().Create(c.t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	// On a real cluster a controller creates it.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := c.client.CoreV1().ServiceAccounts(releaseNamespace).Create(c.t.Context(), account, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secrets"}, StringData: map[string]string{"STORE_URL": "postgres://db/timerbus"}}
	if _, err := c.client.CoreV1().Secrets(releaseNamespace).Create(c.t.Context(), secret, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	for kind, plural := range map[string]string{"ServiceMonitor": "servicemonitors", "PrometheusRule": "prometheusrules"} {
		definition := &unstructured.Unstructured{Object: parse(c.t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  names: {kind: %[1]s, plural: %[2]s}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, kind, plural))}
		if _, err := c.objects.Resource(definitions).Create(c.t.Context(), definition, metav1.CreateOptions{}); err != nil {
			c.t.Fatal(err)
		}
	}
	c.await("the custom kinds are served", func() error {
		for _, plural := range []string{"servicemonitors", "prometheusrules"} {
			if _, err := c.objects.Resource(schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: plural}).
				List(c.t.Context(), metav1.ListOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *cluster) await(what string, check func() error) {
	c.t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	c.t.Fatalf("not within 30 s: %s: %v", what, err)
}

// migrations ends the Jobs that f creates, with success or with failure, and returns how many there were.
func (c *cluster) migrations(succeed bool, f func()) int {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	jobs, err := c.client.BatchV1().Jobs(releaseNamespace).Watch(ctx, metav1.ListOptions{ResourceVersion: c.now()})
	if err != nil {
		c.t.Fatal(err)
	}
	seen, ended := 0, make(chan error, 1)
	go func() {
		var errs []error
		for event := range jobs.ResultChan() {
			if job, ok := event.Object.(*batchv1.Job); ok && event.Type == "ADDED" {
				seen++
				errs = append(errs, c.admit(ctx, job.Spec.Template), c.end(ctx, job, succeed))
			}
		}
		ended <- errors.Join(errs...)
	}()
	f()
	jobs.Stop()
	if err := <-ended; err != nil {
		c.t.Error(err)
	}
	cancel()
	return seen
}

// now returns the version of the present state, so that a watch begins there.
func (c *cluster) now() string {
	c.t.Helper()
	all, err := c.client.BatchV1().Jobs(releaseNamespace).List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return all.ResourceVersion
}

// end sets the status of a Job as the Job controller does when its pod has ended.
func (c *cluster) end(ctx context.Context, job *batchv1.Job, succeed bool) error {
	now := metav1.Now()
	conditions := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	job.Status.StartTime, job.Status.Failed = &now, 1
	if succeed {
		conditions = []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
		job.Status.CompletionTime, job.Status.Failed, job.Status.Succeeded = &now, 0, 1
	}
	for _, kind := range conditions {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: "Test", LastProbeTime: now, LastTransitionTime: now,
		})
	}
	_, err := c.client.BatchV1().Jobs(job.Namespace).UpdateStatus(ctx, job, metav1.UpdateOptions{})
	return err
}

// admit asks the API server whether it would accept a pod of this template. Nothing is stored.
func (c *cluster) admit(ctx context.Context, template corev1.PodTemplateSpec) error {
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.GenerateName = "dry-run-"
	if _, err := c.client.CoreV1().Pods(releaseNamespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		return fmt.Errorf("pod of %s: %w", template.Labels["app.kubernetes.io/component"], err)
	}
	return nil
}

func (c *cluster) install(values string) (*release.Release, error) {
	install := action.NewInstall(c.helm)
	install.ReleaseName, install.Namespace, install.Timeout = releaseName, releaseNamespace, time.Minute
	return install.RunWithContext(c.t.Context(), c.chart, parse(c.t, values))
}

func (c *cluster) upgrade(values string) (*release.Release, error) {
	upgrade := action.NewUpgrade(c.helm)
	upgrade.Namespace, upgrade.Timeout = releaseNamespace, time.Minute
	return upgrade.RunWithContext(c.t.Context(), releaseName, c.chart, parse(c.t, values))
}

// stored compares the objects of the release with those that the API server has, and admits a pod of each Deployment.
func (c *cluster) stored(r *release.Release) {
	c.t.Helper()
	objects, err := c.helm.KubeClient.Build(strings.NewReader(r.Manifest), true)
	if err != nil {
		c.t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, o := range objects {
		name := o.Mapping.GroupVersionKind.Kind + " " + o.Name
		kinds[o.Mapping.GroupVersionKind.Kind]++
		want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.Object)
		if err != nil {
			c.t.Fatal(err)
		}
		if err := o.Get(); err != nil {
			c.t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.Object)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, difference := range differences(name, want, got) {
			c.t.Error(difference)
		}
		if o.Mapping.GroupVersionKind.Kind == "Deployment" {
			var deployment appsv1.Deployment
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got, &deployment); err != nil {
				c.t.Fatal(err)
			}
			if err := c.admit(c.t.Context(), deployment.Spec.Template); err != nil {
				c.t.Error(err)
			}
		}
	}
	if kinds["Deployment"] != len(roles) {
		c.t.Errorf("the release has %v", kinds)
	}
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(&text, ", %d %s", kinds[kind], kind)
	}
	c.t.Logf("revision %d is stored%s", r.Version, text.String())
}

// differences returns where the API server has not stored what was sent. It adds defaults, and leaves out empty
// lists, maps and texts.
func differences(path string, want, got any) []string {
	var found []string
	switch want := want.(type) {
	case map[string]any:
		has, _ := got.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			found = append(found, differences(path+"."+key, want[key], has[key])...)
		}
		return found
	case []any:
		has, _ := got.([]any)
		if len(want) != len(has) {
			return []string{fmt.Sprintf("%s: sent %v, stored %v", path, want, got)}
		}
		for i := range want {
			found = append(found, differences(fmt.Sprintf("%s.%d", path, i), want[i], has[i])...)
		}
		return found
	case nil:
		return nil
	case string:
		has, _ := got.(string)
		if want == has || sameQuantity(want, has) {
			return nil
		}
	}
	if want != got {
		return []string{fmt.Sprintf("%s: sent %v, stored %v", path, want, got)}
	}
	return nil
}

// sameQuantity reports whether a and b are the same number, such as 5000000 and 5M.
func sameQuantity(a, b string) bool {
	x, err := resource.ParseQuantity(a)
	if err != nil {
		return false
	}
	y, err := resource.ParseQuantity(b)
	return err == nil && x.Cmp(y) == 0
}

// list returns the objects of the release, as "Kind name", of the kinds that the chart can create.
func (c *cluster) list() []string {
	c.t.Helper()
	var found []string
	for _, r := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "services"},
		{Version: "v1", Resource: "serviceaccounts"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "batch", Version: "v1", Resource: "jobs"},
		{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
		{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"},
	} {
		all, err := c.objects.Resource(r).Namespace(releaseNamespace).List(c.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + releaseName})
		if err != nil {
			c.t.Fatal(err)
		}
		for i := range all.Items {
			found = append(found, all.Items[i].GetKind()+" "+all.Items[i].GetName())
		}
	}
	slices.Sort(found)
	return found
}

func (c *cluster) deployment(role string) *appsv1.Deployment {
	c.t.Helper()
	d, err := c.client.AppsV1().Deployments(releaseNamespace).Get(c.t.Context(), releaseName+"-"+role, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

func (c *cluster) image(role string) string {
	return c.deployment(role).Spec.Template.Spec.Containers[0].Image
}

// TestChartOnKubernetes installs, upgrades, rolls back and uninstalls the chart. The API server enforces PodSecurity "restricted".
func TestChartOnKubernetes(t *testing.T) {
	c := connectCluster(t)
	c.prepare()
	server, err := c.client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Kubernetes %s", server.GitVersion)
	// A pod without the chart's settings is refused, so the admissions of the other pods mean something.
	unsafe := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
	if err := c.admit(t.Context(), unsafe); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `violates PodSecurity "restricted`) {
		t.Fatalf("a pod without a security context: %v", err)
	}

	least := "{existingSecret: secrets, image: {tag: v1}}"
	installed := []string{
		"Deployment timerbus-dispatcher", "Deployment timerbus-ingest", "Deployment timerbus-scheduler",
		"PodDisruptionBudget timerbus-dispatcher", "PodDisruptionBudget timerbus-ingest", "PodDisruptionBudget timerbus-scheduler",
		"Service timerbus-ingest", "ServiceAccount timerbus",
	}
	// run performs a step of helm, and compares the number of migrations and the objects after it.
	run := func(step string, succeed bool, migrations int, objects []string, f func() error) {
		t.Helper()
		begun := time.Now()
		if seen := c.migrations(succeed, func() {
			if err := f(); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
		}); seen != migrations {
			t.Errorf("%s: %d migrations, want %d", step, seen, migrations)
		}
		if got := c.list(); !slices.Equal(got, objects) {
			t.Errorf("%s: the objects are\n%q, want\n%q", step, got, objects)
		}
		t.Logf("%s: %d migrations, %d objects, %d ms", step, migrations, len(objects), time.Since(begun).Milliseconds())
	}

	run("install", true, 1, installed, func() error {
		r, err := c.install(least)
		if err == nil {
			c.stored(r)
		}
		return err
	})

	more := append(slices.Clone(installed), "HorizontalPodAutoscaler timerbus-dispatcher", "PrometheusRule timerbus",
		"Service timerbus-metrics", "ServiceMonitor timerbus")
	slices.Sort(more)
	// Everything that the chart can do, with the names of this release.
	everything := strings.NewReplacer("fullnameOverride: timers\n", "", "serviceAccount: {create: false, name: shared}\n", "",
		"  priorityClassName: important\n", "").Replace(valueSets["everything"])
	run("upgrade", true, 1, more, func() error {
		// As before an upgrade that needs a stop of all processes; it starts them again.
		stopped := c.deployment("scheduler")
		stopped.Spec.Replicas = new(int32)
		if _, err := c.client.AppsV1().Deployments(releaseNamespace).Update(t.Context(), stopped, metav1.UpdateOptions{}); err != nil {
			return err
		}
		r, err := c.upgrade(everything)
		if err == nil {
			c.stored(r)
		}
		return err
	})
	for role, want := range map[string]string{"ingest": "v1.2.2", "scheduler": "v1.2.1", "dispatcher": "v1.2.3"} {
		if got := c.image(role); got != "registry.example/timerbus:"+want {
			t.Errorf("%s has the image %s, want %s", role, got, want)
		}
	}

	run("upgrade with a wrong value", true, 0, more, func() error {
		_, err := c.upgrade("{existingSecret: secrets, ingest: {replicas: many}}")
		if err == nil || !strings.Contains(err.Error(), "/ingest/replicas") {
			return fmt.Errorf("want an error of the schema, got %w", cmp.Or(err, errors.New("none")))
		}
		return nil
	})

	failed := append(slices.Clone(more), "Job timerbus-migrate")
	slices.Sort(failed)
	run("upgrade whose migration fails", false, 1, failed, func() error {
		_, err := c.upgrade("{existingSecret: secrets, image: {tag: v2}}")
		if err == nil || !strings.Contains(err.Error(), "pre-upgrade hooks failed") {
			return fmt.Errorf("want an error of the hook, got %w", cmp.Or(err, errors.New("none")))
		}
		return nil
	})
	if got := c.image("dispatcher"); got != "registry.example/timerbus:v1.2.3" {
		t.Errorf("after a failed migration the dispatcher has the image %s", got)
	}
	run("upgrade after it", true, 1, installed, func() error {
		r, err := c.upgrade("{existingSecret: secrets, image: {tag: v3}}")
		if err == nil {
			c.stored(r)
		}
		return err
	})

	run("rollback", true, 0, more, func() error {
		rollback := action.NewRollback(c.helm)
		rollback.Version, rollback.Timeout = 2, time.Minute
		if err := rollback.Run(releaseName); err != nil {
			return err
		}
		r, err := action.NewGet(c.helm).Run(releaseName)
		if err == nil {
			c.stored(r)
		}
		return err
	})
	if got := c.image("dispatcher"); got != "registry.example/timerbus:v1.2.3" {
		t.Errorf("after the rollback the dispatcher has the image %s", got)
	}

	run("uninstall", true, 0, nil, func() error {
		_, err := action.NewUninstall(c.helm).Run(releaseName)
		return err
	})
	if _, err := c.client.CoreV1().Secrets(releaseNamespace).Get(t.Context(), "secrets", metav1.GetOptions{}); err != nil {
		t.Errorf("the Secret after the uninstallation: %v", err)
	}
}

// TestChartTrialOnKubernetes applies the servers to try the chart with.
func TestChartTrialOnKubernetes(t *testing.T) {
	c := connectCluster(t)
	text, err := os.ReadFile("../../deploy/helm/trial.yaml")
	if err != nil {
		t.Fatal(err)
	}
	namespace, rest, _ := bytes.Cut(text, []byte("\n---\n"))
	for _, part := range [][]byte{namespace, rest} {
		objects, err := c.helm.KubeClient.Build(io.Reader(bytes.NewReader(part)), true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.helm.KubeClient.Create(objects); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d objects of trial.yaml are stored", len(objects))
	}
}
