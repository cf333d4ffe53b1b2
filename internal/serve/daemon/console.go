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

// errNoConsole is the error of a proxy whose configuration has console.http: off.
var errNoConsole = errors.New("this proxy has no console: its configuration says console.http: off")

// A consoleServer serves the console. Without an address of the configuration it begins to
// listen when somebody opens it.
type consoleServer struct {
	daemon *Daemon

	mu      sync.Mutex
	address string           // host:port; empty: it does not listen
	console *console.Console // nil: it does not listen
	stop    func()
	ended   bool
}

// maxConsoleConns is how many connections browsers may have open to the console.
const maxConsoleConns = 256

// listen returns the address and the console, which listens from now on.
func (s *consoleServer) listen() (string, *console.Console, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.daemon.config.Console
	switch {
	case c.HTTP == "off":
		return "", nil, errNoConsole
	case s.ended:
		return "", nil, errors.New("the proxy is ending")
	case s.console != nil:
		return s.address, s.console, nil
	}
	listener, err := listenAt(cmp.Or(c.HTTP, "127.0.0.1:0"), smallLimits(maxConsoleConns), s.daemon.log)
	if err != nil {
		return "", nil, listenError(c.HTTP, err)
	}
	s.address = listener.Addr().String()
	_, port, _ := net.SplitHostPort(s.address) // it is an address
	hosts := slices.Concat([]string{s.address, net.JoinHostPort("localhost", port), net.JoinHostPort("127.0.0.1", port)}, c.AllowedHosts)
	drafts := s.daemon.drafts()
	s.console = console.New(console.Options{
		Proxy: s.daemon, Pins: s.daemon.pins, Drafts: drafts, Grants: s.daemon.config.Approval.Grants >= 0, Hosts: hosts, Feed: s.daemon.feed, Past: s.daemon.pastRecords(),
		Way: (&guide{tools: s.daemon.offeredTools, met: s.daemon.agents, apart: s.daemon.separateSessions()}).way, Log: s.daemon.log,
	})
	server := newServer(s.console, config.Listen{})
	served := make(chan struct{})
	go func() { defer close(served); _ = listener.serve(server, false) }() // it ends with the server
	s.stop = func() {
		s.console.Close()
		_ = server.Close()
		<-served
		drafts.Close()
	}
	s.daemon.log.Info("serving the console", "url", "http://"+s.address+"/", "open", "petrigate open")
	return s.address, s.console, nil
}

// approvalPage is the address of the page of an approval; empty: there is none. It lets nobody in.
func (s *consoleServer) approvalPage(id string) string {
	address, _, err := s.listen()
	if err != nil {
		if !errors.Is(err, errNoConsole) {
			s.daemon.log.Error("no client can be sent to the page of an approval", "error", err)
		}
		return ""
	}
	return "http://" + address + "/inbox/" + id
}

// pastRecords is where the records of before are; nil: nowhere.
func (d *Daemon) pastRecords() trail.Source {
	switch {
	case d.database != nil:
		return trail.Database{Backend: d.database}
	case d.audit != nil:
		return trail.File(d.config.Audit.File)
	}
	return nil
}

// start listens where the configuration says so.
func (s *consoleServer) start() error {
	if at := s.daemon.config.Console.HTTP; at == "" || at == "off" {
		return nil
	}
	_, _, err := s.listen()
	return err
}

// close closes the console.
func (s *consoleServer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// OpenConsole returns the address of the console, with a code that lets one browser in as
// the person.
func (d *Daemon) OpenConsole(name, person, path string) (string, error) {
	address, c, err := d.console.listen()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://%s%s#%s", address, cmp.Or(path, "/"), c.Code(console.Person{Name: name, ID: person})), nil
}
