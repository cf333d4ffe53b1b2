//go:build !unix

package transport

import "net"

// canPeek is false, because this system cannot check a connection's state without blocking.
const canPeek = false

func isIdleOpen(net.Conn) bool { return false }
