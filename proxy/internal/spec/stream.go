package spec

// A Stream carries messages to a client in the order in which they are sent: any number
// of notifications and requests of the proxy, and one reply to the request that it
// belongs to. The parts make up one message; a Stream does not keep them.
type Stream interface {
	Send(parts ...[]byte)
	Reply(parts ...[]byte)
}
