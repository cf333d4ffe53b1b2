package control

import (
	"context"
	"net"
)

// peerKey is the key of the peer in the context of a request.
type peerKey struct{}

// withPeer keeps the user at the other end of the socket, as far as the system proves it.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, peer(unix))
}

// peerOf returns the user at the other end of the socket; empty: it is not proven, and all
// such users count as one person.
func peerOf(ctx context.Context) string {
	user, _ := ctx.Value(peerKey{}).(string)
	return user
}
