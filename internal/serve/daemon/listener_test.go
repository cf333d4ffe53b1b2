package daemon

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/config"
)

// quietLog discards all records. It is read-only.
var quietLog = slog.New(slog.DiscardHandler)

// listenLocal listens on a port of this machine until the test ends.
func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestSlowReaderIsDropped covers E010: a client that does not read is disconnected, while one that
// reads slowly receives everything.
func TestSlowReaderIsDropped(t *testing.T) {
	l := listenLocal(t)
	accepted := make(chan net.Conn, 2)
	s := newLimitListener(l, config.Listen{}, quietLog)
	go func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	for name, timeout := range map[string]time.Duration{"never": time.Millisecond, "reads": time.Minute} {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c, ok := (<-accepted).(*limitedConn)
		if !ok || c.timeout != writeTimeout {
			t.Fatalf("%T", c)
		}
		c.timeout = timeout
		sent := bytes.Repeat([]byte("0123456789abcdef"), 2<<20)
		got := make(chan []byte, 1)
		go func() {
			var all []byte
			if name == "reads" {
				all, _ = io.ReadAll(client)
			}
			got <- all
		}()
		n, err := c.Write(sent)
		_ = c.Close()
		all := <-got
		_ = client.Close()
		switch {
		case name == "never" && !errors.Is(err, os.ErrDeadlineExceeded):
			t.Errorf("%s: %d bytes, %v", name, n, err)
		case name == "reads" && (err != nil || n != len(sent) || !bytes.Equal(all, sent)):
			t.Errorf("%s: %d of %d bytes, %v", name, n, len(all), err)
		}
	}
}

// TestSlowReaderOfPiecesIsDropped covers E010: a client that takes ten seconds for each piece is
// disconnected like one that reads nothing, unless it reads enough pieces in that time.
func TestSlowReaderOfPiecesIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLimitListener(nil, config.Listen{}, quietLog)
		for piece, want := range map[int]int{16 << 10: 3, writeBytes / 4: 3, writeBytes / 2: 100, writeBytes: 100} {
			c := &limitedConn{Conn: &slowConn{}, timeout: s.timeout}
			taken := 0
			for ; taken < 100; taken++ {
				if _, err := c.Write(make([]byte, piece)); err != nil {
					break
				}
			}
			if taken != want {
				t.Errorf("pieces of %d bytes: %d were taken, want %d", piece, taken, want)
			}
		}
	})
}

// A slowConn is a connection whose writes each take ten seconds.
type slowConn struct {
	net.Conn
	deadline time.Time
}

func (c *slowConn) SetWriteDeadline(at time.Time) error {
	c.deadline = at
	return nil
}

func (c *slowConn) Write(b []byte) (int, error) {
	if time.Until(c.deadline) < 10*time.Second {
		return 0, os.ErrDeadlineExceeded
	}
	<-time.After(10 * time.Second) // fake time: no real time passes
	return len(b), nil
}

// TestExcessConnectionIsRefused checks that an excess connection receives the reason, and that the
// next connection is accepted once another one was closed.
func TestExcessConnectionIsRefused(t *testing.T) {
	s := newLimitListener(listenLocal(t), config.Listen{MaxConnections: 2}, quietLog)
	server := newServer(http.NotFoundHandler(), config.Listen{})
	left := make(chan struct{}, 4)
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			left <- struct{}{}
		}
	}
	go func() { _ = s.serve(server, true) }()
	defer func() { _ = server.Close() }()
	ask := func(c net.Conn) string {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		return strings.TrimSpace(line)
	}
	open := func() net.Conn {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	one, two := open(), open()
	for _, c := range []net.Conn{one, two} {
		if got := ask(c); got != "HTTP/1.1 404 Not Found" {
			t.Fatalf("one of two: %q", got)
		}
	}
	answer, _ := io.ReadAll(open()) // the connection may be closed before the response was read
	const want = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n" +
		"this proxy has too many open connections (listen.maxConnections)\n"
	if string(answer) != want {
		t.Errorf("the third is told %q", answer)
	}
	_ = one.Close()
	<-left
	if got := ask(open()); got != "HTTP/1.1 404 Not Found" {
		t.Errorf("after another has gone: %q", got)
	}
	if got := ask(two); got != "HTTP/1.1 404 Not Found" {
		t.Errorf("one that was there all the time: %q", got)
	}
}

