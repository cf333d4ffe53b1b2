package takeover

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/text"
)

// A ClientStatus describes a client in the output of petrigate connect --list.
type ClientStatus struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	File      string `json:"file"`
	Exists    bool   `json:"exists"`
	Servers   int    `json:"servers"`   // number of entries in the file, not counting petrigate's own
	Connected string `json:"connected"` // "no", "yes", or, if the client has overwritten petrigate's entry, "gone"
	Running   *bool  `json:"running"`   // whether the client is running; nil if unknown
	Problem   string `json:"problem,omitempty"`
}

// List returns the status of all clients.
func (d *Driver) List(ctx context.Context) (all []ClientStatus) {
	var running []clientcfg.Process
	var err error
	if d.Running != nil {
		running, err = d.Running(ctx)
	}
	for _, c := range clientcfg.All() {
		l := d.status(c)
		if d.Running != nil && err == nil {
			runs := c.IsRunning(running)
			l.Running = &runs
		}
		all = append(all, l)
	}
	return all
}

func (d *Driver) status(c clientcfg.Client) ClientStatus {
	l := ClientStatus{Name: c.Name, Title: c.Title, File: firstExisting(c.Files(d.System)), Connected: "no"}
	f, err := d.open(c, "")
	if f != nil {
		l.Exists = f.exists
	}
	var items []item
	if err == nil {
		items, err = d.items(f, f.doc)
	}
	if err != nil {
		l.Problem = err.Error()
		return l
	}
	for _, i := range items {
		if i.own {
			l.Connected = "yes"
		} else {
			l.Servers++
		}
	}
	n, err := d.records().read(f)
	switch {
	case err != nil:
		l.Problem = err.Error()
	case n != nil && l.Connected == "no":
		l.Connected = "gone"
		l.Problem = fmt.Sprintf("the entry has disappeared: %s has overwritten it. Quit it, and run petrigate connect %s", c.Title, c.Name)
	}
	return l
}

// PrintList prints the statuses as a table.
func (d *Driver) PrintList(all []ClientStatus) error {
	var rows [][]string
	for _, l := range all {
		servers, running := "-", ""
		if l.Exists {
			servers = strconv.Itoa(l.Servers)
		}
		if l.Running != nil && *l.Running {
			running = "yes"
		}
		file := cmp.Or(map[bool]string{false: "(none)"}[l.Exists], text.Escape(l.File))
		rows = append(rows, []string{l.Name, servers, l.Connected, running, file})
	}
	if err := text.Table(d.Out, "", "CLIENT|SERVERS|CONNECTED|RUNNING|FILE", rows); err != nil {
		return err
	}
	for _, l := range all {
		if l.Problem != "" {
			d.say("%s: %s", l.Title, text.Escape(l.Problem))
		}
	}
	return nil
}
