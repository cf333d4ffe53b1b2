package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/safefile"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/trust"
)

// A configuration that was found in the working directory may be that of a project that somebody else has
// written. Verbs read it as text ([config.Config.TextOnly]) until a person has trusted it.

// actingVerbs has the verbs that do more with a configuration than read it, each with a function that says whether
// it does so here: they start its servers, log in to them, open its database, or write it down for a client to run. Only
// they ask for trust. A verb that is not among them reads text.
func actingVerbs() map[string]acts {
	always := func(*cobra.Command, *config.Config) bool { return true }
	unnamed := func(c *cobra.Command, cfg *config.Config) bool { return c.Flags().NArg() == 0 && daemon.Elsewhere(cfg) }
	given := func(flag string) acts {
		return func(c *cobra.Command, _ *config.Config) bool { return c.Flags().Changed(flag) }
	}
	not := func(f acts) acts {
		return func(c *cobra.Command, cfg *config.Config) bool { return !f(c, cfg) }
	}
	return map[string]acts{
		"petrigate check": given("live"),
		"petrigate init": func(c *cobra.Command, _ *config.Config) bool {
			return c.Flags().NArg() == 0 && !c.Flags().Changed("tools")
		},
		"petrigate doctor":       always,
		"petrigate connect":      always,
		"petrigate login":        not(given("list")),
		"petrigate logout":       always,
		"petrigate enforce":      func(_ *cobra.Command, cfg *config.Config) bool { return daemon.Elsewhere(cfg) },
		"petrigate suggest":      unnamed,
		"petrigate replay":       unnamed,
		"petrigate audit":        unnamed,
		"petrigate audit verify": unnamed,
		"petrigate audit tail":   unnamed,
		"petrigate audit query":  unnamed,
		"petrigate audit stats":  unnamed,
	}
}

// acts reports whether a verb does more with a configuration than read it.
type acts = func(*cobra.Command, *config.Config) bool

// A configLoader is how a verb reads its configuration.
type configLoader struct {
	c    *cobra.Command
	s    stdio
	book trust.Book

	offline bool // base policies are read as they were kept
}

func (s stdio) configLoader(c *cobra.Command) (configLoader, error) {
	dir, err := daemon.StateDir()
	if err != nil {
		return configLoader{}, err
	}
	return configLoader{c: c, s: s, book: trust.Book{File: filepath.Join(dir, "trusted.json")}}, nil
}

// options are those of a file that --config names, or that is at one of the usual places.
func (r configLoader) options(path string) config.Options {
	o := config.Options{Path: path, WorkDir: true, Trust: r.book.Trusts, Fetch: daemon.Kept, Kept: daemon.Kept}
	if !r.offline {
		o.Fetch = daemon.Fetching(r.c.Context())
	}
	return o
}

// load reads a configuration. Where the verb acts on it and it was found in the working directory, a person
// has to have trusted it.
func (r configLoader) load(o config.Options) (*config.Config, error) {
	cfg, err := config.Load(o)
	if err != nil || !cfg.TextOnly {
		return cfg, err
	}
	if acts := actingVerbs()[r.c.CommandPath()]; acts == nil || !acts(r.c, cfg) {
		return cfg, nil
	}
	if o.Trust, err = r.trusted(cfg.File, cfg); err != nil {
		return nil, err
	}
	return config.Load(o)
}

// trusted returns what accepts the bytes of a file that was found, once a person has trusted it; cfg is what it
// says as text, nil where it cannot be read.
func (r configLoader) trusted(path string, cfg *config.Config) (func(string, []byte) bool, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	accepts := func(_ string, now []byte) bool { return bytes.Equal(now, src) }
	if r.book.Trusts(path, src) {
		return accepts, nil
	}
	if err := r.requireOwnFile(path); err != nil {
		return nil, err
	}
	agree := r.s.asker(r.c.Context())
	if agree == nil {
		return nil, usage("%s was found and not named, and may be somebody else's: petrigate starts, opens and reads nothing that it names until you trust it. If you do, add --config %s, or answer at a terminal", path, shellWord(path))
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	yes, err := agree(fmt.Sprintf("%s was found in the working directory.%s\nTrust it, until it changes?", text.Escape(path), describeAccess(cfg)))
	switch {
	case err != nil:
		return nil, err
	case !yes:
		_, _ = fmt.Fprintln(r.s.err, "Nothing was done.")
		return nil, &exitError{exitFailed, nil}
	}
	return accepts, r.book.Trust(path, src)
}

// requireOwnFile refuses a file that was found and that another user could have written.
func (r configLoader) requireOwnFile(path string) error {
	if err := safefile.Project(path); err != nil {
		return usage("%s was found and not named, and another user could have written it: %w. If you trust it nevertheless, add --config %s", path, err, shellWord(path))
	}
	return nil
}

// locate returns the configuration that is meant, and what accepts its bytes where it was
// found in the working directory, for a verb that acts.
func (r configLoader) locate(path string) (file string, trusts func(string, []byte) bool, err error) {
	file, found, err := config.Lookup(r.options(path))
	if err != nil || !found {
		return file, nil, err
	}
	cfg, _ := config.Load(config.Options{Path: file, Found: true, Kept: daemon.Kept}) // a broken one is asked about too
	trusts, err = r.trusted(file, cfg)
	return file, trusts, err
}

// renewTrust trusts what petrigate itself has made of a configuration that was trusted.
func (r configLoader) renewTrust(path string, before, after []byte) {
	if now, err := os.ReadFile(path); err == nil && bytes.Equal(now, after) && r.book.Trusts(path, before) {
		_ = r.book.Trust(path, after) // a person is asked again then
	}
}

// describeAccess lists the programs, addresses and files that a configuration would make petrigate use.
func describeAccess(c *config.Config) string {
	if c == nil {
		return ""
	}
	const most = 10
	var starts, reaches []string
	for _, s := range c.Servers {
		switch {
		case s.Disabled:
		case s.Command != "":
			starts = append(starts, strings.Join(append([]string{s.Command}, s.Args...), " "))
		default:
			reaches = append(reaches, cmp.Or(s.URL, "the server "+s.Name))
		}
	}
	if c.State.Driver == "postgres" {
		reaches = append(reaches, "a database of PostgreSQL")
	}
	if hook := c.Approval.Webhook; hook != nil {
		reaches = append(reaches, cmp.Or(hook.URL, "a webhook"))
	}
	if c.Telemetry.Traces != "" {
		reaches = append(reaches, c.Telemetry.Traces)
	}
	for _, b := range c.Bases {
		reaches = append(reaches, b.File)
	}
	said := ""
	for _, part := range []struct {
		does string
		what []string
	}{{"starts", starts}, {"connects to", reaches}, {"reads", slices.Clone(c.References)}} {
		for i, what := range part.what {
			part.what[i] = text.Excerpt(what, 120)
		}
		if len(part.what) > 0 {
			said += fmt.Sprintf("\n  It %s: %s", part.does, text.First(most, part.what))
		}
	}
	return said
}
