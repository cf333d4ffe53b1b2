// Package doctor looks for what breaks in practice: a configuration that does not load, files that
// others may write, commands that desktop programs do not find, clients that reach servers without
// petrigate. Each finding names its fix. A fix that is safe is applied after the user agrees.
//
// A [Doctor] holds what the checks need to know about the machine. [Doctor.Examine] runs the checks
// in a fixed order of groups and returns a [Report] with one [Finding] per thing that was checked.
// [Doctor.Mend] applies the safe fixes of a report and runs the affected groups again.
//
// Later groups use the results of earlier ones, which the Doctor stores: the loaded configuration,
// the built policy, the files of clients, and the tools of the upstreams. A group whose input is
// missing because an earlier group failed reports nothing. A Doctor is used by one goroutine; only
// the clock check queries the upstreams concurrently.
//
// The doctor starts the upstreams to list their tools. It starts no other program: it reads
// versions from files.
package doctor

import (
	"os"
	"slices"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/service"
	"github.com/petrigate/petrigate/internal/takeover"
)

// A Doctor holds what the checks need to know about this machine, and the results that later checks
// use. Its exported fields are set by the caller before Examine.
type Doctor struct {
	Config    string                             // path of the configuration; "": no configuration exists
	Trusts    func(path string, src []byte) bool // accepts a file found in the working directory, see [config.Options]; nil: Config was named
	Desk      *takeover.Driver
	Program   string            // path of this program
	Short     []string          // PATH of programs started from the desktop
	Proxies   []operator.Status // running proxies
	Services  *service.Manager  // service manager of this user; nil: not supported
	StateDir  string
	Now       func() time.Time
	Waiting   func(servers []string) // called while servers have not answered
	Done      func()                 // called when all servers have answered or failed
	Connected takeover.Connection    // what connect would write, without the client

	loaded   *config.Config // nil: the configuration does not load
	result   *policy.Result // nil: the policy does not build
	clients  []takeover.Inspection
	tools    []check.ListedTool
	answered bool // all upstreams have listed their tools
}

// connectedTo returns the title of the client if it is connected, or "".
func (d *Doctor) connectedTo(name string) string {
	i := slices.IndexFunc(d.clients, func(c takeover.Inspection) bool { return c.Name == name && c.Connected == "yes" })
	if i < 0 {
		return ""
	}
	return d.clients[i].Title
}

// sameFile reports whether two paths lead to the same file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, failed := os.Stat(b)
	if err != nil || failed != nil {
		return a == b
	}
	return os.SameFile(one, other)
}
