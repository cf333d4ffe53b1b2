package daemon

import (
	"fmt"
	"log/slog"

	"github.com/petrigate/petrigate/internal/serve/narrate"
	"github.com/petrigate/petrigate/internal/text"
)

// newNarrator returns a narrator if the options ask for one, and nil otherwise. The narrator is in
// quiet mode while the log level is above info.
func newNarrator(o *Options, secrets masker) *narrate.Narrator {
	if o.Narration == nil {
		return nil
	}
	quiet := func() bool { return o.Level != nil && o.Level.Level() > slog.LevelInfo }
	return narrate.New(narrate.Options{Out: o.Narration, Ink: o.Ink, Quiet: quiet, Mask: secrets.Replace})
}

// headline returns the first line of the narration: a description of the policy, the servers and
// the listen address.
func (d *Daemon) headline() string {
	s := d.Status()
	policy := "no policy: every call passes"
	if n := len(d.Nets()); n > 0 {
		policy = fmt.Sprintf("policy %s of %s", s.Policy[:min(len(s.Policy), 12)], text.Count(n, "net"))
	}
	return fmt.Sprintf("%s, %s, at %s", policy, text.Count(len(s.Upstreams), "server"), s.Listen)
}
