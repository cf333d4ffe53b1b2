// Package doctor looks for problems that occur in practice: configurations that cannot be loaded,
// files that other users can write to, commands that desktop programs cannot find, and clients that
// reach servers without petrigate. Each finding about a problem names a fix. The doctor can apply
// safe fixes if the user agrees.
//
// A [Doctor] holds what the checks need to know about the machine. [Doctor.Examine] runs the checks
// in a fixed order of groups and returns a [Report] with one [Finding] for each item that was
// checked. [Doctor.Mend] applies the safe fixes in a report and runs the groups again, except those
// that query the upstreams.
//
// Later groups use results that earlier groups have stored in the Doctor: the loaded configuration,
// the built policy, the clients' files, and the upstreams' tools. If an earlier group has failed to
// provide a result, the groups that need it report nothing. A Doctor is not safe for concurrent
// use. Only the clock check starts goroutines: it queries all upstreams at once.
//
// The doctor starts the upstreams to list their tools. On systems other than Linux, it also starts
// a system program that lists the running processes. It starts no other programs. To find out the
// version of a program, it reads files.
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

// A Doctor holds what the checks need to know about this machine, and results for later checks. The
// exported fields must be set before calling Examine.
type Doctor struct {
	Config    string                             // path of the configuration; empty if the user has none
	Trusts    func(path string, src []byte) bool // reports whether the user trusts a file in the working directory (see [config.Options]); nil if the user named Config explicitly
	Desk      *takeover.Driver
	Program   string            // path of the running program
	Short     []string          // PATH variable of programs started from the desktop
	Proxies   []operator.Status // running proxies
	Services  *service.Manager  // user's service manager; nil if not supported
	StateDir  string
	Now       func() time.Time
	Waiting   func(servers []string) // called, possibly repeatedly, with the names of the servers that have not answered yet
	Done      func()                 // called when all servers have answered or failed
	Connected takeover.Connection    // arguments of petrigate connect, used to recognize and repair the entries that it writes

	loaded   *config.Config // nil if the configuration cannot be loaded
	result   *policy.Result // nil if the policy cannot be built
	clients  []takeover.Inspection
	tools    []check.ListedTool
	answered bool // whether every upstream has listed its tools
}

// isConnected reports whether the client with the given name is connected to petrigate.
func (d *Doctor) isConnected(name string) bool {
	return slices.ContainsFunc(d.clients, func(c takeover.Inspection) bool { return c.Name == name && c.Connected == "yes" })
}

// sameFile reports whether both paths refer to the same file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, failed := os.Stat(b)
	if err != nil || failed != nil {
		return a == b
	}
	return os.SameFile(one, other)
}
