package daemon

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/operator"
)

// Status returns the status of the proxy, including its configuration file, its listen address and
// its audit log. Secrets are masked, because the last output of a server may contain some.
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
	d.secrets.maskUpstreams(s.Upstreams)
	return s
}

// hasSilentUpstreams reports whether any upstream is in a state other than "up".
func (d *Daemon) hasSilentUpstreams() bool {
	return slices.ContainsFunc(d.Overview().Upstreams, func(u operator.UpstreamStatus) bool { return u.State != "up" })
}

// LastWords returns the last lines that the upstream's process wrote to stderr, each with the given
// indent. A line break and an introductory line precede them. The introductory line is indented by
// two bytes less, so the indent must be at least two bytes long. If u has no such lines, for
// example because the upstream is not down, LastWords returns "".
func LastWords(u operator.UpstreamStatus, indent string) string {
	if len(u.Said) == 0 {
		return ""
	}
	return "\n" + indent[2:] + "it said:\n" + indent + strings.Join(u.Said, "\n"+indent)
}
