package daemon

import (
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/desktop"
)

// A desktopChannel shows a desktop notification for each approval request. It cannot receive
// answers.
type desktopChannel struct{ notifier *desktop.Notifier }

// openDesktop opens the desktop channel if approval.desktop enables it.
func openDesktop(d *Daemon) (channel, error) {
	if !d.config.Approval.Desktop {
		return nil, nil
	}
	return desktopChannel{desktop.New(d.log)}, nil
}

func (c desktopChannel) announce(a operator.ApprovalInfo) {
	c.notifier.Show(desktop.Line(a.ID, a.Tool, a.Upstream, a.Principal, a.Client))
}

func (c desktopChannel) start() (stop func(), err error) { return func() {}, nil }

func (c desktopChannel) describe(*operator.Status) {}

func (c desktopChannel) close() { c.notifier.Close() }
