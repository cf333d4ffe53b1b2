package upstream

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// newDialer makes connections to servers, but for those of [forbidden].
func newDialer() net.Dialer {
	return net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: permitted}
}

// permitted looks at the address that a connection is about to be made to,
// when its name has been resolved: a name can stand for another address than
// when it was configured.
func permitted(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %q is none", address)
	}
	if forbidden(a.Addr()) {
		return fmt.Errorf("%s is a link-local address or one of a cloud's metadata service, where no server is looked for", a.Addr())
	}
	return nil
}

// forbidden reports whether an address is one at which clouds tell a machine
// its credentials. Addresses of this machine and of private networks are where
// most servers are.
func forbidden(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if nat64 := netip.MustParsePrefix("64:ff9b::/96"); nat64.Contains(ip) {
		b := ip.As16()
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	switch ip.String() {
	case "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254":
		return true
	}
	return ip.IsLinkLocalUnicast()
}
