package takeover

import (
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/text"
)

// A Connection holds the arguments of connect.
type Connection struct {
	Client string
	File   string // client's file; empty: the usual one
	Config string // configuration file with the servers
	Launch clientcfg.Launch
	// Servers are the servers of the configuration. The client's entries for them are replaced.
	Servers []config.Server
	All     bool     // replace all servers, including those that the configuration lacks
	Only    []string // replace only these servers
}

// checkOnly returns an error for a name in --only that the client does not have.
func (c Connection) checkOnly(items []item) error {
	var names []string
	for _, i := range items {
		names = append(names, i.entry.Name)
	}
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			return usage("the client has no server %q%s", name, text.DidYouMean(name, "", names))
		}
	}
	return nil
}

// replaces reports whether connect removes the entry.
func (d *Driver) replaces(c Connection, i item) bool {
	switch {
	case i.own:
		return true
	case len(c.Only) > 0:
		return slices.Contains(c.Only, i.entry.Name)
	case c.All:
		return true
	}
	theirs, why := d.load(c.Config, i.server)
	return slices.ContainsFunc(c.Servers, func(s config.Server) bool {
		named := s.Name == i.entry.Name
		if why != "" {
			return named // it is unknown what the entry runs
		}
		return sameServer(s, theirs) && (named || slices.Equal(s.Args, theirs.Args)) // possibly imported under another name
	})
}

// sameServer reports whether two servers have the same URL, or run the same program with any
// arguments.
func sameServer(a, b config.Server) bool {
	return a.URL == b.URL && programName(a.Command) == programName(b.Command)
}
