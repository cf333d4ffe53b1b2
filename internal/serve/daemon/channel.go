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
