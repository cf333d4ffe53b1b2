// Package clientcfg knows the configuration files of MCP clients: where they are on each
// system, how their servers are written, and how an entry that runs petrigate is.
package clientcfg

import (
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/text"
)

// A System is the machine and the user whose files are meant.
type System struct {
	OS   string // as runtime.GOOS: "darwin", "windows", or another that is like Linux
	Home string
	Env  func(string) (string, bool)
}

// A Client is a program with MCP servers in a configuration file.
type Client struct {
	Name    string
	Title   string // for people
	Aliases []string
	Format  splice.Format

	// files are the places of the file, the likeliest first.
	files func(System) []string
	// place is where the servers are, and where an entry of ours goes.
	place splice.Place
	// more are further places in a file; nil: there is none.
	more func(*splice.Document) []splice.Place

	dialect dialect
	guards  guards
	// entry writes an entry that runs petrigate. It is nil where the client cannot.
	entry func(Launch) splice.Object

	// programs are the names under which it runs, in lower case; folders are parts of the path
	// of its program.
	programs, folders []string

	// Overwrites is set for a client that writes its file from memory while it runs.
	Overwrites bool
	// Verify says how one sees that the client has the entry.
	Verify string
}

// A Launch is how a client reaches petrigate: by a command, or at a URL.
type Launch struct {
	Command string
	Args    []string
	URL     string
	Headers splice.Object // of requests to the URL
}

// All returns all clients, in the order in which people see them.
func All() []Client {
	return []Client{
		claudeDesktop(), claudeCode(), cursor(), vscode(), vscodeInsiders(), windsurf(), zed(), cline(),
		codex(), gemini(), goose(), opencode(), continueDev(), lmStudio(),
	}
}

// Find returns the client of a name or an alias. Without one it returns the nearest name, which
// may be empty.
func Find(name string) (c Client, near string, ok bool) {
	var names []string
	word := strings.ToLower(name)
	for _, c := range All() {
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			if word == known {
				return c, "", true
			}
			names = append(names, known)
		}
	}
	return Client{}, text.Nearest(word, names), false
}

// Files returns the places of the file on a system, the likeliest first.
func (c Client) Files(s System) []string { return c.files(s) }

// Place is where in the file an entry of ours goes.
func (c Client) Place() splice.Place { return c.place }

// Places are all places of servers in a file; the first is [Client.Place].
func (c Client) Places(d *splice.Document) []splice.Place {
	all := []splice.Place{c.place}
	if c.more != nil {
		all = append(all, c.more(d)...)
	}
	return all
}

// Entry writes an entry that runs petrigate; ok is false where the client cannot, which is
// only so for a URL.
func (c Client) Entry(l Launch) (entry splice.Object, ok bool) {
	entry = c.entry(l)
	return entry, entry != nil
}

// Read translates an entry of the file into a server of a configuration of ours.
func (c Client) Read(s System, name string, value any) Server {
	return translate(s, c.dialect, name, value)
}

// path joins the parts of a path as the system does.
func (s System) path(parts ...string) string {
	if s.OS == "windows" {
		return strings.ReplaceAll(strings.Join(parts, `\`), "/", `\`)
	}
	return filepath.ToSlash(filepath.Join(parts...))
}

// env is a variable; empty: it is not set.
func (s System) env(name string) string {
	value, _ := s.Env(name)
	return value
}

// settings is the folder in which desktop programs keep their settings.
func (s System) settings() string {
	switch s.OS {
	case "darwin":
		return s.path(s.Home, "Library/Application Support")
	case "windows":
		if dir := s.env("APPDATA"); dir != "" {
			return dir
		}
		return s.path(s.Home, "AppData/Roaming")
	}
	return s.xdg()
}

// xdg is the folder in which programs from Unix keep their settings, on a Mac too.
func (s System) xdg() string {
	if dir := s.env("XDG_CONFIG_HOME"); strings.HasPrefix(dir, "/") {
		return dir
	}
	return s.path(s.Home, ".config")
}

// below gives the file that is at a path below the home directory, on all systems.
func below(path string) func(System) []string {
	return func(s System) []string { return []string{s.path(s.Home, path)} }
}

// stdio is an entry with a command, or one with a URL under a key of its own.
func stdio(urlKey string, first ...splice.Member) func(Launch) splice.Object {
	return func(l Launch) splice.Object {
		if l.URL == "" {
			return splice.Object{{Key: "command", Value: l.Command}, {Key: "args", Value: l.Args}}
		}
		return remote(l, urlKey, "headers", first...)
	}
}

// remote is an entry with a URL.
func remote(l Launch, urlKey, headersKey string, first ...splice.Member) splice.Object {
	o := append(splice.Object{}, first...)
	o = append(o, splice.Member{Key: urlKey, Value: l.URL})
	if len(l.Headers) > 0 {
		o = append(o, splice.Member{Key: headersKey, Value: l.Headers})
	}
	return o
}
