package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/jsondiff"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/toolpin"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// Pins holds the accepted definitions of tools. The first definition seen for a tool counts as
// accepted until a person accepts another one. Pins belongs to one [Proxy] and is safe for
// concurrent use.
type Pins struct {
	guard toolpin.Guard
	proxy *Proxy
}

// OpenPins reads pins (accepted tool definitions) from a file, which need not exist yet. If enforce
// is true, a tool whose definition has not been accepted is not listed and cannot be called;
// otherwise, it only causes a warning. OpenPins returns an error if the file exists but cannot be
// read or is invalid.
func OpenPins(file string, enforce bool) (*Pins, error) {
	book, err := toolpin.Open(file, time.Now)
	if err != nil {
		return nil, err
	}
	return &Pins{guard: toolpin.Guard{Store: book, Enforce: enforce}}, nil
}

// A PinDatabase stores pins (accepted tool definitions) for proxies on several machines.
type PinDatabase = backend.Pins

// SharedPins returns pins that are stored in a database. The database need not be available yet.
// For tools without a pin in the database, the pins are imported from the given file, which was
// written by [OpenPins]. The file need not exist.
func SharedPins(d PinDatabase, file string, enforce bool, log *slog.Logger) (*Pins, error) {
	var before []toolpin.Pin
	if file != "" {
		book, err := toolpin.Open(file, time.Now)
		if err != nil {
			return nil, err
		}
		before = book.Pins()
	}
	return &Pins{guard: toolpin.Guard{Store: toolpin.NewTable(d, before, time.Now, log.With("file", file)), Enforce: enforce}}, nil
}

// maxToolDifferences is the maximum number of differences listed per tool.
const maxToolDifferences = 50

// attach makes the proxy compare the definitions of its tools with the pins. If p is nil, attach
// does nothing.
func (p *Pins) attach(to *Proxy) {
	if p != nil {
		p.proxy = to
		to.pool.Catalogue.Pins, to.pool.Catalogue.Noticed = &p.guard, p.note
	}
}

// follow keeps the pins up to date until the proxy shuts down. It reads them again whenever another
// process may have accepted a definition. If p is nil, follow does nothing.
func (p *Pins) follow(w *store.Watcher) {
	if p == nil {
		return
	}
	woken := wait.NewSignal()
	w.Register(func(context.Context) { woken.Send() }) // return immediately, because the watcher calls its functions one after another
	of := p.proxy
	of.life.Background(func() {
		for wait.For(of.life.Ctx, woken) {
			if of.pool.Repin(of.life.Ctx) {
				of.relay.Announce(spec.ListChanged)
			}
		}
	})
}

// Changes lists the tools whose definitions have not been accepted, in list order.
func (p *Pins) Changes() []operator.ToolChange {
	list := []operator.ToolChange{}
	for _, t := range p.unacceptedTools() {
		list = append(list, p.describe(t))
	}
	return list
}

// unacceptedTools returns the tools whose definitions have not been accepted.
func (p *Pins) unacceptedTools() []*pool.Tool {
	if p == nil {
		return nil
	}
	return p.proxy.pool.Catalogue.Load().Changed
}

func (p *Pins) describe(t *pool.Tool) operator.ToolChange {
	now := t.SentDefinition()
	c := operator.ToolChange{
		Canonical: t.Canonical, Exposed: t.Exposed, Upstream: now.Server, Quarantined: p.guard.Enforce,
		Why: t.Unaccepted, Hash: now.Hash(), Differences: []operator.Difference{},
	}
	was := json.RawMessage(`{}`)
	if pin, known := p.guard.Store.Find(now.Server, now.Tool); known {
		c.Accepted, c.By, was = pin.Since, pin.By, pin.Text
	}
	var changes []jsondiff.Change
	changes, c.MoreDifferences = jsondiff.Compare(was, now.Text, maxToolDifferences, nil)
	for _, change := range changes {
		c.Differences = append(c.Differences, operator.Difference(change))
	}
	return c
}

// Accept accepts the current definition of a tool. The hash identifies the definition that the
// operator has seen in a [ToolChange]. If the tool's definition is now a different one, Accept
// returns an error.
func (p *Pins) Accept(canonical, hash string, a operator.Actor) error {
	changed := p.unacceptedTools()
	at := slices.IndexFunc(changed, func(t *pool.Tool) bool { return t.Canonical == canonical })
	if at < 0 {
		return fmt.Errorf("tool %q has no change to accept", canonical)
	}
	now := changed[at].SentDefinition()
	if now.Hash() != hash {
		return fmt.Errorf("the definition of %s has changed since it was shown, so it was not accepted; look at it again", canonical)
	}
	of := p.proxy
	if err := of.checkOrderPIN(a, "", "accept the tool "+canonical); err != nil {
		return err
	}
	if err := of.admission.Note(of.life.Ctx, "accept", "", a.Name, canonical+" by the definition "+hash); err != nil {
		return err
	}
	if err := p.guard.Store.Accept(of.life.Ctx, now, a.Name); err != nil {
		return err
	}
	of.relist()
	return nil
}

// note writes an audit record about a server that has changed the definition of a tool.
func (p *Pins) note(t *pool.Tool) {
	c := p.describe(t)
	reason := c.Why + "; it is " + c.Hash + " now"
	if pin, known := p.guard.Store.Find(c.Upstream, t.Name); known {
		reason += ", and " + pin.Hash() + " is accepted"
	}
	if c.Quarantined {
		reason += "; the tool is quarantined"
	}
	event := audit.Definition{Time: p.proxy.life.Now(), Event: "definition", Tool: c.Canonical, Reason: audit.Bounded(reason)}
	if err := p.proxy.admission.Append(p.proxy.life.Ctx, event); err != nil {
		p.proxy.life.Log.Error("cannot record the change of a tool", "tool", c.Canonical, "error", err)
	}
}
