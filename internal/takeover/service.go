package takeover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/service"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
)

// A HookService is the user service that petrigate connect --hooks offers to install. It runs the
// proxy that answers the hooks.
type HookService struct {
	Manager *service.Manager // service manager of this system; nil if the system has no supported one
	service.Service
	Listen string   // address that the proxy listens on
	Reads  []string // variables that the configuration reads and that are set in the current environment
	Memory bool     // whether each proxy keeps its states only in memory, so that proxies cannot share them

	Make bool // whether to install the service without asking
	Skip bool // whether to continue without offering a service

	barred bool // whether installing a service has proved impossible
}

// serve offers to install the service and, if the user accepts, installs and starts it. It reports
// whether a proxy responds afterwards. If the user declines, it returns false, even if a proxy is
// running.
func (s *HookService) serve(ctx context.Context, d *Driver) (answers bool, err error) {
	switch {
	case s == nil:
		return false, nil
	case s.Skip || !s.Make && (d.Yes || d.Ask == nil):
		return len(s.listening(d)) > 0, nil
	}
	unit, runs, reason := s.plan(ctx, d)
	switch {
	case reason != nil && s.Make && !errors.Is(reason, service.ErrNoManager):
		return false, fmt.Errorf("no service was created, and nothing was written: %w", reason)
	case reason != nil:
		d.say("note: no service was created: %s", text.Escape(reason.Error()))
		s.barred = true
		return len(s.listening(d)) > 0, nil
	case runs:
		return true, nil
	}
	before, err := s.Manager.Installed()
	if err != nil {
		return false, err
	}
	d.say("%s", strings.TrimSuffix(text.EscapeLines(textfile.Diff(s.Manager.File, []byte(before.Text), s.Manager.File+" (new)", []byte(unit))), "\n"))
	if !s.Make {
		yes, err := d.Ask(fmt.Sprintf("Run the proxy as your own service (%s), which starts now and when you log in?", s.Manager.Title))
		if err != nil || !yes {
			return false, err
		}
	}
	return true, s.start(ctx, d, before, unit)
}

// plan returns the content of the service file to write. If a service with this content is already
// running, plan returns true and no content. If no service can be installed, the error explains the
// reason.
func (s *HookService) plan(ctx context.Context, d *Driver) (unit string, runs bool, reason error) {
	m := s.Manager
	if m == nil {
		return "", false, service.ErrNoManager
	}
	there, err := m.Installed()
	if err != nil {
		return "", false, err
	}
	unit, err = m.Text(s.Service)
	if err != nil {
		return "", false, err
	}
	switch {
	case there.Exists && there.Config == "":
		return "", false, fmt.Errorf("%s exists, and petrigate did not write it", m.File)
	case there.Exists && there.Config != s.Config:
		return "", false, fmt.Errorf("the service runs a different configuration, %s. To remove it, run petrigate disconnect AGENT --hooks for each agent that uses it", there.Config)
	}
	variables, ok := m.Answers(ctx)
	if !ok {
		return "", false, service.ErrNoManager
	}
	if err := s.checkVariables(variables); err != nil {
		return "", false, err
	}
	listening := s.listening(d)
	if there.Text == unit && len(listening) > 0 {
		return "", true, nil
	}
	return unit, false, s.checkConflicts(d, there, listening)
}

// checkVariables returns an error if the configuration reads a variable that is not among the given
// variables of the service.
func (s *HookService) checkVariables(variables []string) error {
	lack := list.Filter(s.Reads, func(name string) bool { return !slices.Contains(variables, name) })
	switch {
	case len(lack) == 0:
		return nil
	case s.Manager.Variables != "":
		return fmt.Errorf("it would lack %s, which the configuration reads. Write a line NAME=VALUE for each to %s, readable only by you, and run the command again", text.And(lack), s.Manager.Variables)
	}
	return fmt.Errorf("it would lack %s, which the configuration reads. Write ${file:PATH} in the configuration instead of ${NAME}, with the value in a file readable only by you, and run the command again", text.And(lack))
}

// checkConflicts returns an error if a proxy is already running that would conflict with the
// service.
func (s *HookService) checkConflicts(d *Driver, there service.Installation, listening []Proxy) error {
	switch {
	case !there.Exists && len(listening) > 0:
		return fmt.Errorf("a proxy with this configuration is already running: process %d, %s. Stop it, and run the command again", listening[0].PID, listening[0].URL)
	case len(listening) > 0:
		return nil // this proxy is the service itself, started from an older service file
	}
	if others := d.startedBy(s.Config); s.Memory && len(others) > 0 {
		return fmt.Errorf("%s starts a proxy with this configuration too, and each would have its own state. Write state: { driver: sqlite } in the configuration", text.And(others))
	}
	l, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("it could not listen at %s: %w. Set another address with listen: { http: ... } in the configuration", s.Listen, text.Innermost(err))
	}
	return l.Close()
}

// startedBy returns the titles of the clients that start their own proxy with this configuration.
func (d *Driver) startedBy(config string) []string {
	starts := func(i Inspection) bool {
		return slices.ContainsFunc(i.Entries, func(e Entry) bool { return e.Own && e.URL == "" && e.Config() == config })
	}
	return list.Map(list.Filter(d.Inspect(context.Background(), Connection{}), starts), func(i Inspection) string { return i.Title })
}

// listening returns the running proxies that use the service's configuration and listen on an
// address.
func (s *HookService) listening(d *Driver) []Proxy {
	if d.Proxies == nil {
		return nil
	}
	return list.Filter(d.Proxies(), func(p Proxy) bool { return p.Config == s.Config && p.URL != "" })
}

