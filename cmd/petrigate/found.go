package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/safefile"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/trust"
)

// A configuration found in the working directory may belong to a project that someone else wrote.
// Until the user trusts it, commands treat it as plain text ([config.Config.TextOnly]).

// actingVerbs returns the commands that can do more than read a configuration, for example start
// its servers or open its database. It maps each command to a function. If the function returns
// true, the command asks the user to trust the configuration. All other commands treat an untrusted
// configuration as plain text.
func actingVerbs() map[string]actsFunc {
	always := func(*cobra.Command, *config.Config) bool { return true }
	unnamed := func(c *cobra.Command, cfg *config.Config) bool { return c.Flags().NArg() == 0 && daemon.Elsewhere(cfg) }
	given := func(flag string) actsFunc {
		return func(c *cobra.Command, _ *config.Config) bool { return c.Flags().Changed(flag) }
	}
	return map[string]actsFunc{
		"petrigate check": given("live"),
		"petrigate init": func(c *cobra.Command, _ *config.Config) bool {
			return c.Flags().NArg() == 0 && !c.Flags().Changed("tools")
		},
		"petrigate doctor":       always,
		"petrigate connect":      always,
		"petrigate login":        func(c *cobra.Command, _ *config.Config) bool { return !c.Flags().Changed("list") },
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

// An actsFunc reports whether a command does more than read a configuration. The answer can depend
// on the command's flags and arguments, and on the configuration.
type actsFunc = func(*cobra.Command, *config.Config) bool

// A configLoader loads the configuration for a command. If necessary, it asks the user to trust the
// configuration.
type configLoader struct {
	c    *cobra.Command
	s    stdio
	book trust.List
	path string // value of --config; if empty, the usual places are searched

	offline bool // whether to use cached copies of base policies instead of fetching them
}

func (s stdio) configLoader(c *cobra.Command) (configLoader, error) {
	dir, err := daemon.StateDir()
	if err != nil {
		return configLoader{}, err
	}
	path, _ := c.Flags().GetString("config")
	return configLoader{c: c, s: s, path: path, book: trust.List{File: filepath.Join(dir, "trusted.json")}}, nil
}

// options returns the options for loading the configuration.
func (r configLoader) options() config.Options {
	o := config.Options{Path: r.path, WorkDir: true, Trust: r.book.Trusts, Fetch: daemon.StoredBases, Kept: daemon.StoredBases}
	if !r.offline {
		o.Fetch = daemon.BaseFetcher(r.c.Context())
	}
	return o
}

// load loads a configuration. If the file was found in the working directory and the command does
// more than read it, load first asks the user to trust the file.
func (r configLoader) load(o config.Options) (*config.Config, error) {
	cfg, err := config.Load(o)
	if err != nil || !cfg.TextOnly {
		return cfg, err
	}
	if acts := actingVerbs()[r.c.CommandPath()]; acts == nil || !acts(r.c, cfg) {
		return cfg, nil
	}
	if o.Trust, err = r.askTrust(cfg.File, cfg); err != nil {
		return nil, err
	}
	return config.Load(o)
}

// askTrust asks the user to trust the file at path, which was found in the working directory,
// unless the user already trusts it. It returns a function for [config.Options.Trust] that accepts
// only the content that askTrust has read. It returns an error if the user declines or cannot be
// asked, or if another user could have written the file. The question describes the configuration
// cfg, which is nil if the file cannot be loaded.
func (r configLoader) askTrust(path string, cfg *config.Config) (func(string, []byte) bool, error) {
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
		return nil, usage("%s was found in the working directory and is not trusted yet: until you trust it, petrigate does not start, open or read anything that it names. To trust it, pass --config %s, or run the command at a terminal", path, shellWord(path))
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	yes, err := agree(fmt.Sprintf("%s was found in the working directory.%s\nTrust it, until it changes?", text.Escape(path), describeAccess(cfg)))
	switch {
	case err != nil:
		return nil, err
	case !yes:
		_, _ = fmt.Fprintln(r.s.err, "Nothing was changed.")
		return nil, &exitError{exitFailed, nil}
	}
	return accepts, r.book.Trust(path, src)
}

// requireOwnFile returns an error if another user could have written to the file at path, which was
// found in the working directory.
func (r configLoader) requireOwnFile(path string) error {
	if err := safefile.CheckProjectFile(path); err != nil {
		return usage("%s was found in the working directory, and another user could have written it: %w. To trust it anyway, pass --config %s", path, err, shellWord(path))
	}
	return nil
}

// locate returns the path of the configuration for a command that does more than read it. If the
// file was found in the working directory, locate calls [configLoader.askTrust] and also returns
// its result. Otherwise, trusts is nil.
func (r configLoader) locate() (file string, trusts func(string, []byte) bool, err error) {
	file, found, err := config.Lookup(r.options())
	if err != nil || !found {
		return file, nil, err
	}
	cfg, _ := config.Load(config.Options{Path: file, Found: true, Kept: daemon.StoredBases}) // ask the user even if the file cannot be loaded
	trusts, err = r.askTrust(file, cfg)
	return file, trusts, err
}

// renewTrust keeps a configuration trusted after petrigate itself has changed the file. It does
// nothing if the old content was not trusted, or if the file has changed again.
func (r configLoader) renewTrust(path string, before, after []byte) {
	if now, err := os.ReadFile(path); err == nil && bytes.Equal(now, after) && r.book.Trusts(path, before) {
		_ = r.book.Trust(path, after) // on error, the user will be asked again next time
	}
}

// describeAccess lists the programs, addresses and files that petrigate will use if it runs with
// the configuration.
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
		reaches = append(reaches, "a PostgreSQL database")
	}
	reaches = append(reaches, c.Targets...)
	if c.Telemetry.Traces != "" {
		reaches = append(reaches, c.Telemetry.Traces)
	}
	reaches = append(reaches, list.Map(c.Bases, func(b config.Base) string { return b.File })...)
	said := ""
	for _, part := range []struct {
		does string
		what []string
	}{{"starts", starts}, {"connects to", reaches}, {"reads", c.References}} {
		if len(part.what) > 0 {
			shown := list.Map(part.what, func(what string) string { return text.Excerpt(what, 120) })
			said += fmt.Sprintf("\n  It %s: %s", part.does, text.First(most, shown))
		}
	}
	return said
}
