package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/operator"
)

func TestMain(m *testing.M) {
	if len(os.TempDir()) > 28 { // otherwise the paths of sockets would be too long
		_ = os.Setenv("TMPDIR", "/tmp")
	}
	leftover.Main(m)
}

// unused provides those methods of a proxy that the server does not call.
type unused struct{ operator.Proxy }

// A fakeProxy returns fixed answers and records the orders that it receives.
type fakeProxy struct {
	unused

	version string
	err     error // returned by all methods that can fail
	told    []string

	summaries int // number of ListSessions calls

	changed chan struct{} // closed when an approval next changes
	mu      sync.Mutex
	looks   int       // number of Approvals calls
	expires time.Time // expiry of the approval; zero if it never expires

	tools chan struct{} // if not nil, the tools are unknown until it is closed
	asked chan struct{} // receives a value when a request waits for the tools
}

func (b *fakeProxy) tell(format string, args ...any) error {
	b.told = append(b.told, fmt.Sprintf(format, args...))
	return b.err
}

func (b *fakeProxy) Status() operator.Status {
	b.summaries++
	return operator.Status{Version: b.version}
}

func (b *fakeProxy) AwaitTools(ctx context.Context) {
	if b.tools == nil {
		return
	}
	b.asked <- struct{}{}
	select {
	case <-b.tools:
	case <-ctx.Done():
	}
}

func (b *fakeProxy) Tools(session string) ([]operator.ToolInfo, error) {
	return []operator.ToolInfo{{Exposed: "delete"}}, b.tell("tools of %q", session)
}

func (b *fakeProxy) ToolChanges() []operator.ToolChange {
	return []operator.ToolChange{{Canonical: "fs.read", Hash: "h1"}}
}

func (b *fakeProxy) AcceptTool(tool, hash string, a operator.Actor) error {
	return b.tell("accept %q %q %q %q", tool, hash, a.Name, a.PIN)
}

func (b *fakeProxy) Approvals() []operator.ApprovalInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks++
	list := []operator.ApprovalInfo{{ID: "ap_1", State: operator.Pending, Arguments: json.RawMessage(`{"a":1e400}`), Expires: b.expires}}
	if b.expires.IsZero() {
		list[0].Expires = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	} else if !time.Now().Before(b.expires) {
		list[0].State = operator.Expired
	}
	return list
}

func (b *fakeProxy) Approval(id string) (operator.ApprovalInfo, error) {
	return operator.ApprovalInfo{ID: id, Question: "May it?"}, b.tell("approval %q", id)
}

func (b *fakeProxy) ApprovalsChanged() <-chan struct{} { return b.changed }

func (b *fakeProxy) Answer(id string, a operator.Answer) error {
	if proven := runtime.GOOS == "linux" || runtime.GOOS == "darwin"; proven != (a.Person == fmt.Sprint("uid ", os.Getuid())) {
		return fmt.Errorf("the person is %q", a.Person)
	}
	if a.Grant != nil {
		return b.tell("grant %q %s %q", id, a.Grant.For, a.Grant.Like)
	}
	return b.tell("resolve %q via %s %t %q %q %q", id, a.Channel, a.Approve, a.Actor, a.Reason, a.Shown)
}

func (b *fakeProxy) Grants() []operator.GrantInfo { return []operator.GrantInfo{{ID: "gr_1"}} }

func (b *fakeProxy) Revoke(id, actor string) error { return b.tell("revoke %q %q", id, actor) }

func (b *fakeProxy) AllSessions() ([]operator.SessionInfo, error) {
	return []operator.SessionInfo{{ID: "s/1"}}, b.err
}

func (b *fakeProxy) ListSessions() ([]operator.SessionInfo, error) { return b.AllSessions() }

func (b *fakeProxy) Session(id string) (operator.SessionInfo, error) {
	return operator.SessionInfo{ID: id}, b.err
}

func (b *fakeProxy) Shadow(session string) (operator.ShadowInfo, error) {
	return operator.ShadowInfo{Refused: 3}, b.tell("shadow of %q", session)
}

func (b *fakeProxy) ResetSession(id string, a operator.Actor) error {
	return b.tell("reset %q %q %q", id, a.Name, a.PIN)
}

func (b *fakeProxy) SettleCall(session string, call uint64, success bool, a operator.Actor) error {
	return b.tell("settle %q %d %t %q %q", session, call, success, a.Name, a.PIN)
}

