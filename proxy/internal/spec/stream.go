package spec

// A Stream carries messages to a client in the order in which they are sent:
// any number of notifications and requests of ours, and one reply to the
// request that it belongs to. The parts of one whole message are not kept.
type Stream interface {
	Send(parts ...[]byte)
	Reply(parts ...[]byte)
}
