package postgrestest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Server is a PostgreSQL server for a single test.
type Server struct {
	t    testing.TB
	bin  string
	dir  string // directory that contains the data and the socket
	port int
	as   []string // prefix of commands that run the server's programs as an unprivileged user
}

// Start starts a server, which is removed when the test ends. It skips the test if the environment
// variable [Variable] is not set or the server programs are not installed.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skipf("%s is not set, so no server is started either", Variable)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		t.Skip("/usr/lib/postgresql has no PostgreSQL server programs")
	}
	slices.Sort(found)
	dir, err := os.MkdirTemp("", "petrigate-pg")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, bin: filepath.Dir(found[len(found)-1]), dir: dir, port: freePort(t)}
	t.Cleanup(func() {
		s.Stop("immediate")
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if os.Geteuid() == 0 { // the server programs refuse to run as root
		s.as = []string{"setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"}
		s.command("chown", "nobody", dir)
	}
	s.command(s.program("initdb", "-D", dir+"/data", "-U", "petrigate", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")...)
	s.configure(append(settings, "unix_socket_directories='"+dir+"'", "listen_addresses=''", fmt.Sprintf("port=%d", s.port), "max_connections=200")...)
	s.Start()
	return s
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (s *Server) configure(settings ...string) {
	f, err := os.OpenFile(s.dir+"/data/postgresql.conf", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(settings, "\n") + "\n"); err != nil {
		s.t.Fatal(err)
	}
}

// program returns the command line of a server program.
func (s *Server) program(name string, args ...string) []string {
	return slices.Concat(s.as, []string{filepath.Join(s.bin, name)}, args)
}

func (s *Server) command(line ...string) {
	s.t.Helper()
	c := exec.Command(line[0], line[1:]...)
	c.Dir = s.dir
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Errorf("%s: %v\n%s", strings.Join(line, " "), err, out)
	}
}

// Start restarts the server after Stop.
func (s *Server) Start() {
	s.t.Helper()
	s.command(s.program("pg_ctl", "-D", s.dir+"/data", "-l", s.dir+"/log", "-w", "start")...)
}

// Stop stops the server. The mode is "fast", or "immediate" for a crash. Stop does nothing if the
// server is already stopped.
func (s *Server) Stop(mode string) {
	s.t.Helper()
	if _, err := os.Stat(s.dir + "/data/postmaster.pid"); err == nil {
		s.command(s.program("pg_ctl", "-D", s.dir+"/data", "-m", mode, "-w", "stop")...)
	}
}

// DSN returns the server's DSN.
func (s *Server) DSN() string {
	return fmt.Sprintf("host=%s port=%d user=petrigate dbname=postgres", s.dir, s.port)
}

// Run runs statements on the server.
func (s *Server) Run(sql string) {
	s.t.Helper()
	Run(s.t, s.DSN(), sql)
}

// Copy copies the server's data. The server is stopped while the data is copied.
func (s *Server) Copy() {
	s.t.Helper()
	s.Stop("fast")
	s.command("cp", "-a", s.dir+"/data", s.dir+"/copy")
	s.Start()
}

// Restore restarts the server with the data saved by [Server.Copy], and saves the current data as
// the new copy.
func (s *Server) Restore() {
	s.t.Helper()
	s.Stop("fast")
	s.command("mv", s.dir+"/data", s.dir+"/other")
	s.command("mv", s.dir+"/copy", s.dir+"/data")
	s.command("mv", s.dir+"/other", s.dir+"/copy")
	s.Start()
}
