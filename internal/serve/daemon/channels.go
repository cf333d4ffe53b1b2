package daemon

// openers lists the functions that open the approval channels of a daemon. Each of them returns nil
// if the configuration does not enable its channel.
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
