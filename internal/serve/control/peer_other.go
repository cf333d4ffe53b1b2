//go:build !linux && !darwin

package control

import "net"

// peer returns "", because this operating system does not report who opened a connection.
func peer(*net.UnixConn) string { return "" }
