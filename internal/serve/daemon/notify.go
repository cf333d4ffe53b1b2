package daemon

import (
	"fmt"
	"net"
	"os"
)

// notifyReady tells systemd that clients can connect. It does nothing unless NOTIFY_SOCKET is set;
// systemd sets it if the service unit contains Type=notify.
func notifyReady() error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notifying systemd at NOTIFY_SOCKET: %w", err)
	}
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte("READY=1"))
	return err
}
