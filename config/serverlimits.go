package config

// ServerLimits holds the limits on the use of an upstream server. A limit of 0 means the proxy's
// default.
type ServerLimits struct {
	InFlight    int // maximum number of concurrent calls
	MessageSize int // maximum size of a message from the server, in bytes
	Sessions    int // maximum number of concurrent sessions that have their own instance of the server
}

const minMessageSize = 4 << 10

func readServerLimits(v Value) (l ServerLimits, ok bool) {
	v.Fields(Keys{
		"inFlight":    into(&l.InFlight, Value.positive),
		"messageSize": into(&l.MessageSize, size(minMessageSize)),
		"sessions":    into(&l.Sessions, Value.positive),
	})
	return l, true
}
