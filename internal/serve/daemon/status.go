package daemon

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
)

// Status returns the status of the proxy, with its configuration file, listen address and records,
// and without secrets: a server may print its own command line.
func (d *Daemon) Status() operator.Status {
	s := d.Proxy.Status()
	s.Config, s.Bases = d.file, *d.bases.Load()
	if r := d.reloads.status.Load(); r != nil {
		s.Reloaded, s.ReloadProblem = &r.at, d.secrets.Replace(r.problem)
	}
	if at := d.listen.Load(); at != nil {
		s.Listen = *at
	}
	if d.database != nil {
		s.State.Driver, s.State.Place, s.State.Since = d.database.driver, d.database.place, d.database.Since()
	}
	s.Audit = d.auditInfo()
	if s.Pinning = d.config.Pinning.Mode; d.pins == nil {
		s.Pinning = "off"
	}
	for _, c := range d.channels {
		c.describe(&s)
	}
	d.maskUpstreams(s.Upstreams)
	return s
}

// upstreamStates describes the upstreams, without secrets and without querying the database.
func (d *Daemon) upstreamStates() []operator.UpstreamStatus {
	all := d.Overview().Upstreams
	d.maskUpstreams(all)
	return all
}

// maskUpstreams removes secrets from the errors and output of upstreams.
func (d *Daemon) maskUpstreams(upstreams []operator.UpstreamStatus) {
	for i := range upstreams {
		u := &upstreams[i]
		u.Error = d.secrets.Replace(u.Error)
		for k, line := range u.Said {
			u.Said[k] = d.secrets.Replace(line)
		}
	}
}

// silentUpstreams returns the names of the upstreams that have not answered.
func (d *Daemon) silentUpstreams() []string {
	var names []string
	for _, u := range d.Overview().Upstreams {
		if u.State != "up" {
			names = append(names, u.Name)
		}
	}
	return names
}

// unanswered describes the upstreams that do not answer, with the last output of their processes
// and a hint.
func unanswered(upstreams []operator.UpstreamStatus, c *config.Config) []Unanswered {
	var all []Unanswered
	for _, u := range upstreams {
		why := "does not answer: " + u.Error
		switch {
		case u.State == "up" && u.Error == "":
			continue
		case u.State == "up":
			why = "does not list its tools: " + strings.TrimPrefix(u.Error, "listing tools: ")
		case u.State == "starting":
			why = fmt.Sprintf("has not answered within %s", c.Startup)
		}
		text := fmt.Sprintf("%sthe upstream %s %s%s", positionOf(c, u.Name), u.Name, why, LastWords(u, "    "))
		if u.State == "starting" {
			text += fmt.Sprintf("\n  help: a first start may have to fetch the program; startup: %.0fs in the configuration waits longer", max(time.Minute, 2*c.Startup).Seconds())
		}
		all = append(all, Unanswered{u.Name, errors.New(text)})
	}
	return all
}

// positionOf returns the position of a server in the configuration.
func positionOf(c *config.Config, name string) string {
	for _, s := range c.Servers {
		if s.Name == name && s.Position.Line > 0 {
			return fmt.Sprintf("%s:%d:%d: ", s.Position.File, s.Position.Line, s.Position.Column)
		}
	}
	return ""
}

// LastWords returns the last output lines of the process of an upstream, indented.
func LastWords(u operator.UpstreamStatus, indent string) string {
	if len(u.Said) == 0 {
		return ""
	}
	return "\n" + indent[2:] + "it said:\n" + indent + strings.Join(u.Said, "\n"+indent)
}
