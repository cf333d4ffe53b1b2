package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
	"github.com/petrigate/petrigate/rules"
)

// A testProxy is a proxy in this process, with its own clock and control socket.
type testProxy struct {
	t      *testing.T
	proxy  *proxy.Proxy
	socket *control.Server
	ahead  atomic.Int64 // how far its clock is ahead, in nanoseconds
	calls  io.Writer
	lines  *bufio.Reader
}

// runtimeDir returns a directory for control sockets whose path is short enough.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "run")
}

func startTestProxy(t *testing.T, dir, text string, changes ...func(*proxy.Options)) *testProxy {
	t.Helper()
	file, problems := rules.Parse("ops.rules", []byte(text))
	compiled, err := rules.Compile(file)
	if len(problems) > 0 || err != nil {
		t.Fatal(problems, err)
	}
	policy, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	up := httptest.NewServer(testserver.New(testserver.Options{Tools: testserver.Attack()}))
	t.Cleanup(up.Close)
	o := &testProxy{t: t}
	options := proxy.Options{
		Policy: policy, Upstreams: []proxy.Upstream{{Name: "prod", URL: up.URL + "/mcp"}}, Startup: agentLimit,
		Approval: proxy.Approval{Channels: []string{"cli"}, Hold: time.Millisecond, Grants: time.Hour},
		Now:      func() time.Time { return time.Now().Add(time.Duration(o.ahead.Load())) },
	}
	for _, change := range changes {
		change(&options)
	}
	if o.proxy, err = proxy.New(options); err != nil {
		t.Fatal(err)
	}
	o.proxy.Start()
	o.proxy.AwaitTools(t.Context())
	in, calls := io.Pipe()
	answers, out := io.Pipe()
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { served <- o.proxy.ServeStdio(ctx, in, out) }()
	o.calls, o.lines = calls, bufio.NewReader(answers)
	if o.socket, err = control.Listen(dir, o.proxy); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = o.socket.Close()
		cancel()
		_ = calls.Close()
		_ = answers.Close()
		<-served
		if err := o.proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// call calls a tool and returns the line with the response.
func (o *testProxy) call(tool, args string) string {
	o.t.Helper()
	if _, err := fmt.Fprintf(o.calls, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", tool, args); err != nil {
		o.t.Fatal(err)
	}
	line, err := o.lines.ReadString('\n')
	if err != nil {
		o.t.Fatal(err)
	}
	return line
}

// requestApproval makes a call that requires an approval and returns the approval's ID.
func (o *testProxy) requestApproval(tool, args string) string {
	o.t.Helper()
	answer := o.call(tool, args)
	_, after, found := strings.Cut(answer, "A person has been asked (approval ")
	if !found {
		o.t.Fatalf("nobody is asked: %s", answer)
	}
	id, _, _ := strings.Cut(after, ")")
	return id
}

// requireState fails the test unless the approval is in the given state.
func (o *testProxy) requireState(id string, want operator.ApprovalState) operator.ApprovalInfo {
	o.t.Helper()
	a, err := o.proxy.Approval(id)
	if err != nil || a.State != want {
		o.t.Errorf("approval %s is %s, want %s (%v)", id, a.State, want, err)
	}
	return a
}

const (
	askDeploy = "require human-approval before deploy\n"
	prompt    = "Approve? y, n [REASON], g (and similar calls), s (skip), q (quit): "
)

// TestWatchAsksOneQuestionAtATime checks that a person answers one question after the other. Only
// input typed after a question was shown counts, and pressing Enter alone does not answer it.
func TestWatchAsksOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	dir := runtimeDir(t)
	env := []string{"PETRIGATE_RUNTIME_DIR=" + dir}
	w := startPTY(t, env, 100, "approvals", "watch")
	w.expect("No proxy is running")
	o := startTestProxy(t, dir, askDeploy)
	w.expect("No pending calls (running proxies: 1). q quits.")

	w.keys("y\ny") // typed before any question: a complete line and the beginning of another
	w.expect("y\r\ny")
	id := o.requestApproval("deploy", `{"to":"production"}`)
	w.expect("Allow deploy on upstream prod?")
	w.expect(`"to": "production"`)
	w.expect("Approval " + id + ", good for ")
	w.expect("State: pending")
	w.expect(prompt)
	o.requireState(id, operator.Pending)
	for _, nothing := range []string{"", "yn", "yes please", "maybe"} {
		w.keys(nothing + "\n")
		w.expect(prompt)
		o.requireState(id, operator.Pending)
	}
	w.keys("Y\n")
	w.expect(id + " approved: deploy on prod")
	w.expect("Otherwise the same call passes once, within ")
	w.expect("No pending calls")
	if a := o.requireState(id, operator.Approved); a.Actor != "ann" || a.Channel != "cli" || a.Reason != "" {
		t.Errorf("%+v", a)
	}

	id = o.requestApproval("deploy", `{"n":1}`)
	w.expect(prompt)
	w.keys("n because it is Friday\n")
	w.expect(id + " denied: deploy on prod")
	if a := o.requireState(id, operator.Denied); a.Reason != "it is Friday" {
		t.Errorf("%+v", a)
	}
	id = o.requestApproval("deploy", `{"n":2}`)
	w.expect(prompt)
	w.keys("no\n")
	w.expect("Reason, for the agent (Enter: none): ")
	o.requireState(id, operator.Pending)
	w.keys("y\n") // any text is accepted as the reason
	w.expect(id + " denied: deploy on prod")
	if a := o.requireState(id, operator.Denied); a.Reason != "y" {
		t.Errorf("%+v", a)
	}

	id = o.requestApproval("deploy", `{"n":3}`)
	w.expect(prompt)
	w.keys("s\n")
	w.expect(id + " is still pending")
	w.expect("No pending calls")
	o.requireState(id, operator.Pending)
	w.keys("q\n")
	if code, out := w.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestWatchGivesGrantAfterSecondYes checks how a person approves a call together with similar
// calls: the person specifies for how long and which arguments must stay the same, sees what that
// would allow, and confirms. Input typed in advance does not confirm, and each step can be
// canceled.
func TestWatchGivesGrantAfterSecondYes(t *testing.T) {
	t.Parallel()
	dir := runtimeDir(t)
	w := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 200, "approvals", "watch")
	w.expect("No proxy is running")
	o := startTestProxy(t, dir, askDeploy)
	w.expect("No pending calls")
	id := o.requestApproval("deploy", `{"to":"staging","n":1}`)
	const span, like, last = "Allow similar calls for how long? ", "Which arguments must stay the same? Comma-separated, of: n, to", "Approve it with this grant? [y/N] "
	step := func(keys, want string) {
		t.Helper()
		w.keys(keys + "\n")
		w.expect(want)
		if len(o.proxy.Grants()) > 0 {
			t.Error("it is granted already")
		}
		o.requireState(id, operator.Pending)
	}
	w.expect(prompt)
	step("g", span)
	step("", prompt)
	step("g", span)
	step("forever", "a duration is required, for example 10m, or session.")
	w.expect(span)
	step("session", like)
	step("to\ny", "For the session, a day at most, calls to this tool in this session with the same to, and any values of its other arguments would also pass without a question.")
	w.expect(last)
	step("", "No answer was given.")
	w.expect(prompt)
	step("g", span)
	step("10m", like)
	step("nope", last)
	step("y", `the call has no single argument "nope"`)
	w.expect(prompt)
	step("g", span)
	step("session", like)
	step(" to ,", last)
	w.keys("y\n")
	w.expect("Similar calls pass for the session, a day at most. petrigate approvals grants lists the grant")
	w.expect("No pending calls")
	all := o.proxy.Grants()
	if len(all) != 1 || !all[0].ToEnd || all[0].Like[0].Field != "to" || all[0].Actor != "ann" || all[0].Approval != id {
		t.Errorf("%+v", all)
	}
	if got := o.call("deploy", `{"to":"staging","n":2}`); strings.Contains(got, "has been asked") {
		t.Error(got)
	}
	w.keys("q\n")
	if code, out := w.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestWatchMovesOnWhenAnsweredElsewhere checks that watch reports an approval that was answered
// elsewhere or has expired, and then shows the next question. If the person has begun a line for
// the earlier question, that line does not answer the next one.
func TestWatchMovesOnWhenAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	dir := runtimeDir(t)
	o := startTestProxy(t, dir, askDeploy)
	denied, expires, next := o.requestApproval("deploy", `{"n":1}`), "", ""
	w := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 100, "approvals", "watch")
	w.expect("Approval " + denied)
	w.expect(prompt)
	expires = o.requestApproval("deploy", `{"n":2}`)
	w.keys("y") // it is answered elsewhere afterwards
	w.expect("y")
	if err := o.proxy.Resolve(denied, false, "b\x1bob", "not now"); err != nil {
		t.Fatal(err)
	}
	w.expect(denied + ` was denied, by b\u{1b}ob, via cli: "not now".`)
	w.expect("Approval " + expires)
	w.expect(prompt)
	w.keys("\n")
	w.expect(prompt)
	o.requireState(expires, operator.Pending)

	o.ahead.Add(int64(time.Hour))
	next = o.requestApproval("deploy", `{"n":3}`)
	w.expect(expires + " has expired")
	w.expect("Approval " + next)
	w.expect(prompt)

	second := startTestProxy(t, dir, askDeploy) // a proxy that started in the meantime
	other := second.requestApproval("deploy", `{"n":4}`)
	w.keys("y\n")
	w.expect(next + " approved")
	w.expect("Approval " + other)
	w.expect(prompt)
	if err := second.socket.Close(); err != nil {
		t.Fatal(err)
	}
	w.expect(other + ": its proxy has ended.")
	w.expect("No pending calls (running proxies: 1)")
	second.requireState(other, operator.Pending)
}

