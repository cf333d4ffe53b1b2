//go:build !linux && !darwin

package control

import "net"

// peer returns "": this system does not report who opened the connection.
func peer(*net.UnixConn) string { return "" }
