package takeover

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/diag"
)

// An item is a server's entry in a client's file.
type item struct {
	at     splice.Place
	entry  splice.Entry
	server clientcfg.Server
	own    bool // whether the entry runs petrigate
}

// open reads the named file as a configuration file of the client. An empty name stands for the
// client's default file.
func (d *Driver) open(c clientcfg.Client, name string) (*file, error) {
	f := &file{client: c, path: name}
	if name == "" {
		f.path = firstExisting(c.Files(d.System))
	} else if abs, err := filepath.Abs(name); err == nil {
		f.path = abs
	}
	f.target = f.path
	real, err := filepath.EvalSymlinks(f.path)
	switch {
	case err == nil:
		f.target, f.exists = real, true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("reading the file of %s: %w", c.Title, err)
	case isLink(f.path):
		return nil, fmt.Errorf("%s is a symbolic link to a file that does not exist; create that file, or remove the link", f.path)
	}
	if f.exists {
		if f.src, err = readRegular(f.target); err != nil {
			return nil, fmt.Errorf("reading the file of %s: %w", c.Title, err)
		}
	}
	f.doc, err = splice.Parse(f.path, f.src, c.Format)
	return f, err
}

// items returns the entries in a file, except those built into the client.
func (d *Driver) items(f *file, doc *splice.Document) (all []item, err error) {
	beside := d.besideFiles(f)
	for _, at := range f.client.Places(doc) {
		entries, err := doc.Entries(at)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			s := f.client.Read(d.System, e.Name, e.Value)
			if key := f.client.Closed(doc, at, e.Name); key != "" {
				s.Disable(key)
			}
			for _, other := range beside {
				if key := f.client.ClosedBeside(other.doc, f.path, e.Name); key != "" {
					s.Disable(key + " in " + other.path)
				}
			}
			if !s.Native {
				all = append(all, item{at, e, s, runsUs(s)})
			}
		}
	}
	return all, nil
}

// besideFiles reads the client's other files that affect its servers. It skips files that are
// missing or unreadable. petrigate import reports the unreadable ones.
func (d *Driver) besideFiles(f *file) (all []*file) {
	for _, path := range f.client.Beside(d.System, f.path) {
		src, err := readRegular(path)
		if err != nil {
			continue
		}
		if doc, err := splice.Parse(path, src, f.client.Format); err == nil {
			all = append(all, &file{client: f.client, path: path, doc: doc})
		}
	}
	return all
}

// load parses a server from a client's file as if it were listed in petrigate's configuration. It
// returns the parsed server or, if the server cannot be loaded, a sentence with the reason.
func (d *Driver) load(file string, s clientcfg.Server) (loaded config.Server, problem string) {
	if s.Refused != "" {
		return loaded, s.Refused
	}
	text := splice.Object{{Key: "version", Value: 1}, {Key: "mcpServers", Value: splice.Object{{Key: s.Name, Value: s.Fields}}}}
	c, err := config.Parse(file, []byte(text.YAML("\n")), config.Options{Env: d.System.Env})
	if list, ok := diag.Find(err); ok && len(list) > 0 {
		problem = list[0].Msg
		if list[0].Hint != "" {
			problem += " (" + list[0].Hint + ")"
		}
		return loaded, problem
	}
	if err != nil {
		return loaded, err.Error()
	}
	return c.Servers[0], ""
}

// runsUs reports whether an entry runs petrigate. Importing such an entry would make petrigate one
// of its own servers. An entry with a URL is recognized by its name. Any other entry is recognized
// if its command is petrigate serve. It is also recognized if its name is petrigate and it either
// runs the program petrigate or has the argument serve.
func runsUs(s clientcfg.Server) bool {
	command, url, args := launchOf(s)
	named, serves := s.Name == Ours, slices.Contains(args, "serve")
	if url != "" {
		return named
	}
	return (named || serves && args[0] == "serve") && programName(command) == Ours || named && serves
}

// launchOf returns a server's command and arguments, or its URL.
func launchOf(s clientcfg.Server) (command, url string, args []string) {
	fields, _ := splice.Plain(s.Fields).(map[string]any)
	command, _ = fields["command"].(string)
	url, _ = fields["url"].(string)
	return command, url, splice.Texts(fields["args"])
}

// programName returns the base name of a command in lower case, without .exe.
func programName(command string) string {
	return strings.TrimSuffix(strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:]), ".exe")
}
