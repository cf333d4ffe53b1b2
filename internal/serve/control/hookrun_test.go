package control

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/hook"
)

// A fakeHookProxy is a [fakeProxy] that receives hook events.
type fakeHookProxy struct {
	fakeProxy
	status operator.Status
	reply  hook.Reply
	asks   chan hook.Request // receives each event; if nil, events are discarded
	hangs  bool
}

func (b *fakeHookProxy) Status() operator.Status { return b.status }

func (b *fakeHookProxy) Hook(ctx context.Context, e hook.Request) (hook.Reply, error) {
	if b.asks != nil {
		b.asks <- e
	}
	if b.hangs {
		<-ctx.Done()
	}
	return b.reply, b.err
}

const (
	beforeCall = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"<ls>"},"tool_use_id":"t"}`
	afterCall  = `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`
)

// runHook runs the hook process.
func runHook(ctx context.Context, h HookRun, event string) (code int, out, err string) {
	var stdout, stderr bytes.Buffer
	h.In, h.Out, h.Err = strings.NewReader(event), &stdout, &stderr
	code = h.Run(ctx)
	return code, strings.TrimSpace(stdout.String()), strings.TrimSpace(stderr.String())
}

// TestHookRunPassesEvent checks that the proxy receives the event exactly as the agent wrote it,
// and that the agent receives the reply.
func TestHookRunPassesEvent(t *testing.T) {
	dir := socketDir(t)
	b := &fakeHookProxy{reply: hook.Reply{Output: hook.Pass}, asks: make(chan hook.Request, 1)}
	listen(t, dir, b)
	h := HookRun{Dir: dir, Agent: "claude-code", Session: "mine", Servers: []string{"a", "b"}}
	if code, out, err := runHook(t.Context(), h, beforeCall); code != 0 || out != "{}" || err != "" {
		t.Errorf("%d %s %s", code, out, err)
	}
	e := <-b.asks
	if string(e.Event) != beforeCall || e.Agent != "claude-code" || e.Principal != "local" || e.Session != "mine" || strings.Join(e.Servers, " ") != "a b" {
		t.Errorf("%+v", e)
	}
	if code, out, _ := runHook(t.Context(), h, `{"hook_event_name":"Notification"}`); code != 0 || out != "{}" || len(b.asks) != 0 {
		t.Errorf("an event that is about no call is passed on: %d %s", code, out)
	}
}

// TestHookRunDenies checks the form of a refusal for each agent.
func TestHookRunDenies(t *testing.T) {
	dir := socketDir(t)
	b := &fakeHookProxy{reply: hook.Reply{Output: []byte(`{"no":true}`), Denied: "no"}}
	listen(t, dir, b)
	for agent, want := range map[string]struct {
		event string
		code  int
		err   string
	}{"claude-code": {"PreToolUse", 2, "no"}, "codex": {"PreToolUse", 2, "no"}, "gemini-cli": {"BeforeTool", 2, "no"}, "cursor": {"preToolUse", 0, ""}, "vscode": {"PreToolUse", 2, "no"}} {
		code, out, err := runHook(t.Context(), HookRun{Dir: dir, Agent: agent}, strings.Replace(beforeCall, "PreToolUse", want.event, 1))
		if code != want.code || err != want.err || out != `{"no":true}` {
			t.Errorf("%s: %d %s %s", agent, code, out, err)
		}
	}
}

// TestHookRunRefusesLongEvent checks that an event that is too long is refused only after it was
// read completely, because Codex lets a call pass if its hook does not read the whole event.
func TestHookRunRefusesLongEvent(t *testing.T) {
	long := strings.NewReader(strings.Replace(beforeCall, "<ls>", strings.Repeat("x", 2*hook.MaxEvent), 1))
	var out, err bytes.Buffer
	h := HookRun{Dir: socketDir(t), Agent: "codex", In: long, Out: &out, Err: &err}
	if code := h.Run(t.Context()); code != 2 || long.Len() != 0 || !strings.Contains(err.String(), "the limit is 8388608") {
		t.Errorf("%d, %d bytes are left: %s", code, long.Len(), &err)
	}
}

// TestHookRunRefusesWithoutDecision checks that a call without a decision is refused.
func TestHookRunRefusesWithoutDecision(t *testing.T) {
	denied := func(what string, code int, out, err string) {
		t.Helper()
		if code != 2 || !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(err, "The call was not made") {
			t.Errorf("%s: %d %s %s", what, code, out, err)
		}
	}
	dir := socketDir(t)
	h := HookRun{Dir: dir, Agent: "claude-code"}
	code, out, err := runHook(t.Context(), h, beforeCall)
	denied("no proxy", code, out, err)
	if code, out, err = runHook(t.Context(), h, afterCall); code != 1 || out != "" || !strings.Contains(err, "was not recorded") {
		t.Errorf("after the call: %d %s %s", code, out, err)
	}
	code, out, err = runHook(t.Context(), h, `{"hook_event_name":`)
	denied("no event", code, out, err)
	if code, out, err = runHook(t.Context(), HookRun{Dir: dir, Agent: "clod"}, beforeCall); code != 2 || out != "" || !strings.Contains(err, "unknown agent") {
		t.Errorf("%d %s %s", code, out, err)
	}

	b := &fakeHookProxy{reply: hook.Reply{Output: hook.Pass}, asks: make(chan hook.Request, 1), hangs: true}
	listen(t, dir, b)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		code, out, err = runHook(ctx, h, beforeCall)
	}()
	<-b.asks
	cancel() // as at the deadline
	<-ended
	denied("a proxy that hangs", code, out, err)

	h.Dir = socketDir(t)
	listen(t, h.Dir, &fakeHookProxy{fakeProxy: fakeProxy{err: context.DeadlineExceeded}})
	code, out, err = runHook(t.Context(), h, beforeCall)
	denied("an error", code, out, err)
}

// TestHookRunRefusesCorruptReply checks that a malformed reply never lets a call pass.
func TestHookRunRefusesCorruptReply(t *testing.T) {
	for name, answer := range map[string]string{"nothing": ``, "no output": `{}`, "half": `{"output":{`, "a page": `<html>`} {
		dir := socketDir(t)
		if err := mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", filepath.Join(dir, socketName(1<<30)))
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		mux.HandleFunc("/hook", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
		server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.Serve(listener)
		}()
		_, wrong := Dial(filepath.Join(dir, socketName(1<<30))).Hook(t.Context(), "claude-code", "", nil, []byte(beforeCall))
		if wrong == nil {
			t.Errorf("%s: taken for an answer", name)
		}
		_ = server.Close()
		<-done
	}
}

// TestHookRunChoosesProxy checks that, if several proxies are running, a proxy is asked only if it
// certainly is the right one.
func TestHookRunChoosesProxy(t *testing.T) {
	dir := socketDir(t)
	now := time.Now()
	one := &fakeHookProxy{status: operator.Status{Config: "/a", Started: now}, reply: hook.Reply{Output: []byte(`{"by":1}`)}}
	two := &fakeHookProxy{status: operator.Status{Config: "/b", Started: now.Add(-time.Hour)}, reply: hook.Reply{Output: []byte(`{"by":2}`)}}
	listen(t, dir, one)
	listen(t, dir, two)
	h := HookRun{Dir: dir, Agent: "claude-code"}
	want := func(config, out, err string) {
		t.Helper()
		h.Config = config
		if _, o, e := runHook(t.Context(), h, beforeCall); out != "" && o != out || !strings.Contains(e, err) {
			t.Errorf("%q: %s %s", config, o, e)
		}
	}
	want("", "", "several proxies run with different configurations")
	want("/a", `{"by":1}`, "")
	want("/b", `{"by":2}`, "")
	want("/c", "", "no proxy runs with the configuration /c")
	one.status.Config, one.status.State.Driver, two.status.State.Driver = "/b", "memory", "memory"
	want("/b", "", "each with its own state")
	one.status.State.Driver, two.status.State.Driver = "sqlite", "sqlite"
	want("/b", `{"by":2}`, "")
	want("", `{"by":2}`, "")
}
