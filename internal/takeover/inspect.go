package takeover

import (
	"context"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
)

// An Entry is one server in the file of a client.
type Entry struct {
	Name    string
	Command string // of a server that is started
	Args    []string
	URL     string
	Own     bool // it runs petrigate
	Served  bool // the configuration has this server too
}

// An Inspection is what the file of a client has.
type Inspection struct {
	Listed
	Client  clientcfg.Client
	Entries []Entry
}

// Inspect looks at the files of all clients. The connection names the servers of the
// configuration.
func (d *Desk) Inspect(ctx context.Context, c Connection) (all []Inspection) {
	for _, l := range d.List(ctx) {
		client, _, _ := clientcfg.Find(l.Name)
		one := Inspection{Listed: l, Client: client}
		if f, err := d.open(client, ""); err == nil {
			items, _ := d.items(f, f.doc) // the list has said why there are none
			for _, it := range items {
				one.Entries = append(one.Entries, d.entry(c, it))
			}
		}
		all = append(all, one)
	}
	return all
}

func (d *Desk) entry(c Connection, it item) Entry {
	e := Entry{Name: it.entry.Name, Own: it.own, Served: !it.own && d.replaces(c, it)}
	e.Command, e.URL, e.Args = started(it.server)
	return e
}

// Config is the configuration that an entry of ours names; "": none.
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
