//go:build !unix

package pipe

import "os"

// A Shared is a file that other processes also have open. On this system, they cannot change its
// blocking mode.
type Shared struct{ *os.File }