// TestConnectionsPerAddress checks that one address leaves room for others.
func TestConnectionsPerAddress(t *testing.T) {
	at := func(ip string) netip.Addr { return limitKey(&net.TCPAddr{IP: net.ParseIP(ip), Port: 7}) }
	var said bytes.Buffer
	s := newLimitListener(nil, config.Listen{MaxConnections: 4}, slog.New(slog.NewTextHandler(&said, nil)))
	for i, c := range []struct {
		ip    string
		enter bool
	}{
		{"192.0.2.1", true}, {"::ffff:192.0.2.1", true}, {"192.0.2.1", false}, {"2001:db8::1", true},
		{"192.0.2.2", true}, {"192.0.2.3", false},
	} {
		if got := s.reserve(at(c.ip)); got != c.enter {
			t.Errorf("%d: %s: %v", i, c.ip, got)
		}
	}
	if n := strings.Count(said.String(), "too many connections are open; refusing new ones"); n != 1 {
		t.Errorf("it is said %d times that there are too many:\n%s", n, said.String())
	}
	s.release(at("192.0.2.2"))
	s.release(at("192.0.2.1"))
	for i, c := range []struct {
		ip    string
		enter bool
	}{{"2001:db8::2:1", true}, {"2001:db8:0:0:7::1", false}, {"2001:db8:0:1::1", true}, {"127.0.0.1", false}} {
		if got := s.reserve(at(c.ip)); got != c.enter {
			t.Errorf("then %d: %s: %v", i, c.ip, got)
		}
	}
	s = newLimitListener(nil, config.Listen{MaxConnections: 4}, quietLog)
	for i, ip := range []string{"127.0.0.1", "::1", "127.0.0.1", "127.0.0.1"} {
		if !s.reserve(at(ip)) {
			t.Errorf("%d of this machine is refused", i)
		}
	}
}

// TestConnectionLimitsFromConfiguration checks the default limits and the configured ones.
func TestConnectionLimitsFromConfiguration(t *testing.T) {
	own, said := newServer(nil, config.Listen{}), newServer(nil, config.Listen{
		MaxHeader: 8 << 10, Timeouts: config.Timeouts{Header: time.Second, KeepAlive: time.Hour},
	})
	if own.ReadHeaderTimeout != headerTimeout || own.IdleTimeout != idleTimeout || own.MaxHeaderBytes != headerBytes {
		t.Errorf("%v %v %v", own.ReadHeaderTimeout, own.IdleTimeout, own.MaxHeaderBytes)
	}
	if said.ReadHeaderTimeout != time.Second || said.IdleTimeout != time.Hour || said.MaxHeaderBytes != 8<<10 {
		t.Errorf("%v %v %v", said.ReadHeaderTimeout, said.IdleTimeout, said.MaxHeaderBytes)
	}
	if s := newLimitListener(nil, config.Listen{Timeouts: config.Timeouts{Write: time.Hour}, MaxConnections: 7}, quietLog); s.timeout != time.Hour || s.limit != 7 {
		t.Errorf("%v %d", s.timeout, s.limit)
	}
	if s := newLimitListener(nil, config.Listen{}, quietLog); s.limit < 1 || s.limit > maxConnections || s.limit > maxFiles()/2 {
		t.Errorf("%d connections of %d files", s.limit, maxFiles())
	}
}

// TestShutdownDrainsCalls checks that during a shutdown, calls either end by themselves or are
// canceled and answered.
func TestShutdownDrainsCalls(t *testing.T) {
	l := listenLocal(t)
	entered, release := make(chan struct{}), make(chan struct{})
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "answered")
	}), config.Listen{})
	go func() { _ = server.Serve(l) }()
	answer := make(chan string, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = r.Body.Close() }()
		b, _ := io.ReadAll(r.Body)
		answer <- string(b)
	}()
	<-entered
	early := func(ctx context.Context) error { // simulates that the time limit has passed
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return server.Shutdown(ctx)
	}
	if early(t.Context()) == nil {
		t.Error("nothing was waited for")
	}
	cut := false
	go func() { close(release) }()
	if err := shutdown(server, func() error { cut = true; return nil }); err != nil || cut {
		t.Error(err, cut)
	}
	if got := <-answer; got != "answered" {
		t.Error(got)
	}
}