// TestWatchEndsWithoutAnswer checks that the end of the input, an interrupt and a hang-up each end
// watch without answering anything.
func TestWatchEndsWithoutAnswer(t *testing.T) {
	for name, keys := range map[string]string{"end of input": "\x04", "half a line and the end": "y\x04\x04", "interrupt": "\x03", "interrupt in the line": "y\x03"} {
		for _, denying := range []bool{false, true} {
			t.Run(fmt.Sprint(name, denying), func(t *testing.T) {
				t.Parallel()
				dir := runtimeDir(t)
				o := startTestProxy(t, dir, askDeploy)
				id := o.requestApproval("deploy", `{}`)
				w := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 100, "approvals", "watch")
				w.expect(prompt)
				if denying {
					w.keys("n\n")
					w.expect("Reason, for the agent")
				}
				w.keys(keys)
				if code, out := w.end(); code != 0 || strings.Contains(out, "petrigate:") {
					t.Errorf("exit code %d: %s", code, out)
				}
				o.requireState(id, operator.Pending)
			})
		}
	}
}

// TestWatchLeavesQuestionForSecondApprover checks that the first of two required approvals leaves
// the question open for another person.
func TestWatchLeavesQuestionForSecondApprover(t *testing.T) {
	t.Parallel()
	dir := runtimeDir(t)
	o := startTestProxy(t, dir, "require 2 human-approvals before deploy\n")
	id := o.requestApproval("deploy", `{}`)
	w := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 100, "approvals", "watch")
	w.expect(prompt)
	if err := o.proxy.ResolveAs("bob's", id, true, "bob", ""); err != nil {
		t.Fatal(err)
	}
	w.expect(id + " has 1 of 2 approvals now.")
	w.expect(prompt)
	w.keys("y\n")
	w.expect(id + " approved")
	o.requireState(id, operator.Approved)

	id = o.requestApproval("deploy", `{"n":1}`)
	w.expect(prompt)
	w.keys("y\n")
	w.expect("It has 1 of the 2 approvals that it needs, and is waiting for another one.")
	w.expect("No pending calls")
	o.requireState(id, operator.Pending)
}

