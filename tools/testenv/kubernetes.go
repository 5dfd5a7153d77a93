//go:build unix

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/mod/modfile"
)

// The versions of the API server and of its database.
const (
	kubernetesVersion = "v1.34.4"
	etcdVersion       = "v3.6.6"
)

// kubernetes is an API server with etcd. Its address is the path of a kubeconfig for an administrator. Neither controllers nor
// kubelets run: objects are validated, admitted and stored, and no pod is started.
func kubernetes() recipe {
	return recipe{name: "kubernetes", start: func(ctx context.Context, s *site) (string, error) { return s.startKubernetes(ctx) }}
}

func (s *site) startKubernetes(ctx context.Context) (string, error) {
	etcd, err := s.buildModule(ctx, "etcd", "go.etcd.io/etcd/server/v3", etcdVersion, "go.etcd.io/etcd/server/v3", "")
	if err != nil {
		return "", err
	}
	// A build without these flags calls itself version 0.0.0, for which charts are not made.
	const version = "k8s.io/component-base/version."
	minor := strings.Split(kubernetesVersion, ".")[1]
	server, err := s.buildModule(ctx, "kube-apiserver", "k8s.io/kubernetes", kubernetesVersion, "k8s.io/kubernetes/cmd/kube-apiserver",
		"-X "+version+"gitVersion="+kubernetesVersion+" -X "+version+"gitMajor=1 -X "+version+"gitMinor="+minor)
	if err != nil {
		return "", err
	}
	ports, err := freePorts(ctx, 3)
	if err != nil {
		return "", err
	}
	at := func(i int) string { return "http://127.0.0.1:" + strconv.Itoa(ports[i]) }
	err = s.run(ctx, program{
		name: "kubernetes-etcd", path: etcd, quit: syscall.SIGKILL, // the data is removed in any case
		args: []string{
			"--data-dir", filepath.Join(s.folder, "etcd"), "--unsafe-no-fsync",
			"--listen-client-urls", at(0), "--advertise-client-urls", at(0),
			"--listen-peer-urls", at(1), "--initial-advertise-peer-urls", at(1), "--initial-cluster", "default=" + at(1),
		},
		ready: func(ctx context.Context, _ int) error { return answersOK(ctx, http.DefaultClient, at(0)+"/health", "") },
	})
	if err != nil {
		return "", err
	}
	return s.runAPIServer(ctx, server, at(0), ports[2])
}

// runAPIServer returns the path of the kubeconfig.
func (s *site) runAPIServer(ctx context.Context, binary, etcd string, port int) (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("key for tokens: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("key for tokens: %w", err)
	}
	file := func(name string) string { return filepath.Join(s.folder, name) }
	token, address, certificate := rand.Text(), "https://127.0.0.1:"+strconv.Itoa(port), file("certificates/apiserver.crt")
	for name, content := range map[string]string{
		"tokens.csv": token + ",admin,admin,system:masters\n",
		"tokens.key": string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
		"kubeconfig": fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: testenv, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: admin, user: {token: %q}}]
contexts: [{name: testenv, context: {cluster: testenv, user: admin}}]
current-context: testenv
`, address, certificate, token),
	} {
		//nolint:gosec // the user who runs servers reads it
		if err := os.WriteFile(file(name), []byte(content), 0o644); err != nil {
			return "", fmt.Errorf("settings of the API server: %w", err)
		}
	}
	err = s.run(ctx, program{
		name: "kubernetes-apiserver", path: binary, quit: syscall.SIGKILL,
		args: []string{
			"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
			"--service-cluster-ip-range=10.96.0.0/16", "--endpoint-reconciler-type=none", "--cert-dir=" + filepath.Dir(certificate),
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + file("tokens.key"),
			"--service-account-signing-key-file=" + file("tokens.key"),
			"--token-auth-file=" + file("tokens.csv"), "--authorization-mode=Node,RBAC",
		},
		ready: func(ctx context.Context, _ int) error {
			trusted := x509.NewCertPool()
			text, err := os.ReadFile(certificate)
			if err != nil {
				return err
			}
			trusted.AppendCertsFromPEM(text)
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}
			defer transport.CloseIdleConnections()
			return answersOK(ctx, &http.Client{Transport: transport}, address+"/readyz", token)
		},
	})
	return file("kubeconfig"), err
}

// buildModule builds a program of a Go module, once for each version, and returns a copy of it for this run.
func (s *site) buildModule(ctx context.Context, name, module, version, main, linkerFlags string) (string, error) {
	cached := filepath.Join(s.cache, name+"-"+version)
	unlock, err := lockCached(cached)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(cached); err == nil {
		return s.copyBinary(cached)
	}
	fmt.Fprintf(s.log, "testenv: %s: building %s %s (once; takes minutes)\n", s.name, name, version)
	folder, err := os.MkdirTemp("", "timerbus-build-")
	if err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a remaining folder only wastes disk space
	goCommand := func(args ...string) ([]byte, error) {
		command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the arguments are constants and our own folders
		command.Dir, command.Env = folder, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
		out, err := command.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return out, err
	}
	out, err := goCommand("mod", "download", "-json", module+"@"+version)
	if err != nil {
		return "", fmt.Errorf("download %s: %w", module, err)
	}
	var downloaded struct {
		GoMod string `json:"GoMod"` //nolint:tagliatelle // the go command's name
	}
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", fmt.Errorf("download %s: %w", module, err)
	}
	text, err := os.ReadFile(downloaded.GoMod)
	if err != nil {
		return "", fmt.Errorf("download %s: %w", module, err)
	}
	wrapper, err := wrapperModule(module, version, text)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), wrapper, 0o600); err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	half := cached + ".partial"
	if _, err := goCommand("build", "-trimpath", "-ldflags", "-s -w "+linkerFlags, "-o", half, main); err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	if err := os.Rename(half, cached); err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return s.copyBinary(cached)
}

// wrapperModule returns a go.mod with which programs of another module can be built. Go ignores the replace directives of a
// dependency. Kubernetes requires its parts in version v0.0.0 and replaces them by its own folders; here version v1.34.4 requires their
// published version v0.34.4.
func wrapperModule(module, version string, goMod []byte) ([]byte, error) {
	theirs, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return nil, err
	}
	ours := new(modfile.File)
	errs := []error{ours.AddModuleStmt("build"), ours.AddGoStmt(theirs.Go.Version), ours.AddRequire(module, version)}
	for _, r := range theirs.Require {
		if r.Mod.Version == "v0.0.0" {
			errs = append(errs, ours.AddReplace(r.Mod.Path, "", r.Mod.Path, strings.Replace(version, "v1.", "v0.", 1)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return ours.Format()
}
