package doctor

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/takeover"
	"github.com/petrigate/petrigate/internal/text"
)

// unansweredHooks returns a finding if petrigate connect has installed hooks for an agent but no
// proxy answers them.
func (d *Doctor) unansweredHooks(ctx context.Context, h takeover.HookInspection) []Finding {
	if !h.Kept {
		return nil
	}
	for _, program := range h.Programs {
		if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
			return []Finding{failed("petrigate connect "+h.Client+" --hooks", "%s runs %s as its hook, which does not exist", h.Title, text.Escape(program))}
		}
	}
	if i := slices.IndexFunc(h.There, func(t clientcfg.Hook) bool { return t.URL != "" }); i >= 0 {
		if at := refusingAddress(ctx, h.There[i].URL); at != "" {
			return []Finding{warning("petrigate serve --http "+at, "nothing listens at %s: every call from %s is refused until a proxy does", at, h.Title)}
		}
		return nil
	}
	ours := func(p operator.Status) bool { return sameFile(p.Config, d.Config) }
	if !d.isConnected(h.Client) && !slices.ContainsFunc(d.Proxies, ours) {
		return []Finding{warning("petrigate connect "+h.Client+" --hooks --service makes one a service; petrigate serve --http 127.0.0.1:7777 runs one now", "no proxy runs with this configuration: every call from %s is refused until one does", h.Title)}
	}
	return nil
}

// unansweredURL returns a finding for each URL on this machine where the client expects petrigate
// but nothing listens.
func unansweredURL(ctx context.Context, c takeover.Inspection) (all []Finding) {
	for _, e := range c.Entries {
		if at := refusingAddress(ctx, e.URL); e.Own && at != "" {
			all = append(all, warning("petrigate serve --http "+at, "nothing listens at %s, the address %s is connected to", at, c.Title))
		}
	}
	return all
}

// refusingAddress returns the address in a URL if it is on this machine and refuses connections,
// and "" otherwise.
func refusingAddress(ctx context.Context, at string) string {
	u, err := url.Parse(at)
	if err != nil || !daemon.IsLoopback(u.Hostname()) || u.Port() == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	switch {
	case err == nil:
		_ = c.Close()
	case errors.Is(err, syscall.ECONNREFUSED):
		return u.Host
	}
	return ""
}