// pinHashes maps PINs to their hashes. These have the fewest rounds that are accepted, which makes
// checks six times faster.
var pinHashes = map[string]string{
	"correct horse":  "pbkdf2-sha256:100000:c2FsdCBvZiB0aGUgdGVzdA:-1O6tBFc88ZKIDgojvmnui_Bf0mc2SAWlPYcXiKWr30",
	"battery staple": "pbkdf2-sha256:100000:c2FsdCBvZiB0aGUgdGVzdA:uoOFRN7hY60qxlR58Z1pSsAfF6JNFGiz12tQ7XiCJiI",
}

// TestPINIsHiddenAtTerminal checks that watch and approve ask for the PIN if approvals require one,
// and that the typed PIN is not shown.
func TestPINIsHiddenAtTerminal(t *testing.T) {
	t.Parallel()
	const secret = "correct horse"
	dir := runtimeDir(t)
	o := startTestProxy(t, dir, askDeploy, func(p *proxy.Options) { p.Approval.PIN = pinHashes[secret] })
	env := []string{"PETRIGATE_RUNTIME_DIR=" + dir}
	id := o.requestApproval("deploy", `{}`)
	w := startPTY(t, env, 100, "approvals", "watch")
	const asked = "PIN (Enter: back): "
	for _, typed := range []string{"", "battery"} {
		w.expect(prompt)
		w.keys("y\n")
		w.expect(asked)
		w.keys(typed + "\n")
	}
	w.expect("the PIN is wrong")
	o.requireState(id, operator.Pending)
	w.expect(prompt)
	w.keys("y\n")
	w.expect(asked)
	w.keys(secret + "\n")
	w.expect(id + " approved")
	w.keys("q\n")
	if _, out := w.end(); strings.Contains(out, "horse") || strings.Contains(out, "battery") {
		t.Errorf("a PIN is shown: %s", out)
	}
	o.requireState(id, operator.Approved)

	id = o.requestApproval("deploy", `{"n":1}`)
	a := startPTY(t, env, 100, "approvals", "approve", id)
	a.expect("Approve? [y/N] ")
	a.keys("y\n")
	a.expect("PIN: ")
	a.keys(secret + "\n")
	a.expect(id + " approved")
	if code, out := a.end(); code != 0 || strings.Contains(out, "horse") {
		t.Errorf("exit code %d: %s", code, out)
	}

	r := startPTY(t, env, 100, "sessions", "reset", o.proxy.Sessions()[0].ID)
	r.expect("PIN: ")
	r.keys(secret + "\n")
	r.expect("is reset")
	if code, out := r.end(); code != 0 || strings.Contains(out, "horse") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestEachProxyAsksForItsOwnPIN checks that each proxy that requires a PIN is named, and receives
// its own PIN and no other.
func TestEachProxyAsksForItsOwnPIN(t *testing.T) {
	t.Parallel()
	dir, secrets, offices := runtimeDir(t), map[string]string{}, map[string]*testProxy{}
	for _, secret := range []string{"correct horse", "battery staple", ""} {
		o := startTestProxy(t, dir, askDeploy, func(p *proxy.Options) { p.Approval.PIN = pinHashes[secret] })
		secrets[o.socket.Path], offices[o.socket.Path] = secret, o
	}
	found, err := control.Find(dir)
	if err != nil || len(found) != 3 {
		t.Fatal(found, err)
	}
	start := func(wrong string) (int, string) {
		for _, client := range found {
			if _, err := client.Stop(control.Stop{Actor: "ann"}); err != nil {
				t.Fatal(err)
			}
		}
		p := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 200, "start")
		for _, client := range found {
			typed := secrets[client.Path]
			if typed == "" {
				continue
			}
			p.expect(fmt.Sprintf("PIN for proxy %d (no configuration file): ", os.Getpid()))
			if client.Path == wrong {
				typed = "house"
			}
			p.keys(typed + "\n")
		}
		return p.end()
	}
	if code, out := start(""); code != 0 || strings.Count(out, "all calls pass again") != 3 || strings.Count(out, "PIN") != 2 {
		t.Errorf("exit code %d: %s", code, out)
	}
	var wrong string
	for path, secret := range secrets {
		if secret != "" {
			wrong = path
		}
	}
	code, out := start(wrong)
	if code != 1 || strings.Count(out, "all calls pass again") != 2 || !strings.Contains(out, fmt.Sprintf("proxy %d: the PIN is wrong", os.Getpid())) {
		t.Errorf("exit code %d: %s", code, out)
	}
	for path, o := range offices {
		if stopped := len(o.proxy.Status().Stopped) > 0; stopped != (path == wrong) {
			t.Errorf("%s: stopped %v", path, stopped)
		}
	}
}

