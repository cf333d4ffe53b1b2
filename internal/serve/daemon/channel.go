package daemon

import "github.com/petrigate/petrigate/internal/operator"

// A channel tells people outside of the client about calls that wait for an approval. Channels that
// need no code of their own (the client, the console, the command line) are only in the table of
// package channel.
type channel interface {
	// asked announces a request for approval. It must not block.
	asked(operator.ApprovalInfo)
	// start begins to accept answers; the caller must call stop.
	start() (stop func(), err error)
	// describe adds the state of the channel to a status.
	describe(*operator.Status)
	// close ends the announcements.
	close()
}

// channels are the open channels of a daemon.
type channels []channel

// close ends the announcements.
func (a channels) close() {
	for _, c := range a {
		c.close()
	}
}

// start starts all channels, or none.
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
