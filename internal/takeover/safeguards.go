package takeover

import (
	"errors"
	"io/fs"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/text"
)

// safeguards returns the restrictions that petrigate import leaves behind, because they are not
// part of a server's entry. If the import refuses all servers, safeguards returns nil. In the
// client's other files, safeguards looks only for restrictions that have an equivalent rule in
// petrigate. If one of these files exists but cannot be read, the result contains an entry with the
// file's path and the error.
func (d *Driver) safeguards(p *ImportPlan) (all []clientcfg.Safeguard) {
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
		src, err := readRegular(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var doc *splice.Document
		if err == nil {
			doc, err = splice.Parse(path, src, client.Format)
		}
		if err != nil {
			all = append(all, clientcfg.Safeguard{Where: path, Value: "an unreadable file: " + err.Error()})
			continue
		}
		for _, g := range client.Safeguards(doc, names) {
			if g.Rule != "" { // the client continues to enforce restrictions that have no equivalent rule
				g.Where += " of " + path
				all = append(all, g)
			}
		}
	}
	return all
}

// printNotes prints the notes and the restrictions of an imported server.
func (o output) printNotes(p *ImportPlan, t ImportedServer) {
	for _, note := range t.Notes {
		o.say("  note: %s", text.Escape(note))
	}
	if t.Off != "" {
		o.say("  note: %s of %s disables it; it is imported with disabled: true", text.Escape(t.Off), p.file.client.Title)
	}
	for _, g := range t.Left {
		o.printSafeguard(p, "  ", g)
	}
}

func (o output) printSafeguard(p *ImportPlan, indent string, g clientcfg.Safeguard) {
	where, value := text.Escape(g.Where), text.Escape(g.Value)
	if g.Rule == "" {
		o.say("%snote: %s (%s) stays in %s, and does not apply to any imported server", indent, where, value, p.file.client.Title)
		return
	}
	o.say("%snote: %s (%s) is not imported; write a rule: %s", indent, where, value, text.Escape(g.Rule))
}
