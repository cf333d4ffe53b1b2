package control

import (
	"context"
	"net"
)

// peerKey is the context key for the user at the other end of a connection.
type peerKey struct{}

// withPeer returns a context that carries the user at the other end of conn, if the operating
// system can identify that user.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, peer(unix))
}

// peerOf returns the user at the other end of the connection, or "" if the operating system cannot
// identify that user. If a call requires several approvers, users that cannot be identified count
// as one person.
func peerOf(ctx context.Context) string {
	user, _ := ctx.Value(peerKey{}).(string)
	return user
}
