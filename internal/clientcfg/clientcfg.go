// Package clientcfg describes the configuration files of MCP clients and agents.
//
// For each supported client, a [Client] gives the paths of its file on each system, the syntax and
// path of its servers, the form of an entry that runs petrigate, and how to recognize a running
// instance. [Client.Read] translates an entry into a [Server] of petrigate's configuration: it
// renames keys, converts timeouts and references to variables, and reports what cannot be carried
// over. [Hooks] does the same for the hooks of agents. [Secrets] finds values that must not be
// shown, and [Client.Safeguards] finds restrictions that import does not carry over.
//
// Adding a client means adding one function that returns a Client to [All]. Editing files is the
// task of package splice, asking and writing that of package takeover. The package starts no
// goroutines; its tables are read-only.
package clientcfg

import (
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/text"
)

// A System is the machine and user that own the files.
type System struct {
	OS   string // a value of runtime.GOOS; any system but "darwin" and "windows" is treated like Linux
	Home string
	Env  func(string) (string, bool)
}

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
}

// A Launch describes how a client reaches petrigate: with a command, or at a URL.
type Launch struct {
	Command string
	Args    []string
	URL     string
	Headers splice.Object // headers of requests to the URL
}

// All returns all clients in display order.
func All() []Client {
	return []Client{
		claudeDesktop(), claudeCode(), cursor(), vscode(), vscodeInsiders(), windsurf(), zed(), cline(),
		codex(), gemini(), goose(), opencode(), continueDev(), lmStudio(),
	}
}

// Find returns the client with a name or alias. If ok is false, near is the most similar name, or
// "".
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

// path joins path elements with the separator of the system.
func (s System) path(parts ...string) string {
	if s.OS == "windows" {
		return strings.ReplaceAll(strings.Join(parts, `\`), "/", `\`)
	}
	return filepath.ToSlash(filepath.Join(parts...))
}

// env returns the value of a variable, or "" if it is not set.
func (s System) env(name string) string {
	value, _ := s.Env(name)
	return value
}

// settings returns the directory for the settings of desktop programs.
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

// xdg returns the XDG configuration directory, which Unix programs also use on macOS.
func (s System) xdg() string {
	if dir := s.env("XDG_CONFIG_HOME"); strings.HasPrefix(dir, "/") {
		return dir
	}
	return s.path(s.Home, ".config")
}

// inHome returns a files function for a path relative to the home directory on all systems.
func inHome(path string) func(System) []string {
	return func(s System) []string { return []string{s.path(s.Home, path)} }
}

// stdio returns an entry function for a command, or for a URL stored under urlKey.
func stdio(urlKey string, first ...splice.Member) func(Launch) splice.Object {
	return func(l Launch) splice.Object {
		if l.URL == "" {
			return splice.Object{{Key: "command", Value: l.Command}, {Key: "args", Value: l.Args}}
		}
		return remote(l, urlKey, "headers", first...)
	}
}

// remote returns an entry with a URL.
func remote(l Launch, urlKey, headersKey string, first ...splice.Member) splice.Object {
	o := append(splice.Object{}, first...)
	o = append(o, splice.Member{Key: urlKey, Value: l.URL})
	if len(l.Headers) > 0 {
		o = append(o, splice.Member{Key: headersKey, Value: l.Headers})
	}
	return o
}
