// Package daemon runs a proxy from a configuration: it reads tokens and certificates, listens, logs
// without secrets, records decisions, serves operators at a control socket, and reviews the policy
// when the tools of the servers are known.
//
//	pol, problems, err := daemon.Policy(ctx, cfg)
//	...
//	d, err := daemon.New(daemon.Options{Config: cfg, Policy: pol, Known: problems})
//	...
//	defer d.Close()
//	err = d.Run(ctx, os.Stdin, os.Stdout, os.Stderr)
//
// A [Daemon] embeds the proxy and owns everything around it: the audit log or database, the
// channels of approvals, the console, the monitor, and the reloads. New opens these and starts
// nothing; Run starts them and serves clients until it is told to end; Close closes them in the
// reverse order.
//
// The configuration in force belongs to the reloads, whose mutex also serializes reloads. Reloads
// are triggered by operators, by hang-up signals, by changed files and by refreshed bases; each
// trigger has its own goroutine, which Run waits for. All listeners are limitListeners, which bound
// the connections in total and per address.
//
// Other functions of the package serve commands that do not run a proxy: they list the tools of
// servers, open audit logs, or check files that a configuration names.
package daemon

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/serve/narrate"
	"github.com/petrigate/petrigate/internal/serve/oauth"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// Options configures a Daemon. Config and Policy are required.
type Options struct {
	Config  *config.Config
	Policy  *policy.Result // see [Policy]
	Known   diag.List      // problems of the policy that were shown already; the review does not repeat them
	Log     slog.Handler   // nil: discard; receives no secrets of the configuration
	Version string

	// Load loads the configuration again, for [Daemon.Reload]; nil: reloads are not possible. Level
	// is the level of Log, which a reload changes; nil: it does not change.
	Load  func() (*config.Config, error)
	Level *slog.LevelVar
	Watch bool // reload when a file of the configuration changes

	// Narration receives what happens, one line per event, which Log then does not receive; nil: no
	// narration. Ink colors it.
	Narration io.Writer
	Ink       text.Ink

	HangUps <-chan struct{} // each value triggers a reload, see Load; may be nil

	// Tune allows the proxy to change GOMAXPROCS, because the process serves nothing else.
	Tune bool
}

// An InvalidError is a mistake in the configuration, or in a file that it names.
type InvalidError struct{ Err error }

// Error returns the message of the wrapped error.
func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *InvalidError) Unwrap() error { return e.Err }

// A Daemon is a proxy with everything that serves it. The caller must close it.
type Daemon struct {
	*proxy.Proxy
	config     *config.Config
	file       string                 // absolute path of the configuration; empty: no file
	listen     atomic.Pointer[string] // address for clients; nil: not listening yet
	secrets    *strings.Replacer
	log        *slog.Logger
	audit      *audit.Log // nil: no audit file
	feed       *audit.Feed
	database   *database // nil: states are in memory
	begun      atomic.Bool
	monitor    *monitor
	channels   []channel         // announce requests for approval
	narrator   *narrate.Narrator // nil: no narration
	processors *processors       // nil: GOMAXPROCS is not changed
	reloads    reloads
	bases      atomic.Pointer[[]operator.BaseInfo] // bases of the policy in force
	console    *consoleServer
	pins       *proxy.Pins // nil: definitions of tools are not pinned
	hangUps    <-chan struct{}
	tokens     []*oauth.Source
}

