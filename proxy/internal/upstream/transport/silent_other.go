//go:build !unix

package transport

import "net"

// canPeek says that a connection can be looked at without waiting.
const canPeek = false

func silent(net.Conn) bool { return false }
