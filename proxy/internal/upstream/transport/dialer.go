package transport

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/inet"
)

// NewDialer makes connections to servers, but for those at which clouds
// tell a machine its credentials.
func NewDialer() net.Dialer {
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
	// Addresses of this machine and of private networks are where most servers are.
	if inet.TellsCredentials(a.Addr()) {
		return fmt.Errorf("%s is a link-local address or one of a cloud's metadata service, where no server is looked for", a.Addr())
	}
	return nil
}
