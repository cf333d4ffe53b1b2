package daemon

// openers lists one function for each channel, which opens the channel or returns nil if the
// configuration does not enable it.
var openers = []func(*Daemon) (channel, error){openWebhook, openDesktop}

// openChannels opens the configured channels. d.Proxy may still be nil.
func (d *Daemon) openChannels() error {
	for _, open := range openers {
		c, err := open(d)
		if err != nil {
			d.channels.close()
			return err
		}
		if c != nil {
			d.channels = append(d.channels, c)
		}
	}
	return nil
}
