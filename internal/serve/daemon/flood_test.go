package daemon

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestIdleConnectionsGiveWay checks that a client that opens hundreds of connections does not keep
// any other client out of the endpoint or another listener. The client sends nothing, a part of a
// request, or a request without its complete body.
func TestIdleConnectionsGiveWay(t *testing.T) {
	for name, bounded := range map[string]bool{"clients": true, "beside": false} {
		for kind, said := range map[string]string{
			"nothing": "", "a part": "POST /login HTTP/1.1\r\nHost: x\r\n",
			"no body": "POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ncode=",
		} {
			if bounded && kind == "no body" {
				continue // the endpoint first requires a token, and limits the bodies sent by clients that have one
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				l, err := listenAt("127.0.0.1:0", config.Listen{MaxConnections: 16}, quietLog)
				if err != nil {
					t.Fatal(err)
				}
				server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(w, r.Body)
				}), config.Listen{})
				ended := make(chan struct{})
				go func() { defer close(ended); _ = l.serve(server, bounded) }()
				defer func() { _ = server.Close(); <-ended }()
				dial := func() net.Conn {
					c, err := net.Dial("tcp", l.Addr().String())
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = c.Close() })
					return c
				}
				flood := func() {
					for range 100 {
						_, _ = io.WriteString(dial(), said) // the connection may have been closed to make room
					}
				}
				flood()
				c := dial()
				for i := range 3 {
					body := fmt.Sprint("hello", i)
					_, _ = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
					r, err := http.ReadResponse(bufio.NewReader(c), nil)
					if err != nil {
						t.Fatal(i, err)
					}
					if got, err := io.ReadAll(r.Body); err != nil || string(got) != body {
						t.Errorf("%d: %q, %v", i, got, err)
					}
					if flood(); !bounded {
						c = dial() // an idle client may be disconnected, and reconnects
					}
				}
			})
		}
	}
}

// TestBusyConnectionStays checks that a connection with a request in flight is never closed to make
// room, and that an excess connection is refused if all are busy.
func TestBusyConnectionStays(t *testing.T) {
	l, err := listenAt("127.0.0.1:0", config.Listen{MaxConnections: 2}, quietLog)
	if err != nil {
		t.Fatal(err)
	}
	entered, release := make(chan struct{}, 2), make(chan struct{})
	server := newServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-release
	}), config.Listen{})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = l.serve(server, false) }()
	defer func() { _ = server.Close(); <-ended }()
	status := make(chan string, 2)
	for range 2 {
		go func() {
			r, err := http.Get("http://" + l.Addr().String())
			if err != nil {
				status <- err.Error()
				return
			}
			_ = r.Body.Close()
			status <- r.Status
		}()
		<-entered
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if answer, _ := io.ReadAll(c); !strings.HasPrefix(string(answer), "HTTP/1.1 503 ") {
		t.Errorf("one too many is told %q", answer)
	}
	close(release)
	for range 2 {
		if got := <-status; got != "200 OK" {
			t.Error(got)
		}
	}
}

// TestBodyTimeoutEndsRequest checks that a request ends if its body does not arrive in time, and
// that the limit does not apply to the response once the body has arrived.
func TestBodyTimeoutEndsRequest(t *testing.T) {
	l, err := listenAt("127.0.0.1:0", smallLimits(maxConsoleConns), quietLog)
	if err != nil {
		t.Fatal(err)
	}
	deadlines := make(chan bool, 4)
	read := func(r *http.Request) {
		c, _ := r.Context().Value(connKey{}).(*limitedConn)
		deadlines <- c.idleSince.Load() == busy
	}
	server := newServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		read(r)
		_, _ = io.ReadAll(r.Body)
		read(r)
	}), config.Listen{})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = l.serve(server, false) }()
	defer func() { _ = server.Close(); <-ended }()
	r, err := http.Post("http://"+l.Addr().String(), "text/plain", strings.NewReader("all of it"))
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if before, after := <-deadlines, <-deadlines; before || !after {
		t.Errorf("busy before the body is there: %v, after: %v", before, after)
	}
}

// TestAllListenersAreLimited checks that all listeners for requests are opened by listenAt, which
// limits them. Other listeners serve only the user, or tests.
func TestAllListenersAreLimited(t *testing.T) {
	others := map[string]string{
		"internal/serve/daemon/listener.go":                      "it is the one",
		"internal/serve/control/server.go":                       "a socket in a folder of the user",
		"internal/serve/oauth/callback.go":                       "of one login, in the process of the user",
		"internal/doctor/network.go":                             "whether a port is free",
		"internal/takeover/service.go":                           "whether a port is free",
		"internal/testserver/http.go":                            "for tests",
		"internal/runtime/store/postgres/postgrestest/proxy.go":  "for tests",
		"internal/runtime/store/postgres/postgrestest/server.go": "for tests",
	}
	root := "../../.."
	for _, dir := range []string{"cmd", "config", "gate", "internal", "proxy", "rules"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			for _, call := range []string{"net.Listen(", "net.ListenTCP(", "ListenConfig", "ListenAndServe("} {
				if strings.Contains(string(text), call) && others[filepath.ToSlash(name)] == "" {
					t.Errorf("%s calls %s: use listenAt", name, call)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
