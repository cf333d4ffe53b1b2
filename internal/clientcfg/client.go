package clientcfg

import (
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/list"
)

// A Client is a program that keeps a list of MCP servers in a configuration file.
type Client struct {
	Name    string
	Title   string // name for use in messages
	Aliases []string
	Format  splice.Format

	// Files returns the possible paths of the configuration file on the given system, most likely
	// first.
	Files func(System) []string
	// Place is the location of the server list in the file. petrigate's entry is added to this
	// list.
	Place splice.Place
	// morePlaces returns the locations of any other server lists in the file. It may be nil.
	morePlaces func(*splice.Document) []splice.Place

	dialect dialect
	guards  guards
	// entry returns a server-list entry that makes the client run petrigate, or nil if the client's
	// file format cannot describe such a server.
	entry func(Launch) splice.Object

	// programs holds the base names of the client's executables in lower case. folders holds
	// distinctive parts of the paths of these executables.
	programs, folders []string

	// Overwrites reports whether a running client may overwrite its file with the content that it
	// has in memory.
	Overwrites bool
	// Verify tells the user how to check that the client has found petrigate's entry in the server
	// list.
	Verify string

	Limits Limits
	// NoForms reports whether the client lacks support for forms, that is, does not declare the
	// elicitation capability.
	NoForms bool
}

// Limits holds a client's limits on the number of tools and the length of their names. The zero
// value means that there are no limits.
type Limits struct {
	Tools      int    // maximum number of tools that the client can use
	MoreTools  string // what the client does if the maximum is exceeded, as text for messages
	NameLength int    // maximum length of a tool name, without the client's prefix
}

// Places returns all places in the file where servers are listed, starting with [Client.Place].
func (c Client) Places(d *splice.Document) []splice.Place {
	all := []splice.Place{c.Place}
	if c.morePlaces != nil {
		all = append(all, c.morePlaces(d)...)
	}
	return all
}

// Entry returns the entry for the client's server list that makes the client start petrigate or
// connect to its URL. ok is false if the [Launch] contains a URL but the client's file format
// supports only commands.
func (c Client) Entry(l Launch) (entry splice.Object, ok bool) {
	entry = c.entry(l)
	return entry, entry != nil
}

// Read translates one entry of the client's server list into a server for petrigate's
// configuration.
func (c Client) Read(s System, name string, value any) Server {
	return translate(s, c.dialect, name, value)
}

// Beside returns the paths of the client's other files that may restrict the servers in the given
// file.
func (c Client) Beside(s System, file string) []string {
	if c.guards.beside == nil {
		return nil
	}
	return c.guards.beside(s, file)
}

// Safeguards returns the restrictions in one of the client's files, each with an equivalent rule
// for petrigate, if possible. The keys of servers are the client's server names, and the values are
// the corresponding names in petrigate's configuration.
func (c Client) Safeguards(d *splice.Document, servers map[string]string) []Safeguard {
	if c.guards.read == nil {
		return nil
	}
	return list.Map(c.guards.read(d), func(g guard) Safeguard { return Safeguard{Where: g.where, Value: g.value, Rule: g.rule(servers)} })
}

// Closed returns the key in the file d that disables the named server, or "" if d does not disable
// it. The list at the given place in d contains the server.
func (c Client) Closed(d *splice.Document, at splice.Place, name string) string {
	if c.guards.closed == nil {
		return ""
	}
	return c.guards.closed(d, at, name)
}

// ClosedBeside is like [Client.Closed], but d is one of the files returned by [Client.Beside]. file
// is the path of the file that contains the server.
func (c Client) ClosedBeside(d *splice.Document, file, name string) string {
	if c.guards.closedBeside == nil {
		return ""
	}
	return c.guards.closedBeside(d, file, name)
}

// mcpServers is the place where most clients list their servers.
var mcpServers = splice.Place{Path: []string{"mcpServers"}}
