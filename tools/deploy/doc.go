// Package deploy checks the files of deploy/ in seconds, without an engine: its tests load the compose files with the library of
// `docker compose`. `make e2e-compose` starts them. It imports no package of the product.
package deploy