// TestAcceptRequiresYesAtTerminal checks that accept shows the change at a terminal and accepts it
// only after a yes.
func TestAcceptRequiresYesAtTerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tools.json")
	write(t, file, `{"version":1,"tools":[{"server":"prod","tool":"deploy","since":"2026-01-02T03:04:05Z","by":"ann","definition":{"description":"Deploys."}}]}`)
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	pins, err := proxy.OpenPins(file, true)
	if err != nil {
		t.Fatal(err)
	}
	o := startTestProxy(t, runtimeDir(t), askDeploy, func(p *proxy.Options) { p.Pins = pins })
	dir := runtimeDir(t)
	s, err := control.Listen(dir, pinnedProxy{o.proxy, pins})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, c := range []struct {
		keys, want string
		code, left int
	}{{"n\n", "nothing was accepted", 1, 1}, {"y\n", "prod.deploy is accepted as its server describes it now.", 0, 0}} {
		p := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 200, "tools", "accept", "prod.*")
		p.expect("- Deploys.")
		p.expect("Accept this? [y/N] ")
		p.keys(c.keys)
		p.expect(c.want)
		if code, out := p.end(); code != c.code || len(pins.Changes()) != c.left {
			t.Errorf("exit code %d, %d changes left: %s", code, len(pins.Changes()), out)
		}
	}
}

