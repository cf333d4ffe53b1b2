package takeover

import (
	"context"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
)

// An Entry is a server in a client's file.
type Entry struct {
	Name    string
	Command string // command that starts the server; empty for a server with a URL
	Args    []string
	URL     string
	Own     bool // whether the entry runs petrigate
	Served  bool // whether the configuration also has this server
}

// An Inspection describes a client's file.
type Inspection struct {
	ClientStatus
	Client  clientcfg.Client
	Entries []Entry
}

// Inspect reads the files of all clients and compares their servers with those in the connection's
// configuration.
func (d *Driver) Inspect(ctx context.Context, c Connection) (all []Inspection) {
	for _, l := range d.List(ctx) {
		client, _, _ := clientcfg.Find(l.Name)
		one := Inspection{ClientStatus: l, Client: client}
		if f, err := d.open(client, ""); err == nil {
			items, _ := d.items(f, f.doc) // l.Problem already contains the error
			for _, it := range items {
				e := Entry{Name: it.entry.Name, Own: it.own, Served: !it.own && d.replaces(c, it)}
				e.Command, e.URL, e.Args = launchOf(it.server)
				one.Entries = append(one.Entries, e)
			}
		}
		all = append(all, one)
	}
	return all
}

// Config returns the configuration file that the entry passes to petrigate with --config, or "" if
// it passes none.
func (e Entry) Config() string {
	for i, arg := range e.Args {
		if arg == "--config" && i+1 < len(e.Args) {
			return e.Args[i+1]
		}
		if file, ok := strings.CutPrefix(arg, "--config="); ok {
			return file
		}
	}
	return ""
}
