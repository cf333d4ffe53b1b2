package daemon

import "github.com/petrigate/petrigate/internal/operator"

// A channel notifies people outside the MCP client that a call is waiting for approval. Approvals
// given in the MCP client, in the console or by command need no channel: the proxy itself asks the
// client, and the console and the commands list the pending approvals.
type channel interface {
	// announce informs people of an approval request. It must not block.
	announce(operator.ApprovalInfo)
	// start makes the channel accept answers until the returned function is called.
	start() (stop func(), err error)
	// describe adds the channel's state to the status.
	describe(*operator.Status)
	// close stops announcing requests.
	close()
}

// channels holds the open channels of a daemon.
type channels []channel

// close closes all channels.
func (a channels) close() {
	for _, c := range a {
		c.close()
	}
}

// start starts all channels. If one of them fails to start, it stops the others.
func (a channels) start() (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, c := range a {
		end, err := c.start()
		if err != nil {
			stop()
			return nil, err
		}
		stops = append(stops, end)
	}
	return stop, nil
}
