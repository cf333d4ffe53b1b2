package daemon

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
