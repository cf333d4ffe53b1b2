package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/proxy"
)

// upstreams starts the upstreams, all together, and asks them for their tools.
func (d *Doctor) upstreams(ctx context.Context) []Finding {
	if d.loaded == nil {
		return nil
	}
	listing, err := daemon.ListTools(ctx, d.loaded, time.Second, d.Waiting)
	d.Done()
	if err != nil {
		return []Finding{failed("correct it; petrigate check --live says more", "the upstreams cannot be started: %v", err)}
	}
	d.tools = listing.Tools
	var all []Finding
	for _, u := range listing.Upstreams {
		all = append(all, upstream(u, listing.Began))
	}
	for _, left := range listing.LeftOut {
		all = append(all, warning("rename the tool, or give the server another prefix", "a tool is left out: %s", left))
	}
	for _, w := range listing.Warnings {
		if w == listing.Crowded {
			continue // it is said of the clients that are connected
		}
		all = append(all, warning("petrigate tools shows the names", "%s", w))
	}
	return all
}

// upstream says how a server has answered.
func upstream(u proxy.UpstreamStatus, began time.Time) Finding {
	switch {
	case u.State == "up" && u.Error != "":
		return failed("correct the server, or set disabled: true for "+u.Name, "%s does not list its tools: %s", u.Name, strings.TrimPrefix(u.Error, "listing tools: "))
	case u.State == "up":
		return ok("%s answers, within %s", u.Name, u.Since.Sub(began).Round(10*time.Millisecond))
	case u.State == "starting":
		return failed("wait longer by startup: 120s, or run its command by hand", "%s has not answered in time%s", u.Name, daemon.LastWords(u, "    "))
	}
	return failed(fmt.Sprintf("run its command by hand, or set disabled: true for %s", u.Name), "%s does not answer: %s%s", u.Name, u.Error, daemon.LastWords(u, "    "))
}
