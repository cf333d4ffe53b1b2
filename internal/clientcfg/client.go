package clientcfg

import "github.com/petrigate/petrigate/internal/clientcfg/splice"

// A Client is a program that stores MCP servers in a configuration file.
type Client struct {
	Name    string
	Title   string // name for messages
	Aliases []string
	Format  splice.Format

	// files returns the possible paths of the file, most likely first.
	files func(System) []string
	// place is the location of the servers, and of petrigate's entry.
	place splice.Place
	// morePlaces returns additional locations of servers in a file; may be nil.
	morePlaces func(*splice.Document) []splice.Place

	dialect dialect
	guards  guards
	// entry returns an entry that runs petrigate, or nil if the client cannot express it.
	entry func(Launch) splice.Object

	// programs are the lower-case base names of the client's executables; folders are distinctive
	// parts of their paths.
	programs, folders []string

	// Overwrites is set for a client that rewrites its file from memory while it runs.
	Overwrites bool
	// Verify tells the user how to check that the client has the entry.
	Verify string

	Limits Limits
	// NoForms is set for a client that does not declare elicitation, and so cannot show forms.
	NoForms bool
}

// Limits are the known limits of a client. The zero value has none.
type Limits struct {
	Tools      int    // largest useful number of tools
	MoreTools  string // what the client does with more tools
	NameLength int    // maximum length of a tool name, without the prefix that the client adds
}

// Files returns the possible paths of the file on a system, most likely first.
func (c Client) Files(s System) []string { return c.files(s) }

// Place returns the location of petrigate's entry in the file.
func (c Client) Place() splice.Place { return c.place }

// Places returns all locations of servers in a file; the first is [Client.Place].
func (c Client) Places(d *splice.Document) []splice.Place {
	all := []splice.Place{c.place}
	if c.morePlaces != nil {
		all = append(all, c.morePlaces(d)...)
	}
	return all
}

// Entry returns an entry that runs petrigate. ok is false if the client cannot express it, which
// happens only for a URL.
func (c Client) Entry(l Launch) (entry splice.Object, ok bool) {
	entry = c.entry(l)
	return entry, entry != nil
}

// Read translates an entry of the file into a server of petrigate's configuration.
func (c Client) Read(s System, name string, value any) Server {
	return translate(s, c.dialect, name, value)
}

// Beside returns the other files with the client's restrictions for the servers of a file.
func (c Client) Beside(s System, file string) []string {
	if c.guards.beside == nil {
		return nil
	}
	return c.guards.beside(s, file)
}

// Safeguards returns the restrictions in a client's file. servers maps the client's names of
// servers to their names in petrigate's configuration, which the rules use.
func (c Client) Safeguards(d *splice.Document, servers map[string]string) (all []Safeguard) {
	if c.guards.read == nil {
		return nil
	}
	for _, g := range c.guards.read(d) {
		all = append(all, Safeguard{Where: g.where, Value: g.value, Rule: g.rule(servers)})
	}
	return all
}

// Closed returns the key of a file that disables the named server, or "".
func (c Client) Closed(d *splice.Document, at splice.Place, name string) string {
	if c.guards.closed == nil {
		return ""
	}
	return c.guards.closed(d, at, name)
}

// ClosedBeside returns the key of another file, see [Client.Beside], that disables a server of
// file, or "".
func (c Client) ClosedBeside(d *splice.Document, file, name string) string {
	if c.guards.closedBeside == nil {
		return ""
	}
	return c.guards.closedBeside(d, file, name)
}

// mcpServers is where most clients store their servers.
var mcpServers = splice.Place{Path: []string{"mcpServers"}}
