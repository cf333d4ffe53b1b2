package takeover

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/text"
)

// safeguards are those of the client, outside the entries of servers, that are not taken over. Those of a further
// file of the client are named with the file.
func (d *Desk) safeguards(p *Imported) (all []clientcfg.Safeguard) {
	client := p.file.client
	names := map[string]string{}
	for _, t := range p.Servers {
		if t.Result != "refused" {
			names[t.Name] = t.name()
		}
	}
	if len(names) == 0 {
		return nil
	}
	all = client.Safeguards(p.file.doc, names)
	for _, path := range client.Beside(d.System, p.file.path) {
		src, err := read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var doc *splice.Document
		if err == nil {
			doc, err = splice.Parse(path, src, client.Format)
		}
		if err != nil {
			all = append(all, clientcfg.Safeguard{Where: path, Value: "a file that cannot be read: " + err.Error()})
			continue
		}
		for _, g := range client.Safeguards(doc, names) {
			if g.Rule != "" { // the client keeps all others in this file
				g.Where += " of " + path
				all = append(all, g)
			}
		}
	}
	return all
}

// name is what the server is called in the configuration.
func (t Taken) name() string {
	if t.As != "" {
		return t.As
	}
	return t.Name
}

// rename gives the server another name, in rules for it too.
func (t *Taken) rename(as string) {
	t.As = as
	t.Left = slices.Clone(t.Left)
	for i, g := range t.Left {
		t.Left[i].Rule = strings.Replace(g.Rule, " "+t.Name+".", " "+as+".", 1)
	}
}

// tellMore adds what a person should know of a server that is taken.
func (d *Desk) tellMore(p *Imported, t Taken) {
	for _, note := range t.Notes {
		d.say("  note: %s", text.Escape(note))
	}
	if t.Off != "" {
		d.say("  note: %s of %s switches it off; it is taken with disabled: true", text.Escape(t.Off), p.file.client.Title)
	}
	for _, g := range t.Left {
		d.sayLeft(p, "  ", g)
	}
}

func (d *Desk) sayLeft(p *Imported, indent string, g clientcfg.Safeguard) {
	where, value := text.Escape(g.Where), text.Escape(g.Value)
	if g.Rule == "" {
		d.say("%snote: %s (%s) stays in %s, and holds for no server that is taken", indent, where, value, p.file.client.Title)
		return
	}
	d.say("%snote: %s (%s) is not taken over; write a rule: %s", indent, where, value, text.Escape(g.Rule))
}
