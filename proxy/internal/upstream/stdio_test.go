package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

func TestCallOverStdio(t *testing.T) {
	s := start(t, child(t, "plain"))
	got := s.answer(s.tool("echo", "{\n\"n\": 9007199254740993,\r\n\"f\": 1.10}"))
	if !strings.Contains(got, `\"n\": 9007199254740993,  \"f\": 1.10`) {
		t.Error(got)
	}
	st := s.State()
	if st.ProtocolVersion != "2025-06-18" || st.Rev() != rev.Rev2025 || string(st.ServerInfo) != `{"name":"h","version":"1"}` || st.Pid == 0 {
		t.Errorf("%+v", st)
	}
	if s.RequestMeta(nil) != nil {
		t.Error("a legacy server wants no metadata")
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	s := start(t, child(t, "plain"))
	const n = 2000
	exchanges := make([]*Exchange, n)
	for i := range exchanges {
		exchanges[i] = s.tool("echo", fmt.Sprintf(`{"i":"(%d)"}`, i))
	}
	for i, x := range exchanges {
		if got := s.answer(x); !strings.Contains(got, fmt.Sprintf("(%d)", i)) {
			t.Fatalf("%d: %s", i, got)
		}
	}
}

func TestBigMessages(t *testing.T) {
	s := start(t, child(t, "plain"))
	if got := s.answer(s.tool("big", "{}")); strings.Count(got, "y") < 1<<20 {
		t.Error(len(got))
	}
	text := strings.Repeat("q", 3<<20)
	if got := s.answer(s.tool("echo", `{"t":"`+text+`"}`)); !strings.Contains(got, text) {
		t.Error(len(got))
	}
}

func TestUnsolicitedAnswers(t *testing.T) {
	s := start(t, child(t, "plain"))
	if got := s.answer(s.tool("answers", "{}")); got != `{"which":"first"}` {
		t.Error(got)
	}
	s.answer(s.tool("echo", "{}"))
}

// TestServerRequests checks that neither side confuses the IDs if the server sends a request with
// the same ID as the proxy's own request.
func TestServerRequests(t *testing.T) {
	s := start(t, child(t, "plain"))
	got := s.answer(s.tool("ask", "{}"))
	for _, want := range []string{`\"result\":{}}`, `-32601`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Count(got, "-32601") != 2 {
		t.Error(got)
	}
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	t.Setenv("LC_ALL", "C")
	c := child(t, "plain")
	c.Env["MINE"] = "yes"
	c.Env["HOME"] = "/elsewhere"
	s := start(t, c)
	got := s.answer(s.tool("env", "{}"))
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "MINE=yes") || !strings.Contains(got, "LC_ALL=C") {
		t.Error(got)
	}
	if !strings.Contains(got, "HOME=/elsewhere") || strings.Count(got, "HOME=") != 1 {
		t.Error(got)
	}
}

func TestDeathLeavesProof(t *testing.T) {
	t.Parallel()
	s := start(t, child(t, "plain"))
	silent := s.tool("silent", "{}")
	s.tool("exit", "{}")
	r := <-silent.Done()
	var lost *Lost
	if !errors.As(r.Err, &lost) || !lost.Sent || !lost.Dead || !strings.Contains(lost.Error(), "exit status 3") {
		t.Fatal(r.Err)
	}
	if errors.Is(r.Err, ErrNotSent) {
		t.Error("it was sent")
	}
	if st := s.await(Down); !strings.Contains(st.Err.Error(), "exit status 3") {
		t.Error(st.Err)
	}
	s.await(Up) // again
	s.answer(s.tool("echo", "{}"))
}

func TestLastWordsAreHeard(t *testing.T) {
	s := start(t, child(t, "plain"))
	if got := s.answer(s.tool("answer-and-exit", "{}")); !strings.Contains(got, "zzz") {
		t.Error(got)
	}
}

func TestClosedOutputEndsTheChild(t *testing.T) {
	s := prepare(t, child(t, "plain"))
	s.host.Grace.Tell = 0 // do not wait for an exit status
	s.Start(t.Context())
	s.await(Up)
	pid := s.State().Pid
	r := <-s.tool("close-output", "{}").Done()
	var lost *Lost
	if !errors.As(r.Err, &lost) || !lost.Dead {
		t.Fatal(r.Err)
	}
	checkGone(t, pid)
}

func TestDownAnswersAtOnce(t *testing.T) {
	s := prepare(t, Config{Name: "none", Command: "petrigate-no-such-command"})
	if r := <-s.tool("x", "{}").Done(); !errors.Is(r.Err, ErrNotSent) {
		t.Error(r.Err)
	}
	s.Start(t.Context())
	<-s.Settled()
	st := s.State()
	if st.Phase != Failed || !strings.Contains(st.Err.Error(), "petrigate-no-such-command") {
		t.Errorf("%+v", st)
	}
	if r := <-s.tool("x", "{}").Done(); !errors.Is(r.Err, ErrNotSent) || !strings.Contains(r.Err.Error(), "not found") {
		t.Error(r.Err)
	}
}

// TestDeathAtTheStart checks that the error describes the child's exit even if the first write
// fails before the exit is known.
func TestDeathAtTheStart(t *testing.T) {
	for range 20 {
		s := prepare(t, Config{Name: "dead", Command: "false"})
		s.Start(t.Context())
		<-s.Settled()
		if st := s.State(); st.Err == nil || !strings.Contains(st.Err.Error(), "exit status 1") {
			t.Fatalf("%+v", st)
		}
		s.Close()
	}
}

func TestBadConfigurations(t *testing.T) {
	for name, c := range map[string]Config{
		"nothing":     {},
		"both":        {Command: "true", URL: "http://127.0.0.1/"},
		"scheme":      {URL: "file:///etc/passwd"},
		"no host":     {URL: "http:///x"},
		"revision":    {Command: "cat", Protocol: "1999-01-01"},
		"twice":       {URL: "http://127.0.0.1/", Headers: map[string]string{"x-idempotency-key": "1"}},
		"a directory": {Command: os.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			s := prepare(t, c)
			s.Start(t.Context())
			<-s.Settled()
			if st := s.State(); st.Phase != Failed || st.Err == nil {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestOtherCallsWhileTheChildDoesNotRead(t *testing.T) {
	t.Parallel()
	s := start(t, child(t, "plain"))
	s.answer(s.tool("stop-reading", "{}"))
	chunk := `{"t":"` + strings.Repeat("a", 1<<20) + `"}`
	var exchanges []*Exchange
	var refused int
	for range 2 * process.MaxPending >> 20 { // no call of Send may block
		x := s.tool("echo", chunk)
		exchanges = append(exchanges, x)
		select {
		case r := <-x.Done():
			if !errors.Is(r.Err, ErrNotSent) || !strings.Contains(r.Err.Error(), "not reading") {
				t.Fatal(r.Err)
			}
			refused++
			exchanges = exchanges[:len(exchanges)-1]
		default:
		}
	}
	if refused == 0 || len(exchanges) < 3 {
		t.Fatal(refused, len(exchanges))
	}
	s.Close()
	for i, x := range exchanges {
		r := <-x.Done()
		var lost *Lost
		if !errors.As(r.Err, &lost) || lost.Sent != (i == 0) || lost.Sent == errors.Is(r.Err, ErrNotSent) {
			t.Fatalf("%d: %+v", i, r.Err)
		}
	}
}

func TestContextEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := prepare(t, child(t, "plain"))
	s.Start(ctx)
	pid := s.await(Up).Pid
	cancel()
	for st := range s.states {
		if st.Phase == Failed {
			break
		}
	}
	checkGone(t, pid)
}

func TestTooLongMessageCutsTheConnection(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"long", "endless"} {
		t.Run(tool, func(t *testing.T) {
			c := child(t, "plain")
			c.MaxMessage = 1 << 18
			s := start(t, c)
			r := <-s.tool(tool, "{}").Done()
			if !errors.Is(r.Err, process.ErrTooLong) || !strings.Contains(r.Err.Error(), "262144") {
				t.Fatal(r.Err)
			}
			s.await(Up)
		})
	}
}

func TestMalformedAnswerEndsTheCall(t *testing.T) {
	s := start(t, child(t, "plain"))
	for _, tool := range []string{"malformed", "latin"} {
		r := <-s.tool(tool, "{}").Done()
		var lost *Lost
		if !errors.As(r.Err, &lost) || !lost.Sent || lost.Dead {
			t.Error(tool, r)
		}
	}
	s.answer(s.tool("echo", "{}"))
}

func TestGarbageIsSkipped(t *testing.T) {
	s := start(t, child(t, "fixture", "--garbage"))
	s.answer(s.tool("echo", `{"a":1}`))
	if !strings.Contains(s.log.String(), "malformed line") {
		t.Error("nothing in the log")
	}
}

func TestStandardErrorIsTamed(t *testing.T) {
	s := start(t, child(t, "plain"))
	s.answer(s.tool("flood-stderr", "{}"))
	s.Close()
	log := s.log.String()
	if n := strings.Count(log, "red"); n == 0 || n > 2*conn.TrickleBurst {
		t.Errorf("%d lines", n)
	}
	if strings.ContainsAny(log, "\x1b\u202e") || !strings.Contains(log, "from the log") || len(log) > 1<<20 {
		t.Error(len(log))
	}
}

func TestNegotiation(t *testing.T) {
	for _, c := range []struct {
		role, protocol string
		args           []string
		rev            *rev.Rev
		version        string
	}{
		{"plain", "", nil, rev.Rev2025, "2025-06-18"},
		{"plain", "auto", nil, rev.Rev2025, "2025-06-18"},
		{"modern", "", nil, rev.Rev2026, "2026-07-28"},
		{"modern", "2026-07-28", nil, rev.Rev2026, "2026-07-28"},
		{"modern", "legacy", nil, rev.Rev2025, "2025-06-18"},
		{"fixture", "", []string{"--die-on-discover"}, rev.Rev2025, "2025-11-25"},
		{"fixture", "", []string{"--era", "modern"}, rev.Rev2026, "2026-07-28"},
		{"fixture", "2025-06-18", nil, rev.Rev2025, "2025-06-18"},
	} {
		t.Run(strings.Join(append([]string{c.role, c.protocol}, c.args...), " "), func(t *testing.T) {
			config := child(t, c.role, c.args...)
			config.Protocol = c.protocol
			s := start(t, config)
			st := s.State()
			if st.Rev() != c.rev || st.ProtocolVersion != c.version || st.Err != nil || len(st.Capabilities) == 0 {
				t.Errorf("%+v\n%s", st, s.log)
			}
			if want := c.rev == rev.Rev2026; bytes.Contains(s.RequestMeta(nil), []byte(`"2026-07-28"`)) != want {
				t.Errorf("%s", s.RequestMeta(nil))
			}
		})
	}
}

// TestSilenceOnTheProbe checks that the proxy waits only once for a server that does not answer the
// probe.
func TestSilenceOnTheProbe(t *testing.T) {
	t.Parallel()
	c := child(t, "mute-probe")
	c.Protocol = ""
	s := prepare(t, c)
	s.probe = 50 * time.Millisecond
	s.Start(t.Context())
	if st := s.await(Up); st.Rev() != rev.Rev2025 {
		t.Errorf("%+v", st)
	}
	s.probe = time.Hour // the second time, the server is not probed
	s.tool("exit", "{}")
	s.await(Down)
	s.await(Up)
}

// TestLateModernServer checks that a modern server is detected even if it takes longer to start
// than the probe waits.
func TestLateModernServer(t *testing.T) {
	c := child(t, "late")
	c.Protocol = ""
	s := prepare(t, c)
	s.probe = 50 * time.Millisecond
	s.Start(t.Context())
	if st := s.await(Up); st.Rev() != rev.Rev2026 || st.Instructions != `be "nice"` {
		t.Errorf("%+v", st)
	}
}

// TestLateToTheProbe checks that the revision does not depend on how fast a server starts. One
// server supports both families and receives initialize before it has read the probe. Another ends
// when it reads the probe, which it does not do before it is restarted.
func TestLateToTheProbe(t *testing.T) {
	for role, want := range map[string]*rev.Rev{"late-both": rev.Rev2026, "late-death": rev.Rev2025} {
		t.Run(role, func(t *testing.T) {
			c := child(t, role)
			c.Protocol = ""
			c.Env["MARK"] = t.TempDir() + "/asked"
			s := prepare(t, c)
			s.probe = 50 * time.Millisecond
			s.Start(t.Context())
			if st := <-s.states; st.Phase != Up || st.Rev() != want {
				t.Errorf("%+v\n%s", st, s.log)
			}
		})
	}
}

// TestLateAndModernOnly checks that a server may take the whole connect timeout to start if the
// probe has no alternative.
func TestLateAndModernOnly(t *testing.T) {
	c := child(t, "modern")
	c.Protocol = "2026-07-28"
	s := prepare(t, c)
	s.probe = time.Nanosecond
	s.Start(t.Context())
	if st := <-s.states; st.Phase != Up || st.Rev() != rev.Rev2026 {
		t.Errorf("%+v\n%s", st, s.log)
	}
}

func TestModernIsNotLegacy(t *testing.T) {
	c := child(t, "plain")
	c.Protocol = "2026-07-28"
	s := prepare(t, c)
	s.Start(t.Context())
	if st := s.await(Down); !errors.Is(st.Err, errNot2026) {
		t.Error(st.Err)
	}
}

func TestServerThatNeverAnswers(t *testing.T) {
	s := prepare(t, child(t, "fixture", "--hang"))
	s.host.Options.ConnectTimeout = 100 * time.Millisecond
	s.Start(t.Context())
	if st := s.await(Down); !strings.Contains(st.Err.Error(), "did not complete the handshake") {
		t.Error(st.Err)
	}
}

func TestProgressComesBeforeTheReply(t *testing.T) {
	s := start(t, child(t, "fixture"))
	token := s.NewToken()
	var notes []string
	done := make(chan Reply, 1)
	s.Send(Request{
		Method: "tools/call", Name: "progress", Token: token,
		Params:  fmt.Appendf(nil, `{"name":"progress","arguments":{"n":50},"_meta":{"progressToken":%d}}`, token),
		Notify:  func(method string, params []byte) { notes = append(notes, method+string(params)) },
		Deliver: func(r Reply) { done <- r },
	})
	if r := <-done; r.Result == nil || len(notes) != 50 {
		t.Fatalf("%d notifications, %s %v", len(notes), r.Error, r.Err)
	}
	for i, n := range notes {
		if !strings.Contains(n, fmt.Sprintf(`"progress":%d`, i+1)) {
			t.Errorf("%d: %s", i, n)
		}
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	record := t.TempDir() + "/record"
	s := start(t, child(t, "fixture", "--record", record))
	x := s.tool("slow", "{}")
	x.Cancel(`no "need"`)
	s.answer(s.tool("echo", "{}"))
	data, err := os.ReadFile(record)
	if err != nil || !strings.Contains(string(data), `"kind":"cancelled"`) {
		t.Fatal(err, string(data))
	}
	s.Close()
	<-x.Done() // there is a reply, however it ends
	x.Cancel("again")
}
