// Package deploy checks the files of deploy/ in seconds, without an engine: its tests load the compose files with the library of
// `docker compose`, and lint and render the Helm chart with the library of helm. `make e2e-compose` starts the compose files, and
// `make e2e-helm` installs the chart on an API server of Kubernetes, with a test of this package. It imports no package of the
// product.
package deploy