func (b *fakeProxy) Stop(session, actor, reason string) (operator.Stopping, error) {
	return operator.Stopping{Shared: true}, b.tell("stop %q %q %q", session, actor, reason)
}

func (b *fakeProxy) StartAgain(session string, a operator.Actor) (operator.Stopping, error) {
	return operator.Stopping{Already: true}, b.tell("start %q %q %q", session, a.Name, a.PIN)
}

func (b *fakeProxy) Nets() []operator.PolicyNet {
	return []operator.PolicyNet{{Name: "n/1", Active: true}}
}

func (b *fakeProxy) SwitchNet(name string, on bool, a operator.Actor) error {
	return b.tell("switch %q %t %q %q", name, on, a.Name, a.PIN)
}

// socketDir returns a directory whose path is short enough for sockets.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "run")
}

func listen(t *testing.T, dir string, o operator.Proxy) *Server {
	t.Helper()
	s, err := Listen(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestEveryQuestionAndOrderArrives(t *testing.T) {
	b := &fakeProxy{version: "v1"}
	c := Dial(listen(t, socketDir(t), b).Path)
	if s, err := c.Status(); err != nil || s.Version != "v1" {
		t.Errorf("status: %+v, %v", s, err)
	}
	if list, err := c.Tools("a b/ü"); err != nil || len(list) != 1 || list[0].Exposed != "delete" {
		t.Errorf("tools: %+v, %v", list, err)
	}
	if list, err := c.ToolChanges(); err != nil || len(list) != 1 || list[0].Hash != "h1" {
		t.Errorf("changes of tools: %+v, %v", list, err)
	}
	if list, err := c.Approvals(); err != nil || len(list) != 1 || string(list[0].Arguments) != `{"a":1e400}` {
		t.Errorf("approvals: %+v, %v", list, err)
	}
	if a, err := c.Approval("ap/2?"); err != nil || a.ID != "ap/2?" || a.Question != "May it?" {
		t.Errorf("approval: %+v, %v", a, err)
	}
	if list, err := c.Grants(); err != nil || len(list) != 1 || list[0].ID != "gr_1" {
		t.Errorf("grants: %+v, %v", list, err)
	}
	if list, err := c.Sessions(); err != nil || len(list) != 1 || list[0].ID != "s/1" {
		t.Errorf("sessions: %+v, %v", list, err)
	}
	if list, err := c.Nets(); err != nil || len(list) != 1 || list[0].Name != "n/1" {
		t.Errorf("nets: %+v, %v", list, err)
	}
	if s, err := c.Shadow("s/1"); err != nil || s.Refused != 3 {
		t.Errorf("shadow: %+v, %v", s, err)
	}
	if done, err := c.Stop(Stop{Session: "s/1", Actor: "ann", Reason: "why"}); err != nil || !done.Shared {
		t.Errorf("stop: %+v, %v", done, err)
	}
	if done, err := c.StartAgain(Stop{Actor: "ann", PIN: "p5"}); err != nil || !done.Already {
		t.Errorf("start: %+v, %v", done, err)
	}
	for _, err := range []error{
		c.Resolve("ap_1", Answer{Approve: true, Actor: "ann", Shown: "5f3c"}),
		c.Resolve("ap/2?x=%", Answer{Actor: "bob", Reason: "no \"thanks\""}),
		c.Resolve("ap_2", Answer{Approve: true, Grant: &operator.Grant{For: time.Minute, Like: []string{"path", "$.a"}}}),
		c.AcceptTool(Accept{Canonical: "fs.read", Hash: "h1", Actor: "ann", PIN: "p1"}),
		c.Revoke("gr/1", Revoke{Actor: "ann"}),
		c.ResetSession("s/1", Reset{Actor: "ann", PIN: "p2"}),
		c.SettleCall("s/1", Settle{Call: 1<<64 - 1, Success: true, Actor: "ann", PIN: "p3"}),
		c.SwitchNet(Switch{Net: "n/1?", Active: true, Actor: "ann", PIN: "p4"}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{
		`tools of "a b/ü"`, `approval "ap/2?"`, `shadow of "s/1"`, `stop "s/1" "ann" "why"`, `start "" "ann" "p5"`, `resolve "ap_1" via cli true "ann" "" "5f3c"`, `resolve "ap/2?x=%" via cli false "bob" "no \"thanks\"" ""`,
		`grant "ap_2" 1m0s ["path" "$.a"]`, `accept "fs.read" "h1" "ann" "p1"`, `revoke "gr/1" "ann"`,
		`reset "s/1" "ann" "p2"`, `settle "s/1" 18446744073709551615 true "ann" "p3"`,
		`switch "n/1?" true "ann" "p4"`,
	}
	if diff := cmp.Diff(want, b.told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestErrorsKeepTheirText(t *testing.T) {
	b := &fakeProxy{err: errors.New(`no session "x" – <sorry>`)}
	c := Dial(listen(t, socketDir(t), b).Path)
	_, tools := c.Tools("x")
	for name, err := range map[string]error{
		"tools": tools, "resolve": c.Resolve("x", Answer{}), "reset": c.ResetSession("x", Reset{}), "settle": c.SettleCall("x", Settle{}),
		"switch": c.SwitchNet(Switch{}),
	} {
		if err == nil || err.Error() != b.err.Error() {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOrdersThatAreNotUnderstoodDoNothing(t *testing.T) {
	b := &fakeProxy{}
	c := Dial(listen(t, socketDir(t), b).Path)
	tests := []struct{ method, path, body string }{
		{"POST", "/approvals/ap_1", ``},
		{"POST", "/approvals/ap_1", `{"approve":"yes"}`},
		{"POST", "/approvals/ap_1", `{"approve":true,"aprove":false}`},
		{"POST", "/approvals/ap_1", `{"approve":true,"reason":"` + strings.Repeat("x", 1<<20) + `"}`},
		{"POST", "/sessions/s/settle", `{"call":-1}`},
		{"POST", "/sessions/s/reset", `[]`},
		{"GET", "/sessions/s/reset", ``},
		{"DELETE", "/approvals/ap_1", ``},
		{"GET", "/nothing", ``},
	}
	for _, tt := range tests {
		request, err := http.NewRequest(tt.method, "http://petrigate"+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := c.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode < 400 || response.StatusCode >= 500 {
			t.Errorf("%s %s %.40s: %s", tt.method, tt.path, tt.body, response.Status)
		}
	}
	if len(b.told) > 0 {
		t.Errorf("told: %q", b.told)
	}
}

func TestOthersAreKeptOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the directory of the user protects the socket")
	}
	dir := socketDir(t)
	s := listen(t, dir, &fakeProxy{})
	for path, want := range map[string]os.FileMode{dir: 0o700, s.Path: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestADirectoryOfOthersIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the directory of the user protects the socket")
	}
	tests := []struct {
		name string
		make func(t *testing.T, dir string) error
		want string
	}{
		{"group may read", func(_ *testing.T, dir string) error { return mkdir(dir, 0o740) }, "is open to other users (mode 0740): chmod 700 it"},
		{"others may enter", func(_ *testing.T, dir string) error { return mkdir(dir, 0o701) }, "is open to other users (mode 0701)"},
		{"a file", func(_ *testing.T, dir string) error { return os.WriteFile(dir, nil, 0o600) }, ""},
		{"a link to a good one", func(t *testing.T, dir string) error { return os.Symlink(t.TempDir(), dir) }, "is not a directory"},
		{"of another user", func(t *testing.T, dir string) error {
			if os.Getuid() != 0 {
				t.Skip("only root can make one")
			}
			return errors.Join(mkdir(dir, 0o700), os.Chown(dir, 12345, 12345))
		}, "belongs to another user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := socketDir(t)
			if err := tt.make(t, dir); err != nil {
				t.Fatal(err)
			}
			if s, err := Listen(dir, &fakeProxy{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("listen: %v, %v, want %q", s, err, tt.want)
			}
			if found, err := Find(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("find: %v, %v, want %q", found, err, tt.want)
			}
		})
	}
}

func mkdir(dir string, mode os.FileMode) error {
	return errors.Join(os.Mkdir(dir, mode), os.Chmod(dir, mode)) // regardless of the umask
}

func TestALongPathIsNamed(t *testing.T) {
	dir := filepath.Join(socketDir(t), strings.Repeat("long", 40))
	if _, err := Listen(dir, &fakeProxy{}); err == nil || !strings.Contains(err.Error(), "is too long") || !strings.Contains(err.Error(), "PETRIGATE_RUNTIME_DIR") {
		t.Errorf("got %v", err)
	}
}

func TestProxiesOfOneProcessDoNotClash(t *testing.T) {
	dir := socketDir(t)
	var paths []string
	for _, version := range []string{"a", "b", "c"} {
		paths = append(paths, listen(t, dir, &fakeProxy{version: version}).Path)
	}
	found, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	var versions, at []string
	for _, c := range found {
		s, err := c.Status()
		if err != nil {
			t.Fatal(err)
		}
		versions, at = append(versions, s.Version), append(at, c.Path)
	}
	slices.Sort(versions)
	slices.Sort(paths)
	if diff := cmp.Diff([]string{"a", "b", "c"}, versions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(paths, at); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFindCostsProxyNoWork checks that Find does not call any method of the proxy.
func TestFindCostsProxyNoWork(t *testing.T) {
	dir, b := socketDir(t), &fakeProxy{}
	listen(t, dir, b)
	if found, err := Find(dir); err != nil || len(found) != 1 || b.summaries != 0 || len(b.told) != 0 {
		t.Errorf("found %v, %v; it had to tell %d times, and %q", found, err, b.summaries, b.told)
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	dir := socketDir(t)
	s := listen(t, dir, &fakeProxy{})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if found, err := Find(dir); err != nil || len(found) > 0 {
		t.Errorf("found: %v, %v", found, err)
	}
	if _, err := Dial(s.Path).Status(); err == nil || !strings.Contains(err.Error(), s.Path) {
		t.Errorf("got %v", err)
	}
}

// TestCloseEndsWaitingRequests closes the server while a request waits for upstreams.
func TestCloseEndsWaitingRequests(t *testing.T) {
	b := &fakeProxy{tools: make(chan struct{}), asked: make(chan struct{})}
	s := listen(t, socketDir(t), b)
	answer := make(chan error)
	go func() {
		_, err := Dial(s.Path).Tools("")
		answer <- err
	}()
	<-b.asked
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-answer; err == nil {
		t.Error("an answer came")
	}
}

func TestNoDirectoryHasNoProxies(t *testing.T) {
	if found, err := Find(socketDir(t)); err != nil || len(found) > 0 {
		t.Errorf("got %v, %v", found, err)
	}
}

// TestOnlyStaleSocketsAreRemoved checks that a socket is removed only if it refuses connections and
// its process has ended.
func TestOnlyStaleSocketsAreRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("whether a process runs is not known")
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	gone, here := ended.Process.Pid, os.Getpid()
	tests := []struct {
		name string
		alive,
		stays bool
	}{
		{fmt.Sprintf("%d-killed.sock", gone), false, false},
		{fmt.Sprintf("%d-other.sock", gone), true, true}, // the process belongs to another container
		{fmt.Sprintf("%d-bound.sock", here), false, true},
		{"0-zero.sock", false, true},
		{"notes.sock", false, true},
		{"notes.txt", false, true},
	}
	for _, look := range []string{"listen", "find"} {
		t.Run(look, func(t *testing.T) {
			dir := socketDir(t)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, tt := range tests {
				leave(t, filepath.Join(dir, tt.name), tt.alive)
			}
			if look == "listen" {
				listen(t, dir, &fakeProxy{})
			} else if _, err := Find(dir); err != nil {
				t.Error(err)
			}
			for _, tt := range tests {
				if _, err := os.Lstat(filepath.Join(dir, tt.name)); (err == nil) != tt.stays {
					t.Errorf("%s: %v", tt.name, err)
				}
			}
		})
	}
}

// leave creates a socket that has either no listener or a listener that closes each connection
// immediately.
func leave(t *testing.T, path string, alive bool) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if !alive {
		_ = l.Close()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
}

// TestFindIgnoresOtherServers checks that Find ignores a socket whose server is not a proxy.
func TestFindIgnoresOtherServers(t *testing.T) {
	dir := socketDir(t)
	ours := listen(t, dir, &fakeProxy{})
	path := filepath.Join(dir, "1-stranger.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	found, err := Find(dir)
	if err != nil || len(found) != 1 || found[0].Path != ours.Path {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := Dial(path).Status(); err == nil || !strings.Contains(err.Error(), "responded 404") {
		t.Errorf("got %v", err)
	}
}
