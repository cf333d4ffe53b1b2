//go:build !unix

package pipe

import "os"

// A Shared is a file that others have too. Here they cannot change how it is read and written.
type Shared struct{ *os.File }
