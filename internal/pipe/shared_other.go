//go:build !unix

package pipe

import "os"

// A Shared is a file that is shared with other processes. On this system, they cannot change its
// blocking mode.
type Shared struct{ *os.File }
