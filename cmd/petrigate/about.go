package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// about is what a proxy does not know of itself: from where it was started, how
// it is reached, and what nobody is to read of it.
type about struct {
	config  string
	listen  atomic.Pointer[string] // where clients come in; nil: nowhere yet
	secrets *strings.Replacer
}

func aboutOf(c *config.Config) *about {
	a := &about{secrets: mask(c.Secrets())}
	if file, err := filepath.Abs(c.File); err == nil && c.File != "" {
		a.config = file
	}
	return a
}

// reachedAt says where clients come in.
func (a *about) reachedAt(where string) { a.listen.Store(&where) }

// mask replaces secrets: a server may print what it was started with.
func mask(secrets []string) *strings.Replacer {
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "***")
	}
	return strings.NewReplacer(pairs...)
}

// Status is that of the proxy, with what is known about it, and no secrets.
func (p *plant) Status() proxy.Status {
	s := p.Proxy.Status()
	s.Config = p.about.config
	if at := p.about.listen.Load(); at != nil {
		s.Listen = *at
	}
	for i := range s.Upstreams {
		u := &s.Upstreams[i]
		u.Error = p.about.secrets.Replace(u.Error)
		for k, line := range u.Said {
			u.Said[k] = p.about.secrets.Replace(line)
		}
	}
	return s
}

// silent says which upstreams do not answer, what their processes said last,
// and what may help.
func silent(upstreams []proxy.UpstreamStatus, c *config.Config) []error {
	var all []error
	for _, u := range upstreams {
		if u.State == "up" {
			continue
		}
		why := "does not answer: " + u.Error
		if u.State == "starting" {
			why = fmt.Sprintf("has not answered within %s", c.Startup)
		}
		text := fmt.Sprintf("%sthe upstream %s %s%s", placeOf(c, u.Name), u.Name, why, lastWords(u, "    "))
		if u.State == "starting" {
			text += "\n  help: a first start may have to fetch the program; startup: 60s in the configuration waits longer"
		}
		all = append(all, errors.New(text))
	}
	return all
}

// placeOf is where the configuration speaks of a server.
func placeOf(c *config.Config, name string) string {
	for _, s := range c.Servers {
		if s.Name == name && s.Position.Line > 0 {
			return fmt.Sprintf("%s:%d:%d: ", s.Position.File, s.Position.Line, s.Position.Column)
		}
	}
	return ""
}

// lastWords are the lines that the process of an upstream has said last.
func lastWords(u proxy.UpstreamStatus, indent string) string {
	if len(u.Said) == 0 {
		return ""
	}
	return "\n" + indent[2:] + "it said:\n" + indent + strings.Join(u.Said, "\n"+indent)
}

// printUpstream writes a line about an upstream of a running proxy, and what
// its process said last where it is not up.
func printUpstream(w io.Writer, u proxy.UpstreamStatus) {
	line := "  upstream " + u.Name + " is " + u.State
	if u.Protocol != "" && u.State == "up" {
		line += ", protocol " + u.Protocol
	}
	if u.Sessions > 0 {
		line += ", and " + text.Count(u.Sessions, "session") + " of its own"
	}
	if u.Error != "" {
		line += ": " + u.Error
	}
	_, _ = fmt.Fprintln(w, line+lastWords(u, "      "))
}
