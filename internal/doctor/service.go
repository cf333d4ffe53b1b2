package doctor

import (
	"slices"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/service"
	"github.com/petrigate/petrigate/internal/text"
)

// service checks whether the background service works, that is, whether a proxy with the service's
// configuration is listening. It returns no finding if the service is not installed.
func (d *Doctor) service() []Finding {
	if d.Services == nil {
		return nil
	}
	there, err := d.Services.Installed()
	listens := func(p operator.Status) bool { return p.Listen != "stdio" && sameFile(p.Config, there.Config) }
	switch {
	case err != nil:
		return []Finding{warning("check that file", "%v", err)}
	case there.Config == "":
		return nil
	case !slices.ContainsFunc(d.Proxies, listens):
		return []Finding{failed("see its log: "+d.Services.Log+"; petrigate connect AGENT --hooks --service reinstalls and starts it",
			"the service %s (%s) does not answer: no proxy listens with the configuration %s", service.Name, text.Escape(d.Services.File), text.Escape(there.Config))}
	}
	return []Finding{ok("the service %s runs the configuration %s", service.Name, text.Escape(there.Config))}
}
