package takeover

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// An Import holds the arguments of petrigate import.
type Import struct {
	Client string
	File   string   // the client's file; empty for the default file
	Config string   // configuration to write; need not exist
	Only   []string // if not empty, only the servers with these names are imported
	Rename bool     // whether to rename servers whose names are already used

	TextOnly bool // whether to read Config as plain text (see [config.Options]); true if it was found in the working directory and the user does not trust it
}

// An ImportPlan describes what an import would change, before anything is written.
type ImportPlan struct {
	Client  string           `json:"client"`
	File    string           `json:"file"`
	Config  string           `json:"config"`
	Servers []ImportedServer `json:"servers"`

	Left []clientcfg.Safeguard `json:"left,omitempty"` // restrictions that are not part of a server's entry; they are not imported

	path   string // path of Config after resolving symbolic links
	file   *file
	exists bool
	text   bool // whether Config must be read as plain text
	before []byte
	after  []byte
	format splice.Format
}

// An ImportedServer describes the outcome of an import for one of the client's servers.
type ImportedServer struct {
	Name    string   `json:"name"`
	As      string   `json:"as,omitempty"`     // name in the configuration, if it differs from Name
	Result  string   `json:"result"`           // "taken" (imported), "there" (already in the configuration), or "refused"
	Reason  string   `json:"reason,omitempty"` // why the server was refused
	Dropped []string `json:"dropped,omitempty"`
	Secrets []string `json:"secrets,omitempty"` // names of the variables, headers and arguments that contain literal secrets
	Notes   []string `json:"notes,omitempty"`

	Left []clientcfg.Safeguard `json:"left,omitempty"` // restrictions in the entry that the configuration cannot express
	Off  string                `json:"off,omitempty"`  // key outside the server's entry that disables the server; may be empty

	fields splice.Object
}

// configServers is the location of the server list in petrigate's configuration.
var configServers = splice.Place{Path: []string{"mcpServers"}}

// Plan computes the effects of an import without writing anything.
func (d *Driver) Plan(i Import) (*ImportPlan, error) {
	client, err := findClient(i.Client)
	if err != nil {
		return nil, err
	}
	f, err := d.open(client, i.File)
	if err != nil {
		return nil, err
	}
	if !f.exists {
		return nil, fmt.Errorf("%s has no file %s; name a different one with --file, or start the client once", client.Title, f.path)
	}
	p := &ImportPlan{Client: client.Name, File: f.path, Config: i.Config, file: f, text: i.TextOnly}
	doc, err := p.open(d)
	if err != nil {
		return nil, err
	}
	items, err := d.items(f, f.doc)
	if err != nil {
		return nil, err
	}
	if err := (Connection{Only: i.Only}).checkOnly(items); err != nil {
		return nil, err
	}
	there, err := doc.Entries(configServers)
	if err != nil {
		return nil, err
	}
	p.take(d, i, items, there)
	p.Left = d.safeguards(p)
	return p, p.splice(d, doc)
}

