package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/takeover"
	"github.com/petrigate/petrigate/internal/text"
)

// clientFiles checks the files of all installed clients.
func (d *Doctor) clientFiles(ctx context.Context) []Finding {
	d.Connected.Config = d.Config
	d.clients = d.Desk.Inspect(ctx, d.Connected)
	var all []Finding
	for _, c := range d.clients {
		all = append(append(all, d.checkClient(c)...), unansweredURL(ctx, c)...)
	}
	if len(all) == 0 {
		if agents, _ := d.Desk.HookedAgents(); len(agents) > 0 { // the checks in the group "hooks" report on these agents
			return nil
		}
		return []Finding{warning("petrigate connect --list shows where petrigate looks for their files", "no file of a known client was found")}
	}
	return all
}

func (d *Doctor) checkClient(c takeover.Inspection) []Finding {
	running := ""
	if c.Running != nil && *c.Running {
		running = ", and is running"
	}
	switch {
	case c.Connected == "gone":
		return []Finding{d.withReconnect(c, failed("quit "+c.Title+", and run petrigate connect "+c.Name, "%s has overwritten its file%s: the petrigate entry is missing (%s)", c.Title, running, c.File))}
	case c.Problem != "":
		return []Finding{warning("correct the file; petrigate does not edit files that it cannot read", "%s: %s", c.Title, c.Problem)}
	case !c.Exists:
		return nil
	case c.Connected == "no" && c.Servers == 0:
		return []Finding{ok("%s has no servers%s", c.Title, running)}
	case c.Connected == "no":
		return []Finding{warning(fmt.Sprintf("petrigate import %[1]s, then petrigate connect %[1]s", c.Name), "%s is not connected%s: it reaches %s without petrigate (%s)", c.Title, running, text.Count(c.Servers, "server"), c.File)}
	}
	own := list.Filter(c.Entries, func(e takeover.Entry) bool { return e.Own })
	return list.Map(own, func(e takeover.Entry) Finding { return d.checkEntry(c, e, running) })
}

// withReconnect returns the finding with a safe fix: to run petrigate connect for the client again.
// It adds no fix if the configuration cannot be loaded, or if the client is running and would
// overwrite its file.
func (d *Doctor) withReconnect(c takeover.Inspection, f Finding) Finding {
	if d.loaded == nil || d.Connected.Launch.Command == "" || c.Client.Overwrites && c.Running != nil && *c.Running {
		return f
	}
	return f.with("", func(ctx context.Context) error {
		n := d.Connected
		n.Client = c.Name
		return d.Desk.Connect(ctx, n)
	})
}

// checkEntry checks a client's configuration entry for petrigate. The parameter running is ", and
// is running" if the client is running, and empty otherwise. Messages about a connected client
// include this text.
func (d *Doctor) checkEntry(c takeover.Inspection, e takeover.Entry, running string) Finding {
	fix := "petrigate connect " + c.Name
	if e.URL != "" {
		return ok("%s is connected by URL%s", c.Title, running)
	}
	if !filepath.IsAbs(e.Command) {
		if filepath.Base(e.Command) == e.Command && find(d.Short, e.Command) != "" {
			return d.withReconnect(c, warning(fix, "%s starts petrigate as %q, the first one in its PATH", c.Title, e.Command))
		}
		return d.withReconnect(c, failed(fix, "%s starts petrigate as %q, which a desktop client cannot find", c.Title, e.Command))
	}
	info, err := os.Stat(e.Command)
	switch {
	case err != nil:
		return d.withReconnect(c, failed(fix, "%s starts %s, which does not exist", c.Title, e.Command))
	case older(info, e.Command, d.Program):
		return d.withReconnect(c, warning(fix, "%s starts %s, which is older than this petrigate (%s)", c.Title, e.Command, d.Program))
	case e.Config() != "" && !sameFile(e.Config(), d.Config):
		return warning(fix+" connects it to "+d.Config, "%s is connected%s, but with a different configuration: %s", c.Title, running, e.Config())
	}
	return ok("%s is connected%s", c.Title, running)
}

// older reports whether a program seems to be an older build of petrigate than the running one. It
// compares file times and module versions, and does not run the program.
func older(info os.FileInfo, program, ours string) bool {
	mine, err := os.Stat(ours)
	if err != nil || os.SameFile(info, mine) || !info.ModTime().Before(mine.ModTime()) {
		return false
	}
	a, known := mainVersion(program)
	b, own := mainVersion(ours)
	return !known || !own || a != b || a == "(devel)"
}

// directServers finds servers that connected clients reach directly instead of through petrigate.
func (d *Doctor) directServers(context.Context) []Finding {
	var all []Finding
	connected := 0
	for _, c := range d.clients {
		if c.Connected != "yes" {
			continue
		}
		connected++
		for _, e := range c.Entries {
			switch {
			case e.Own:
			case e.Served:
				all = append(all, d.withReconnect(c, failed("petrigate connect "+c.Name, "%s still reaches %s directly, so no rule applies to those calls", c.Title, e.Name)))
			default:
				all = append(all, warning(fmt.Sprintf("petrigate import %[1]s, then petrigate connect %[1]s", c.Name), "%s directly reaches %s, which is not in the configuration", c.Title, e.Name))
			}
		}
	}
	if connected > 0 && len(all) == 0 {
		return []Finding{ok("no connected client reaches a server without petrigate")}
	}
	return all
}