// A pinnedProxy is a proxy with its pins. It implements the control interface as the daemon does.
type pinnedProxy struct {
	*proxy.Proxy
	pins *proxy.Pins
}

func (k pinnedProxy) ToolChanges() []operator.ToolChange { return k.pins.Changes() }

func (k pinnedProxy) AcceptTool(tool, hash string, a operator.Actor) error {
	return k.pins.Accept(tool, hash, a)
}

// TestPINCommandAsksTwice checks that approvals pin asks for the PIN twice.
func TestPINCommandAsksTwice(t *testing.T) {
	for _, c := range []struct {
		again, want string
		code        int
	}{
		{"correct horse", `pin: "pbkdf2-sha256:`, 0},
		{"correct house", "the PINs do not match", 1},
	} {
		p := startPTY(t, nil, 200, "approvals", "pin")
		p.expect("PIN (at least 6 characters): ")
		p.keys("correct horse\n")
		p.expect("Repeat: ")
		p.keys(c.again + "\n")
		p.expect(c.want)
		if code, out := p.end(); code != c.code || strings.Contains(out, "correct") {
			t.Errorf("exit code %d: %s", code, out)
		}
	}
}

// TestApproveRequiresYesAfterQuestion checks that approve shows the call at a terminal, and that
// only a yes typed afterwards counts.
func TestApproveRequiresYesAfterQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		keys  string
		state operator.ApprovalState
		says  string
	}{
		"yes":   {"yes\n", operator.Approved, " approved: deploy on prod"},
		"enter": {"\n", operator.Pending, "petrigate: not approved; the call is still pending"},
		"no":    {"n\n", operator.Pending, "petrigate: not approved; the call is still pending"},
		"end":   {"y\x04\x04", operator.Pending, "petrigate: not approved; the call is still pending"},
		"break": {"y\x03", operator.Pending, ""}, // Linux signals before it flushes, so the terminal can lose output written then
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := runtimeDir(t)
			o := startTestProxy(t, dir, askDeploy)
			id := o.requestApproval("deploy", `{"to":"production"}`)
			p := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 100, "approvals", "approve", id)
			p.keys("y\n") // typed before the question
			p.expect(`"to": "production"`)
			p.expect("Approve? [y/N] ")
			o.requireState(id, operator.Pending)
			p.keys(tt.keys)
			code, out := p.end()
			if !strings.Contains(out, tt.says) || (code == 0) != (tt.state == operator.Approved) {
				t.Errorf("exit code %d: %s", code, out)
			}
			o.requireState(id, tt.state)
		})
	}
	t.Run("it ends meanwhile", func(t *testing.T) {
		t.Parallel()
		dir := runtimeDir(t)
		o := startTestProxy(t, dir, askDeploy)
		id := o.requestApproval("deploy", `{}`)
		p := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 100, "approvals", "approve", id)
		p.expect("Approve? [y/N] ")
		if err := o.proxy.Resolve(id, false, "bob", ""); err != nil {
			t.Fatal(err)
		}
		p.keys("y\n")
		if code, out := p.end(); code != exitFailed || !strings.Contains(out, "petrigate: approval "+id+" is already denied") {
			t.Errorf("exit code %d: %s", code, out)
		}
	})
}