// New creates the proxy of a configuration. It starts nothing.
func New(o Options) (*Daemon, error) {
	c := o.Config
	if err := errTextOnly(c); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.DiscardHandler
	}
	d := &Daemon{config: c, secrets: mask(c.Secrets()), hangUps: o.HangUps}
	d.narrator = newNarrator(&o, d.secrets)
	d.log = slog.New(redacted(d.narrator.Log(o.Log), c.Secrets()))
	d.console = &consoleServer{daemon: d}
	if o.Tune {
		d.processors = newProcessors(c)
	}
	d.reloads = reloads{load: o.Load, watch: o.Watch, level: o.Level, config: c, result: o.Policy, review: newReview(c, o.Known), adopted: make(chan struct{}, 1)}
	if file, err := filepath.Abs(c.File); err == nil && c.File != "" {
		d.file = file
	}
	d.logBases(c)
	upstreams, err := d.upstreams()
	if err != nil {
		return nil, err
	}
	if err := d.openChannels(); err != nil {
		return nil, err
	}
	options := d.options(o)
	options.Upstreams, options.Record = upstreams, recordOptions(c)
	if c.Audit.File != "" {
		if d.audit, err = d.openAudit(); err != nil {
			return nil, err
		}
		options.Recorder = d.audit
	}
	if d.database, err = d.openState(); err != nil {
		return nil, errors.Join(err, d.closeRecords())
	}
	if d.database != nil {
		options.Database, options.Keep = d.database, c.Audit.Keep
	}
	if d.pins, err = d.openPins(); err != nil {
		return nil, errors.Join(err, d.closeRecords())
	}
	options.Pins = d.pins
	d.applyPolicy(o.Policy.Policy, &options)
	if d.monitor, err = newMonitor(c, d.log, o.Version); err == nil {
		d.monitor.observe(&options, d.processors)
		d.feed = audit.NewFeed(options.Recorder)
		options.Recorder = d.feed
		d.Proxy, err = proxy.New(options)
	}
	if err != nil {
		d.monitor.close()
		return nil, errors.Join(err, d.closeRecords())
	}
	return d, nil
}

// applyPolicy sets the options that depend on the policy, which may be nil.
func (d *Daemon) applyPolicy(p *gate.Policy, options *proxy.Options) {
	if p == nil {
		return
	}
	if p.Shadow() {
		d.log.Warn("the policy is in shadow: every call passes, and what would have been refused is recorded" + enforceHint(d.file))
	}
	finder := &remedyFinder{policy: p, tools: d.offeredTools, met: d.agents, apart: d.separateSessions()}
	options.Remedy, options.Impossible = finder.remedy, impossible(p)
}

// offeredTools returns the tools that can be called now.
func (d *Daemon) offeredTools() toolset { return d.Offered() }

// agents returns the agents whose hooks have reported calls.
func (d *Daemon) agents() []string { return d.Hooks.Agents() }

// separateSessions reports whether calls reported by hooks run in other sessions than those of MCP
// clients.
func (d *Daemon) separateSessions() bool {
	return d.config.Session.By == "" || d.config.Session.By == "connection"
}

// options returns the options of the proxy that need no file.
func (d *Daemon) options(o Options) proxy.Options {
	c := d.config
	return proxy.Options{
		Session: proxy.SessionWay(c.Session),
		Policy:  o.Policy.Policy, Active: o.Policy.Active, Advertise: c.Advertise, Pipefail: c.Shell.AddsPipefail(),
		Root: root(c.File), Startup: c.Startup, Logger: d.log, Version: o.Version, MaxRequest: c.Listen.MaxBody,
		Approval: proxy.Approval{
			Channels: c.Approval.Channels, Hold: c.Approval.Hold, Expire: c.Approval.Expire, Cooldown: c.Approval.Cooldown,
			Grants: cmp.Or(c.Approval.Grants, time.Hour), HoldFor: c.Approval.HoldFor, Mask: c.Approval.Mask, Page: d.console.approvalPage, PIN: c.Approval.PIN,
			Self: c.Approval.Self, People: c.Approval.People,
			Asked:    d.asked,
			Answered: d.narrator.Answered,
		},
	}
}

// asked announces that a call waits for an approval.
func (d *Daemon) asked(a operator.ApprovalInfo) {
	d.narrator.Asked(a)
	for _, c := range d.channels {
		c.asked(a)
	}
}

// Close ends the review, the proxy, the channels and the monitor, and then closes the records.
func (d *Daemon) Close() error {
	d.processors.useAll()
	d.reloads.close()
	err := d.Proxy.Close()
	d.closeChannels()
	d.recordEnd()
	d.narrator.End()
	for _, t := range d.tokens {
		t.Close()
	}
	d.monitor.close()
	return errors.Join(err, d.Leave(), d.closeRecords())
}

// closeRecords closes the database and the audit log.
func (d *Daemon) closeRecords() (err error) {
	if d.database != nil {
		err = d.database.Close()
	}
	if d.audit != nil {
		err = errors.Join(err, d.audit.Close())
	}
	return err
}

// root returns the folder of the configuration, or the working directory without a file.
func root(file string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	return dir
}
