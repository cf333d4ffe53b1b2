package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/console"
)

// errNoConsole means that the configuration disables the console.
var errNoConsole = errors.New("this proxy has no console: console.http is off")

// A consoleServer serves the console. Unless the configuration specifies an address, it does not
// listen until the console is first opened.
type consoleServer struct {
	daemon *Daemon

	mu      sync.Mutex
	address string           // host:port; empty until the server listens
	console *console.Console // nil until the server listens
	stop    func()
	ended   bool
}

// maxConsoleConns is the maximum number of open connections to the console.
const maxConsoleConns = 256

// listen returns the console and its address. It starts listening if necessary.
func (s *consoleServer) listen() (string, *console.Console, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.daemon.config.Console
	switch {
	case c.HTTP == "off":
		return "", nil, errNoConsole
	case s.ended:
		return "", nil, errors.New("the proxy is shutting down")
	case s.console != nil:
		return s.address, s.console, nil
	}
	listener, err := listenAt(cmp.Or(c.HTTP, "127.0.0.1:0"), smallLimits(maxConsoleConns), s.daemon.log)
	if err != nil {
		return "", nil, listenError(c.HTTP, err)
	}
	s.address = listener.Addr().String()
	_, port, _ := net.SplitHostPort(s.address) // cannot fail: the listener reported the address
	hosts := slices.Concat([]string{s.address, net.JoinHostPort("localhost", port), net.JoinHostPort("127.0.0.1", port)}, c.AllowedHosts)
	drafts := s.daemon.drafts()
	s.console = console.New(console.Options{
		Proxy: s.daemon, Pins: s.daemon.pins, Drafts: drafts, Grants: s.daemon.config.Approval.Grants >= 0, Hosts: hosts, Feed: s.daemon.feed, Past: s.daemon.pastRecords(),
		Way: (&guide{remedies: s.daemon.remedies}).way, Log: s.daemon.log,
	})
	server := newServer(s.console, config.Listen{})
	served := make(chan struct{})
	go func() { defer close(served); _ = listener.serve(server, false) }() // Serve returns when the server is closed
	s.stop = func() {
		s.console.Close()
		_ = server.Close()
		<-served
		drafts.Close()
	}
	s.daemon.log.Info("serving the console", "url", "http://"+s.address+"/", "open", "petrigate open")
	return s.address, s.console, nil
}

// approvalPage returns the address of the console page for an approval, without a login code. It
// returns "" if the console is disabled.
func (s *consoleServer) approvalPage(id string) string {
	address, _, err := s.listen()
	if err != nil {
		if !errors.Is(err, errNoConsole) {
			s.daemon.log.Error("clients cannot be sent to the page of an approval", "error", err)
		}
		return ""
	}
	return "http://" + address + "/inbox/" + id
}

// pastRecords returns a source of the audit records stored so far, or nil if records are not
// stored.
func (d *Daemon) pastRecords() trail.Source {
	if log := d.recordedDecisions(); log != nil {
		return log.Source
	}
	return nil
}

// start starts listening if the configuration specifies an address.
func (s *consoleServer) start() error {
	if at := s.daemon.config.Console.HTTP; at == "" || at == "off" {
		return nil
	}
	_, _, err := s.listen()
	return err
}

// close stops serving the console.
func (s *consoleServer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// OpenConsole returns the address of the console page at path. The address includes a login code,
// which logs in one browser as the given person.
func (d *Daemon) OpenConsole(name, person, path string) (string, error) {
	address, c, err := d.console.listen()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://%s%s#%s", address, cmp.Or(path, "/"), c.Code(console.Person{Name: name, ID: person})), nil
}
