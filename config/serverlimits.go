package config

// ServerLimits bound what a server is used for; 0: the bound of the proxy.
type ServerLimits struct {
	InFlight    int // calls under way at a time
	MessageSize int // bytes of one message of the server
	Sessions    int // that have the server for themselves at a time
}

const leastMessage = 4 << 10

func readServerLimits(d *decoder, to *ServerLimits) func(key, value *node) {
	return func(key, value *node) {
		d.mapping(value, quoted(key), keys{
			"inFlight": d.atLeastOne(&to.InFlight), "messageSize": readSize(d, &to.MessageSize, leastMessage), "sessions": d.atLeastOne(&to.Sessions),
		})
	}
}