// TestAnnounceToken compares the text that announces a new token.
func TestAnnounceToken(t *testing.T) {
	const want = `A token for clients was created and stored in state/token. Paste this into the client's configuration:

{
  "mcpServers": {
    "petrigate": {
      "type": "http",
      "url": "http://localhost:7777/mcp",
      "headers": { "Authorization": "Bearer 0123" }
    }
  }
}
`
	var b strings.Builder
	announceToken(&b, "0123", "state/token", "http://localhost:7777/mcp")
	if b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

// TestTokenIsShownOnlyAtTerminal checks that a token is shown at a terminal, and that a log names
// only its file.
func TestTokenIsShownOnlyAtTerminal(t *testing.T) {
	var log, say strings.Builder
	d := &Daemon{log: slog.New(slog.NewTextHandler(&log, nil))}
	d.reportToken(&say, "0123", "state/token", "http://localhost:7777/mcp")
	if !strings.Contains(say.String(), "Bearer 0123") || log.Len() != 0 {
		t.Errorf("%q, %q", say.String(), log.String())
	}
	d.reportToken(nil, "4567", "state/token", "http://localhost:7777/mcp")
	if !strings.Contains(log.String(), "file=state/token") || strings.Contains(log.String(), "4567") {
		t.Errorf("%q", log.String())
	}
}

// TestExposedModes checks that others must not be able to read tokens, except that a group may read
// those owned by root.
func TestExposedModes(t *testing.T) {
	for mode, want := range map[os.FileMode][2]bool{
		0o600: {false, false}, 0o400: {false, false}, 0o440: {true, false}, 0o640: {true, false},
		0o444: {true, true}, 0o460: {true, true}, 0o644: {true, true}, 0o604: {true, true},
	} {
		if got := [2]bool{exposed(mode, false), exposed(mode, true)}; got != want {
			t.Errorf("%o: %v, want %v", mode, got, want)
		}
	}
}

// TestParseTokens checks files with one token and with several named tokens, and that no error
// message contains any part of a token.
func TestParseTokens(t *testing.T) {
	const one, two = "0123456789abcdef", "fedcba9876543210"
	for text, want := range map[string]string{
		one:                                    one,
		" " + one + "\r\n\n":                   one,
		"# ours\n" + one + "\n":                one,
		"ann: " + one + "\nbob bee: " + two:    "ann=" + one + " bob bee=" + two,
		"# both\n" + two + "\nann: " + one:     two + " ann=" + one,
		"with:colon" + one:                     "with:colon" + one,
		"":                                     "!f contains no token of 16 characters or more",
		"# nothing":                            "!f contains no token of 16 characters or more",
		"short":                                "!f:1 contains no token of 16 characters or more",
		"ann: short":                           "!f:1 contains no token of 16 characters or more",
		"ann: " + one + "\nann: " + two:        "!f:2: this name already has a token",
		one + "\n" + two:                       "!f:2: several tokens need names: write name: token",
		one + " " + two:                        "!f:1: a token cannot contain a space; to give it a name, write name: token",
		"ann:  " + one + "\n: " + two + "\n":   "!f:2: the token has no name before its colon",
		"ann: " + one + "\nb: " + one + " x y": "!f:2: a token cannot contain a space; to give it a name, write name: token",
	} {
		got, err := parseTokens("f", text)
		all := got.unnamed
		for _, name := range []string{"ann", "bob bee"} {
			if got.named[name] != "" {
				all += " " + name + "=" + got.named[name]
			}
		}
		switch reason, fails := strings.CutPrefix(want, "!"); {
		case fails && (err == nil || err.Error() != reason):
			t.Errorf("%q: %v, want %q", text, err, reason)
		case !fails && (err != nil || strings.TrimSpace(all) != want):
			t.Errorf("%q: %q %v, want %q", text, all, err, want)
		}
	}
}
