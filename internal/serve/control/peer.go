package control

import (
	"context"
	"net"
)

// peerKey is the context key for the user at the other end of the connection.
type peerKey struct{}

// withPeer stores the user at the other end of the socket, if the system can prove it.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, peer(unix))
}

// peerOf returns the user at the other end of the socket, or "" if the system cannot prove it. All
// such users count as one person.
func peerOf(ctx context.Context) string {
	user, _ := ctx.Value(peerKey{}).(string)
	return user
}
