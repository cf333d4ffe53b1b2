//go:build !unix

package transport

import "net"

// canPeek is false, because this system cannot check the state of a connection without blocking.
const canPeek = false

func isIdleOpen(net.Conn) bool { return false }
