//go:build !unix

package embedded

import "os"

// lockFile does nothing on systems without flock. There, only the server's port prevents a second server.
func lockFile(*os.File) error { return nil }
