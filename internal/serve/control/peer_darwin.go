package control

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peer returns the user who opened the connection.
func peer(conn *net.UnixConn) (user string) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return ""
	}
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); err == nil {
			user = fmt.Sprintf("uid %d", cred.Uid)
		}
	})
	return user
}
