package config

// ServerLimits bounds the use of a server. 0 selects the default of the proxy.
type ServerLimits struct {
	InFlight    int // concurrent calls
	MessageSize int // bytes of one message from the server
	Sessions    int // concurrent sessions with a server instance of their own
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
