package stdiofront

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/internal/testbinary"
	"github.com/petrigate/petrigate/internal/testserver"
)

var update = flag.Bool("update", false, "write the recordings anew")

// A speaker is a client over HTTP that sends the messages given to it.
type speaker struct {
	t       *testing.T
	url     string
	modern  bool
	session string
	id      int
}

// say sends a message and reads the response to its end. %ID% stands for a new ID, and %META% for
// what the newer revision family requires in params.
func (s *speaker) say(ctx context.Context, message string) {
	s.t.Helper()
	if strings.Contains(message, "%ID%") {
		s.id++
	}
	meta := ""
	if s.modern {
		meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"s","version":"1"},"progressToken":"\u0074","io.modelcontextprotocol/logLevel":"debug"},`
	}
	message = strings.NewReplacer("%ID%", fmt.Sprint(s.id), "%META%", meta).Replace(message)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(message))
	if err != nil {
		s.t.Error(err)
		return
	}
	var m struct {
		Method string
		Params struct{ Name string }
	}
	_ = json.Unmarshal([]byte(message), &m)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.modern {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", m.Method)
		r.Header.Set("Mcp-Name", m.Params.Name)
	} else if s.session != "" {
		r.Header.Set(sessionHeader, s.session)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return // canceled
	}
	defer func() { _ = response.Body.Close() }()
	if id := response.Header.Get(sessionHeader); id != "" {
		s.session = id
	}
	_, _ = io.Copy(io.Discard, response.Body)
}

// told returns what our client sends in both revision families.
func told() []string {
	var list []string
	for _, call := range []string{
		`"name":"echo","arguments":{"n":12345678901234567890,"f":1.0,"e":1E400,"z":-0,"s":"\u00e9 é <&>\/"}`,
		`"name":"echo"`, `"name":"flaky","arguments":{"fail":true}`, `"name":"flaky","arguments":{"error":{"n":1.50,"a":[1 ,2]}}`,
		`"name":"lie","arguments":{"result":{"content":[{"type":"hologram"}],"structuredContent":[1.0],"resultType":"complete","x":{"isError":true}}}`,
		`"name":"lie","arguments":{"error":{"code":-32042,"message":"no","data":{"n":-0},"extra":true}}`,
		`"name":"progress","arguments":{"n":3}`, `"name":"log","arguments":{"n":3}`, `"name":"unheard"`,
	} {
		list = append(list, `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%`+call+`}}`)
	}
	return append(list, `{"jsonrpc":"2.0","id":%ID%,"method":"tools/list","params":{%META%"x":1.0}}`, `{"jsonrpc":"2.0","id":%ID%,"method":"vendor/unheard","params":{%META%"x":1}}`)
}

// tape records our client in front of the fixture.
func tape(t *testing.T, modern bool) []byte {
	t.Helper()
	var log testserver.Log
	era := testserver.Legacy
	if modern {
		era = testserver.Modern
	}
	server := httptest.NewServer(testserver.New(testserver.Options{Tools: testserver.Attack(), Revisions: era, Record: log.Add}))
	defer server.Close()
	r := newRelay(server.URL)
	front := httptest.NewServer(r)
	defer front.Close()
	defer r.client.CloseIdleConnections()
	s := &speaker{t: t, url: front.URL, modern: modern}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if modern {
		s.say(ctx, `{"jsonrpc":"2.0","id":%ID%,"method":"server/discover","params":{%META%"x":1}}`)
	} else {
		s.say(ctx, `{"jsonrpc":"2.0","id":%ID%,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"s","version":"1"}}}`)
		s.say(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		s.say(ctx, `{"jsonrpc":"2.0","id":%ID%,"method":"ping"}`)
		s.say(ctx, `{"jsonrpc":"2.0","id":%ID%,"method":"logging/setLevel","params":{"level":"debug"}}`)
	}
	for _, message := range told() {
		s.say(ctx, message)
	}
	s.giveUp(ctx, &log)
	front.Close() // waits until the relay has noticed that the client has left
	var b bytes.Buffer
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// giveUp starts a call and cancels it in the way that the revision family requires.
func (s *speaker) giveUp(ctx context.Context, log *testserver.Log) {
	s.t.Helper()
	calling, hangUp := context.WithCancel(ctx)
	defer hangUp()
	var call sync.WaitGroup
	call.Go(func() {
		s.say(calling, `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%"name":"slow"}}`)
	})
	if err := log.AwaitExecuted(ctx, "slow", 1); err != nil {
		s.t.Fatal(err)
	}
	if s.modern {
		hangUp()
		call.Wait()
		if _, err := log.Await(ctx, func(r []testserver.Record) bool { return len(r) > 0 }, testserver.Closed); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	s.say(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, s.id))
	call.Wait()
}

func eachEra(t *testing.T, f func(t *testing.T, modern bool, recording string)) {
	for _, modern := range []bool{false, true} {
		name := map[bool]string{false: "legacy", true: "modern"}[modern]
		t.Run(name, func(t *testing.T) { f(t, modern, filepath.Join("testdata", name+".jsonl")) })
	}
}

// TestRecord checks that the relay records everything that our client and the fixture send.
func TestRecord(t *testing.T) {
	eachEra(t, func(t *testing.T, modern bool, recording string) {
		got := tape(t, modern)
		if *update {
			if err := os.WriteFile(recording, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(recording)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// TestReplay checks that the same messages arrive over stdio through petrigate as without it.
func TestReplay(t *testing.T) {
	petrigate := testbinary.Path(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachEra(t, func(t *testing.T, _ bool, recording string) {
		f, err := os.Open(recording)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		conversations, err := readRecording(f)
		if err != nil || len(conversations) != 1 {
			t.Fatal(len(conversations), err)
		}
		direct := []string{"env", childMark + "=--era both", "GORACE=atexit_sleep_ms=0", self}
		through := append([]string{"env", "XDG_RUNTIME_DIR=" + t.TempDir(), "XDG_STATE_HOME=" + t.TempDir(), "PETRIGATE_STARTUP=5m", petrigate, "wrap", "--"}, direct...)
		requests, differences, err := both(direct, through, conversations[0], nil)
		if err != nil || requests < len(told()) {
			t.Fatal(requests, err)
		}
		for _, d := range differences {
			t.Error(d)
		}
	})
}

// TestCompareTells checks that differences are reported.
func TestCompareTells(t *testing.T) {
	one := func(answer, note string) transcript {
		return transcript{
			requests: []entry{{From: "client", Message: json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)}},
			answers:  map[int]json.RawMessage{1: json.RawMessage(answer)}, notifications: []json.RawMessage{json.RawMessage(note)},
		}
	}
	const answer, note = `{"result":{"n":1.0,"requestState":"a"}}`, `{"method":"notifications/progress","params":{"progress":1}}`
	for _, c := range []struct {
		answer, note string
		differences  int
	}{
		{answer, note, 0},
		{`{"result":{"n":1.0,"requestState":"b"}}`, note, 0},
		{`{"result":{"n":1,"requestState":"a"}}`, note, 1},
		{`{"error":{"code":-32000}}`, note, 1},
		{answer, `{"method":"notifications/progress","params":{"progress":1.0}}`, 1},
	} {
		if got := compare(one(answer, note), one(c.answer, c.note), nil); len(got) != c.differences {
			t.Errorf("%s %s: %q", c.answer, c.note, got)
		}
	}
	if got := compare(one(answer, note), transcript{}, nil); len(got) != 2 {
		t.Errorf("nothing at all: %q", got)
	}
}
