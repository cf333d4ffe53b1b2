package takeover

import (
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// A Connection holds the arguments of petrigate connect.
type Connection struct {
	Client string
	File   string // the client's file; empty for the default file
	Config string // path of petrigate's configuration, which contains the servers
	Launch clientcfg.Launch
	// Servers contains the servers in the configuration. Connect replaces their entries in the
	// client's file.
	Servers []config.Server
	All     bool     // whether to replace all servers, even those not in the configuration
	Only    []string // if not empty, Connect replaces only the servers with these names
}

// checkOnly returns an error if --only names a server that the client does not have.
func (c Connection) checkOnly(items []item) error {
	names := list.Map(items, func(i item) string { return i.entry.Name })
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			return usage("the client has no server %q%s", name, text.DidYouMean(name, "", names))
		}
	}
	return nil
}

// replaces reports whether Connect replaces the entry with petrigate's.
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
			return named // the entry cannot be loaded, so its command cannot be compared
		}
		return sameServer(s, theirs) && (named || slices.Equal(s.Args, theirs.Args)) // the server may have been imported under a different name
	})
}

// sameServer reports whether both servers have the same URL or run the same program. The program's
// arguments may differ.
func sameServer(a, b config.Server) bool {
	return a.URL == b.URL && programName(a.Command) == programName(b.Command)
}
