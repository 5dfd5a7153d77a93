//go:build !unix

package embedded

import "os"

// lockFile does nothing where there is no flock: the server's own port is the guard there.
func lockFile(*os.File) error { return nil }