// startWait is how long start waits for a response from the service.
const startWait = 20 * time.Second

// start installs and starts the service, and waits until it responds. If it does not, start
// restores the previous service.
func (s *HookService) start(ctx context.Context, d *Driver, before service.Installation, unit string) error {
	old := s.listening(d)
	err := d.records().locked(func() error { return s.Manager.Install(ctx, unit) })
	if err == nil {
		err = s.await(ctx, d, old)
	}
	if err == nil {
		d.say("The service %s runs the proxy: %s", service.Name, text.Escape(s.Manager.File))
		return nil
	}
	said := s.Manager.LastLogLines(context.WithoutCancel(ctx))
	if undo := s.restore(context.WithoutCancel(ctx), d, before); undo != nil {
		err = fmt.Errorf("%w; and removing it again failed: %v", err, undo)
	}
	if said != "" {
		err = fmt.Errorf("%w\nIts output:\n%s", err, text.EscapeLines([]byte(said)))
	} else {
		err = fmt.Errorf("%w\nTo see why, run the proxy by hand: %s", err, clientcfg.CommandLine(d.System, append([]string{"petrigate"}, s.Args...)))
	}
	return fmt.Errorf("starting the service failed, and nothing was written: %w", err)
}

// restore reinstalls the previous service or, if none was installed, removes the new one.
func (s *HookService) restore(ctx context.Context, d *Driver, before service.Installation) error {
	return d.records().locked(func() error {
		if before.Exists {
			return s.Manager.Install(ctx, before.Text)
		}
		return s.Manager.Remove(ctx)
	})
}

// await waits until a new proxy responds. It ignores the proxies in old, which were already
// running.
func (s *HookService) await(ctx context.Context, d *Driver, old []Proxy) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		for _, p := range s.listening(d) {
			if !slices.ContainsFunc(old, func(o Proxy) bool { return o.PID == p.PID }) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("it does not respond")
		case <-again.C:
		}
	}
}

// explainRunning prints which service or command runs the proxy for the agent's hooks.
func (s *HookService) explainRunning(d *Driver, h clientcfg.Hooks, serve []string, answers bool) {
	switch {
	case answers && s.installed():
		d.say("The proxy responds. It starts when you log in, as the service %s; its log: %s", service.Name, s.Manager.Log)
		return
	case answers:
		d.say("A proxy with this configuration responds. It must be running, or each call of %s's own tools is refused.", h.Title)
	default:
		if serve == nil {
			serve = []string{"petrigate", "serve"}
		}
		d.say("A proxy must be running, or each call of %s's own tools is refused: %s", h.Title, text.Escape(clientcfg.CommandLine(d.System, serve)))
	}
	if s != nil && s.Manager != nil && !s.Make && !s.barred {
		d.say("To run it as a service that starts when you log in: petrigate connect %s --hooks --service", h.Client)
	}
}

// installed reports whether a service is installed for this configuration.
func (s *HookService) installed() bool {
	if s == nil || s.Manager == nil {
		return false
	}
	there, err := s.Manager.Installed()
	return err == nil && there.Config == s.Config
}

// UsesService reports whether the named client's hooks might use the service. If so, the service
// might be unused once these hooks are removed. UsesService also returns true if the hooks have
// already been removed.
func (d *Driver) UsesService(m *service.Manager, name string) bool {
	if m == nil {
		return false
	}
	there, err := m.Installed()
	if err != nil || there.Config == "" {
		return false
	}
	for _, h := range d.InspectHooks() {
		if h.Client == name {
			return len(h.There) == 0 || h.mayAsk(d.System, there.Config)
		}
	}
	return false
}

// RemoveUnusedService removes the service if no agent uses it any longer and the user agrees.
func (d *Driver) RemoveUnusedService(ctx context.Context, m *service.Manager) error {
	there, err := m.Installed()
	if err != nil || there.Config == "" {
		return err
	}
	if others := d.usersOf(there.Config); len(others) > 0 {
		d.say("The service %s was kept, because it is still used by %s.", service.Name, text.And(others))
		return nil
	}
	if !d.Yes && d.Ask == nil {
		d.say("No agent uses the service %s any more; --yes removes it: %s", service.Name, text.Escape(m.File))
		return nil
	}
	err = d.Agree(fmt.Sprintf("No agent uses the service %s any more. Stop and remove it?", service.Name))
	switch {
	case errors.Is(err, ErrDeclined):
		d.say("The service %s was kept: %s", service.Name, text.Escape(m.File))
		return nil
	case err != nil:
		return err
	}
	if err := d.records().locked(func() error { return m.Remove(ctx) }); err != nil {
		return fmt.Errorf("removing the service %s, %s: %w", service.Name, m.File, err)
	}
	d.say("The service %s was stopped and removed.", service.Name)
	return nil
}

// usersOf returns the titles of the agents and clients that use a proxy with this configuration but
// do not start one themselves.
func (d *Driver) usersOf(config string) []string {
	asking := list.Filter(d.InspectHooks(), func(h HookInspection) bool { return h.mayAsk(d.System, config) })
	titles := list.Map(asking, func(h HookInspection) string { return h.Title })
	for _, i := range d.Inspect(context.Background(), Connection{}) {
		if !slices.Contains(titles, i.Title) && slices.ContainsFunc(i.Entries, func(e Entry) bool { return e.Own && isLocal(e.URL) }) {
			titles = append(titles, i.Title)
		}
	}
	return titles
}

// isLocal reports whether a URL refers to this machine.
func isLocal(at string) bool {
	u, err := url.Parse(at)
	if err != nil || at == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}
