//go:build !unix

package pipe

import "os"

// A Socket is a socket that blocks.
type Socket struct{ *os.File }

// AsSocket gives f as a [Socket], if it is one: never on this system.
func AsSocket(*os.File) (s Socket, ok bool) { return Socket{}, false }
