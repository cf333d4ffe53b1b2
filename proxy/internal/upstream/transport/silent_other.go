//go:build !unix

package transport

import "net"

// canPeek reports that the state of a connection can be checked without blocking.
const canPeek = false

func silent(net.Conn) bool { return false }