// open reads the configuration that will receive the imported servers.
func (p *ImportPlan) open(d *Driver) (*splice.Document, error) {
	p.path = p.Config
	real, err := filepath.EvalSymlinks(p.Config)
	if err == nil {
		p.path, p.exists = real, true
		p.before, err = readRegular(real)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	p.format = splice.YAML
	if strings.HasPrefix(strings.TrimLeft(string(p.before), " \t\r\n\ufeff"), "{") {
		p.format = splice.JSON
	}
	if p.exists {
		if _, err := config.Parse(p.Config, p.before, p.options(d)); err != nil && !empty(p.before) {
			return nil, err
		}
	}
	return splice.Parse(p.Config, p.before, p.format)
}

func (p *ImportPlan) options(d *Driver) config.Options {
	return config.Options{Env: d.System.Env, Fetch: d.Fetch, Found: p.text}
}

func empty(src []byte) bool { return strings.TrimSpace(string(src)) == "" }

// take decides which of the client's servers to import.
func (p *ImportPlan) take(d *Driver, i Import, items []item, there []splice.Entry) {
	known := map[string]any{}
	for _, e := range there {
		known[e.Name] = e.Value
	}
	for _, it := range items {
		if it.own || len(i.Only) > 0 && !slices.Contains(i.Only, it.entry.Name) {
			continue
		}
		s := it.server
		t := ImportedServer{Name: s.Name, Result: "taken", Dropped: s.Dropped, Secrets: s.Literal, Notes: s.Notes, Left: s.Left, Off: s.Closed, fields: s.Fields}
		_, t.Reason = d.load(p.Config, s)
		value := splice.Plain(s.Fields)
		switch old, is := known[s.Name]; {
		case t.Reason != "":
			t.Result = "refused"
		case !is:
			known[s.Name] = value
		case reflect.DeepEqual(old, value):
			t.Result = "there"
		case i.Rename:
			t.rename(freeName(known, s.Name))
			known[t.As] = value
		default:
			t.Result, t.Reason = "refused", "the configuration already has a different server with this name; --rename imports it under another name"
		}
		p.Servers = append(p.Servers, t)
	}
}

// freeName makes a name unique by appending the lowest possible number.
func freeName(known map[string]any, name string) string {
	for n := 2; ; n++ {
		next := fmt.Sprintf("%s-%d", name, n)
		if _, is := known[next]; !is {
			return next
		}
	}
}

// configHeader is the beginning of a new configuration.
const configHeader = `# petrigate configuration. Run "petrigate check" to find mistakes in it.
version: 1
`

// configFooter is the end of a new configuration, which tells beginners what to do next.
const configFooter = `
# Rules say what an agent may do when: see "petrigate help rules".
# rules:
#   - inline: |
#       require human-approval before delete_*
audit: { file: audit.jsonl }
`

// splice adds the imported servers to the configuration and checks that the result can be loaded.
func (p *ImportPlan) splice(d *Driver, doc *splice.Document) error {
	taken := list.Filter(p.Servers, func(t ImportedServer) bool { return t.Result == "taken" })
	add := list.Map(taken, func(t ImportedServer) splice.New { return splice.New{Name: t.name(), Value: t.fields} })
	p.after = p.before
	if len(add) == 0 {
		return nil
	}
	if empty(p.before) {
		p.after = []byte(configHeader)
		var err error
		if doc, err = splice.Parse(p.Config, p.after, splice.YAML); err != nil {
			return err
		}
	}
	after, err := doc.Replace(configServers, nil, add...)
	if err != nil {
		return err
	}
	if empty(p.before) {
		after = append(after, configFooter...)
	}
	p.after = after
	_, err = config.Parse(p.Config, after, p.options(d))
	return err
}

// Changes reports whether the plan changes the configuration.
func (p *ImportPlan) Changes() bool { return string(p.before) != string(p.after) }

// Write shows the planned changes, asks for confirmation, and writes them.
func (d *Driver) Write(p *ImportPlan) error {
	target := &file{client: clientcfg.Client{Format: p.format}, path: p.Config, target: p.path, exists: p.exists, src: p.before}
	if p.Changes() {
		if err := d.show(target, p.after); err != nil {
			return err
		}
	}
	output{d.Out}.printResults(p)
	if !p.Changes() {
		d.say("nothing to import: %s stays unchanged", text.Escape(p.Config))
		return nil
	}
	d.noteExposed(p)
	if err := d.agreeToWrite(target); err != nil {
		return err
	}
	kept, err := d.records().copySource(p.file)
	if err != nil {
		return err
	}
	if err := target.write(p.after); err != nil {
		return err
	}
	named := ""
	if p.Config != config.UserFile(config.Options{Env: d.System.Env}) {
		named = " --config " + text.Escape(clientcfg.CommandLine(d.System, []string{p.Config}))
	}
	d.say("wrote %s\nA copy of %s is kept in %s\nNext:\n  1. petrigate init%s: a first policy for these servers, which refuses nothing yet\n  2. petrigate connect %s%s: petrigate takes their place",
		text.Escape(p.Config), text.Escape(p.File), text.Escape(kept), named, p.Client, named)
	return nil
}

func (o output) printResults(p *ImportPlan) {
	for _, t := range p.Servers {
		name := text.Escape(t.Name)
		switch t.Result {
		case "there":
			o.say("%s: already in the configuration", name)
		case "refused":
			o.say("%s: not imported: %s", name, text.Escape(t.Reason))
		default:
			as := ""
			if t.As != "" {
				as = " as " + text.Escape(t.As)
			}
			o.say("%s: imported%s", name, as)
			for _, secret := range t.Secrets {
				o.say("  note: the value of %s is plain text; write ${%s}, and set the variable", text.Escape(secret), text.Escape(variableFor(secret)))
			}
			if len(t.Dropped) > 0 {
				o.say("  note: %s is for %s and has no effect here", text.And(text.EscapeAll(t.Dropped)), p.file.client.Title)
			}
			o.printNotes(p, t)
		}
	}
	for _, g := range p.Left {
		o.printSafeguard(p, "", g)
	}
}

// noteExposed warns if other users can read a configuration that will contain secrets.
func (d *Driver) noteExposed(p *ImportPlan) {
	taken := slices.ContainsFunc(p.Servers, func(t ImportedServer) bool { return t.Result == "taken" && len(t.Secrets) > 0 })
	info, err := os.Stat(p.path)
	if taken && err == nil && d.System.OS != "windows" && info.Mode().Perm()&0o077 != 0 {
		d.say("note: other users can read %s (mode %04o), which will contain secrets. Run chmod 600 on it", text.Escape(p.Config), info.Mode().Perm())
	}
}

// variableFor returns a name for the environment variable that will hold a secret. It derives this
// name from the name of the variable, header or argument in the client's file.
func variableFor(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '.':
			return '_'
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return r
	}, strings.TrimLeft(name, "-"))
}

// name returns the server's name in the configuration.
func (t ImportedServer) name() string { return cmp.Or(t.As, t.Name) }

// rename changes the server's name in the configuration, and in the rules that contain it.
func (t *ImportedServer) rename(as string) {
	t.As = as
	t.Left = slices.Clone(t.Left)
	for i, g := range t.Left {
		t.Left[i].Rule = strings.Replace(g.Rule, " "+t.Name+".", " "+as+".", 1)
	}
}
