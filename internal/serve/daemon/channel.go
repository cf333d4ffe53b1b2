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

// openers open the channels. An opener returns nil if the configuration does not enable its
// channel.
var openers = []func(*Daemon) (channel, error){openWebhook, openDesktop}

// openChannels opens the configured channels. The proxy of d may still be nil.
func (d *Daemon) openChannels() error {
	for _, open := range openers {
		c, err := open(d)
		if err != nil {
			d.closeChannels()
			return err
		}
		if c != nil {
			d.channels = append(d.channels, c)
		}
	}
	return nil
}

func (d *Daemon) closeChannels() {
	for _, c := range d.channels {
		c.close()
	}
}

// startChannels starts all channels, or none.
func (d *Daemon) startChannels() (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, c := range d.channels {
		end, err := c.start()
		if err != nil {
			stop()
			return nil, err
		}
		stops = append(stops, end)
	}
	return stop, nil
}
