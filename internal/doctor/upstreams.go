package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// upstreams starts all upstreams, asks them for their tools, and returns the findings.
func (d *Doctor) upstreams(ctx context.Context) []Finding {
	if d.loaded == nil {
		return nil
	}
	listing, err := daemon.ListTools(ctx, d.loaded, time.Second, d.Waiting)
	d.Done()
	if err != nil {
		return []Finding{failed("correct it; see petrigate check --live", "the upstreams cannot be started: %v", err)}
	}
	d.tools, d.answered = listing.Tools, len(listing.Unanswered) == 0
	all := slices.Concat(
		list.Map(listing.Upstreams, func(u operator.UpstreamStatus) Finding { return upstream(u, listing.Began, d.remote(u.Name)) }),
		list.Map(listing.LeftOut, func(left string) Finding { return warning(leftOutFix(left), "a tool is omitted: %s", left) }),
	)
	for _, w := range listing.Warnings {
		if w == listing.Crowded {
			continue // the check of the clients' limits has already reported this problem
		}
		all = append(all, warning("petrigate tools shows the names", "%s", w))
	}
	return all
}

// leftOutFix returns a fix for a tool that the proxy leaves out for the given reason.
func leftOutFix(reason string) string {
	switch {
	case strings.Contains(reason, " is quarantined: "):
		return "while a proxy runs, petrigate tools diff shows the changes and petrigate tools accept accepts them"
	case strings.Contains(reason, " is outside "):
		return "rename the tool at the server: no client can call it by that name"
	}
	return "rename the tool, or give the server another prefix"
}

// remote reports whether the upstream with the given name has a URL, rather than a command to run.
func (d *Doctor) remote(name string) bool {
	return slices.ContainsFunc(d.loaded.Servers, func(s config.Server) bool { return s.Name == name && s.URL != "" })
}

// upstream returns the finding for one upstream.
func upstream(u operator.UpstreamStatus, began time.Time, remote bool) Finding {
	try := "run its command by hand"
	if remote {
		try = "check its url, and whether it is reachable from here"
	}
	switch {
	case u.State == "up" && u.Error != "":
		return failed("correct the server, or set disabled: true for "+u.Name, "%s does not list its tools: %s", u.Name, strings.TrimPrefix(u.Error, "listing tools: "))
	case u.State == "up":
		return ok("%s answered within %s", u.Name, u.Since.Sub(began).Round(10*time.Millisecond))
	case u.State == "starting":
		return failed("set startup: 120s to wait longer, or "+try, "%s did not answer in time%s", u.Name, daemon.LastWords(u, "    "))
	}
	return failed(fmt.Sprintf("%s, or set disabled: true for %s", try, u.Name), "%s does not answer: %s%s", u.Name, u.Error, daemon.LastWords(u, "    "))
}
