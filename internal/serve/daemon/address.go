package daemon

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/petrigate/petrigate/internal/text"
)

// IsLoopback reports whether a host name or IP address refers to this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func listenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listening at %s: another program has this port; petrigate status shows whether it is a proxy", addr)
	}
	return fmt.Errorf("listening at %s: %w", addr, text.Innermost(err))
}

// shownAddr returns the address that clients on this machine can use to connect to the listener.
func shownAddr(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return l.Addr().String()
}
