package daemon

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/proxy"
)

// New creates a daemon and its proxy, but does not start either of them.
func New(o Options) (*Daemon, error) {
	c := o.Config
	if err := errTextOnly(c); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.DiscardHandler
	}
	d := &Daemon{config: c, secrets: mask(c.Secrets())}
	d.narrator = newNarrator(&o, d.secrets)
	d.log = slog.New(redacted(d.narrator.Log(o.Log), c.Secrets()))
	d.console = &consoleServer{daemon: d}
	if o.Tune {
		d.processors = newProcessors(c)
	}
	d.reloads = reloads{load: o.Load, watch: o.Watch, level: o.Level, config: c, result: o.Policy, review: newReview(c, o.Known), adopted: make(chan struct{}, 1)}
	d.triggers = &reloadTriggers{reloads: &d.reloads, reload: d.Reload, hangUps: o.HangUps, log: d.log}
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
	options.Upstreams = upstreams
	if c.Audit.File != "" {
		if d.audit, err = d.openAudit(); err != nil {
			return nil, err
		}
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
	if d.monitor, err = newMonitor(c, d.log, d.secrets, o.Version); err == nil {
		d.monitor.observe(&options, d.processors)
		d.feed = d.monitor.feed(d.audit)
		options.Recorder = d.feed
		d.Proxy, err = proxy.New(options)
		d.monitor.proxy = d.Proxy
	}
	if err != nil {
		d.monitor.close()
		return nil, errors.Join(err, d.closeRecords())
	}
	return d, nil
}

// applyPolicy sets the proxy options that depend on the policy. p is nil if no policy is
// configured.
func (d *Daemon) applyPolicy(p *gate.Policy, options *proxy.Options) {
	if p == nil {
		return
	}
	if p.Shadow() {
		d.log.Warn("the policy is in shadow mode: every call passes, and petrigate records what the policy would refuse" + enforceHint(d.file))
	}
	options.Remedy, options.Impossible = d.remedies(p).remedy, impossibleTools(p)
}

// options returns the proxy options that can be set without opening any files.
func (d *Daemon) options(o Options) proxy.Options {
	c := d.config
	return proxy.Options{
		Session: proxy.SessionWay(c.Session),
		Policy:  o.Policy.Policy, Active: o.Policy.Active, Advertise: c.Advertise, Pipefail: c.Shell.AddsPipefail(),
		Record: proxy.Record{Arguments: c.Audit.Arguments, Mask: c.Audit.Mask, Files: policyFiles(c)},
		Root:   root(c.File), Startup: c.Startup, Logger: d.log, Version: o.Version, MaxRequest: c.Listen.MaxBody,
		Approval: proxy.Approval{
			Channels: c.Approval.Channels, Hold: c.Approval.Hold, Expire: c.Approval.Expire, Cooldown: c.Approval.Cooldown,
			Grants: cmp.Or(c.Approval.Grants, time.Hour), HoldFor: c.Approval.HoldFor, Mask: c.Approval.Mask, Page: d.console.approvalPage, PIN: c.Approval.PIN,
			Self: c.Approval.Self, People: c.Approval.People,
			Asked:    d.announce,
			Answered: d.narrator.Answered,
		},
	}
}

// announce informs people through all channels that a call is waiting for approval.
func (d *Daemon) announce(a operator.ApprovalInfo) {
	d.narrator.Asked(a)
	for _, c := range d.channels {
		c.announce(a)
	}
}

// Close stops the review, the proxy, the channels and the monitor, in that order, and then closes
// the database and the audit log.
func (d *Daemon) Close() error {
	d.processors.useAll()
	d.reloads.close()
	err := d.Proxy.Close()
	d.channels.close()
	if d.begun.Load() {
		d.Finish()
	}
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

// root returns the directory of the configuration file. Without a configuration file, it returns
// the working directory.
func root(file string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	return dir
}

// openState opens the configured database, or returns nil if none is configured. An unreachable
// database is not an error, because it can be opened later; a database that can never be used is an
// error.
func (d *Daemon) openState() (*database, error) {
	db, err := newDatabase(d.config, d.log)
	if db == nil || err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	if err := db.Try(ctx); errors.Is(err, backend.ErrUnusable) {
		return nil, &InvalidError{err}
	}
	return db, nil
}