// TestApproveForShowsWhatElsePasses checks that approve --for shows which other calls would pass.
func TestApproveForShowsWhatElsePasses(t *testing.T) {
	t.Parallel()
	dir := runtimeDir(t)
	o := startTestProxy(t, dir, askDeploy)
	for like, want := range map[string]string{
		"to": "For 10m, calls to this tool in this session with the same to, and any values of its other arguments would also pass without a question.",
		"":   "For 10m, calls to this tool in this session with exactly these arguments would also pass without a question.",
	} {
		id := o.requestApproval("deploy", fmt.Sprintf(`{"to":"production","n":%d}`, len(like)))
		args := []string{"approvals", "approve", id, "--for", "10m"}
		if like != "" {
			args = append(args, "--like", like)
		}
		p := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, 200, args...)
		p.expect(want)
		p.expect("Approve? [y/N] ")
		if len(o.proxy.Grants()) > 0 {
			t.Error("there is a grant already")
		}
		p.keys("y\n")
		if code, out := p.end(); code != 0 {
			t.Errorf("exit code %d: %s", code, out)
		}
		all := o.proxy.Grants()
		if len(all) != 1 || all[0].Like[0].Field != like || all[0].Approval != id {
			t.Fatalf("%+v", all)
		}
		if err := o.proxy.Revoke(all[0].ID, "ann"); err != nil {
			t.Error(err)
		}
	}
}

// TestWatchJSONPrintsChanges checks that watch --json prints a line for each pending approval and
// for each change, and does not answer anything.
func TestWatchJSONPrintsChanges(t *testing.T) {
	dir := runtimeDir(t)
	o := startTestProxy(t, dir, askDeploy)
	ended := o.requestApproval("deploy", `{"n":1}`)
	if err := o.proxy.Resolve(ended, false, "bob", ""); err != nil {
		t.Fatal(err)
	}
	waits := o.requestApproval("deploy", "{\"n\":\"\u202e\"}")
	cmd := exec.Command("petrigate", "approvals", "watch", "--json")
	cmd.Env = append(os.Environ(), "PETRIGATE_RUNTIME_DIR="+dir, "GORACE=atexit_sleep_ms=0")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewReader(stdout)
	expect := func(id string, state operator.ApprovalState, gone bool) {
		t.Helper()
		line, err := lines.ReadString('\n')
		var got struct {
			Version  int
			Approval operator.ApprovalInfo
			Gone     bool
		}
		if err != nil || json.Unmarshal([]byte(line), &got) != nil || got.Version != 1 || got.Approval.ID != id || got.Approval.State != state || got.Gone != gone || strings.Contains(line, "\u202e") {
			t.Fatalf("want %s %s: %v, %s", id, state, err, line)
		}
	}
	expect(waits, operator.Pending, false)
	next := o.requestApproval("deploy", `{"n":2}`)
	expect(next, operator.Pending, false)
	if err := o.proxy.Resolve(waits, true, "bob", ""); err != nil {
		t.Fatal(err)
	}
	expect(waits, operator.Approved, false)
	o.call("deploy", "{\"n\":\"\u202e\"}")
	expect(waits, operator.Consumed, false)
	if err := o.socket.Close(); err != nil {
		t.Fatal(err)
	}
	expect(next, operator.Pending, true)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("%v, %s", err, rest)
	}
}

// TestApprovalListFitsTerminal checks that all lines of the list fit the terminal, provided that
// their parts can be shortened enough.
func TestApprovalListFitsTerminal(t *testing.T) {
	dir := runtimeDir(t)
	o := startTestProxy(t, dir, askDeploy)
	o.requestApproval("deploy", `{"text":"`+"\u202e"+strings.Repeat("long ", 100)+`"}`)
	for _, columns := range []int{100, 132, 0} {
		p := startPTY(t, []string{"PETRIGATE_RUNTIME_DIR=" + dir}, columns, "approvals")
		code, out := p.end()
		if code != 0 || strings.Contains(out, "\u202e") || columns != 100 && !strings.Contains(out, `prod.deploy {"text":"\u{202e}`) || !strings.Contains(out, `... (514 bytes)`) {
			t.Errorf("exit code %d: %s", code, out)
		}
		for line := range strings.Lines(out) {
			if n := len(strings.TrimRight(line, "\r\n")); columns > 0 && n > columns {
				t.Errorf("%d columns of %d: %s", n, columns, line)
			}
		}
	}
}
