package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/rawjson"
)

const hopMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

func TestAppendForward(t *testing.T) {
	legacy := Hop{Name: "up", ProgressToken: []byte("99")}
	modern := Hop{Name: "up", ProgressToken: []byte("99"), Meta: []byte(hopMeta)}
	tests := []struct {
		name, params string
		hop          Hop
		want         string
	}{
		{"nothing", ` { "name" : "u\u0070" , "arguments" : { "a" : 1.0 } } `, legacy, `{ "name" : "u\u0070" , "arguments" : { "a" : 1.0 } }`},
		{"name", `{"arguments":{"a":1.0},"name":"exposed"}`, legacy, `{"arguments":{"a":1.0},"name":"up"}`},
		{"name that needs escapes", `{"name":"x"}`, Hop{Name: `a"b`}, `{"name":"a\"b"}`},
		{"progress token", `{"name":"x","_meta":{"progressToken":"abc","trace":1}}`, legacy, `{"name":"up","_meta":{"progressToken":99,"trace":1}}`},
		{"no progress token", `{"name":"x","_meta":{"progressToken":"abc","trace":1}}`, Hop{Name: "up"}, `{"name":"up","_meta":{"trace":1}}`},
		{"hop keys", `{"name":"x","_meta":{` + hopMeta + `,"a":1,"io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/logLevel":"info","b":[ 2 ]}}`, legacy, `{"name":"up","_meta":{"a":1,"b":[ 2 ]}}`},
		{"hop keys alone", `{"_meta":{` + hopMeta + `},"name":"x","v":1}`, legacy, `{"name":"up","v":1}`},
		{"hop keys alone at the end", `{"name":"x","_meta":{` + hopMeta + `}}`, legacy, `{"name":"up"}`},
		{"empty _meta of the client", `{"name":"x","_meta":{ }}`, legacy, `{"name":"up","_meta":{ }}`},
		{"to a modern upstream", `{"name":"x","arguments":{}}`, modern, `{"name":"up","arguments":{},"_meta":{` + hopMeta + `}}`},
		{"with _meta to a modern upstream", `{"name":"x","_meta":{"a":1}}`, modern, `{"name":"up","_meta":{"a":1,` + hopMeta + `}}`},
		{"between modern ones", `{"name":"x","_meta":{` + hopMeta + `,"progressToken":5}}`, modern, `{"name":"up","_meta":{"progressToken":99,` + hopMeta + `}}`},
		{"hop keys alone between modern ones", `{"name":"x","_meta":{` + hopMeta + `}}`, modern, `{"name":"up","_meta":{` + hopMeta + `}}`},
		{"state and task", `{"task":{"ttl":1},"name":"x","inputResponses":{},"requestState":"s","z":0}`, legacy, `{"name":"up","z":0}`},
		{"replaced", `{"task":{"ttl":1},"name":"x","inputResponses":{},"requestState":"s","z":0}`,
			Hop{Name: "up", Task: []byte(`{"ttl":2}`), InputResponses: []byte(`{"a":{}}`), RequestState: `"`, HasState: true},
			`{"task":{"ttl":2},"name":"up","inputResponses":{"a":{}},"requestState":"\"","z":0}`},
		{"added", `{"name":"x"}`,
			Hop{Name: "up", Task: []byte(`{"ttl":2}`), InputResponses: []byte(`{"a":{}}`), HasState: true},
			`{"name":"up","task":{"ttl":2},"inputResponses":{"a":{}},"requestState":""}`},
		{"white space", "{ \"task\" : {} , \"a\" : 1 , \"name\" : \"x\" , \"requestState\" : \"\" }", legacy, `{  "a" : 1 , "name" : "up" }`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, fault := parseCall(call(tt.params))
			if fault != nil {
				t.Fatal(fault)
			}
			if got := string(c.AppendForward([]byte("behind "), tt.hop)); got != "behind "+tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// FuzzForward checks that an accepted call is forwarded with the name and the arguments that were
// decided on, both for strict parsers and for those that ignore case.
func FuzzForward(f *testing.F) {
	for _, tt := range attacks {
		f.Add([]byte(tt.raw), "up", true, true)
	}
	f.Add([]byte(callMessage), "x", false, true)
	f.Add([]byte(call(`{"task":{},"_meta":{`+hopMeta+`,"progressToken":1},"requestState":"s","name":"a"}`)), "x", true, true)
	f.Fuzz(func(t *testing.T, raw []byte, name string, modern, token bool) {
		m, fault := Parse(raw, 4<<20)
		if fault != nil {
			return
		}
		if _, fault := ParseMeta(m); fault != nil {
			return
		}
		c, fault := ParseCall(m)
		if fault != nil {
			return
		}
		h := Hop{Name: name, Task: c.Task}
		if modern {
			h.Meta = []byte(hopMeta)
		}
		if token {
			h.ProgressToken = []byte("7")
		}
		checkForwarded(t, c, h)
		h.Name = c.Name
		sameForAll(t, raw, c)
		checkForwarded(t, c, h)
	})
}

func checkForwarded(t *testing.T, c Call, h Hop) {
	t.Helper()
	out := c.AppendForward(nil, h)
	if err := rawjson.Check(out, 130); err != nil && !strings.Contains(h.Name, "\x00") {
		t.Fatalf("forwarded %s: %v", out, err)
	}
	if bytes.ContainsAny(out, "\r\n") {
		t.Fatalf("forwarded %q with a line break", out)
	}
	var p struct {
		Name      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatalf("forwarded %s: %v", out, err)
	}
	if p.Name != string([]rune(h.Name)) { // bytes that are not valid UTF-8 cannot be sent
		t.Fatalf("forwarded the name %q as %q", h.Name, p.Name)
	}
	if !bytes.Equal(p.Arguments, c.Arguments) {
		t.Fatalf("forwarded the arguments %s as %s", c.Arguments, p.Arguments)
	}
}

// sameForAll decodes the message like a server that ignores case.
func sameForAll(t *testing.T, raw []byte, c Call) {
	t.Helper()
	var m struct {
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
			Task      json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("accepted %s: %v", raw, err)
	}
	if m.Params.Name != c.Name || !bytes.Equal(oneLine(m.Params.Arguments, ' '), c.Arguments) || (m.Params.Task == nil) != (c.Task == nil) {
		t.Fatalf("%s is read as a call of %q with %s by others, %q with %s here", raw, m.Params.Name, m.Params.Arguments, c.Name, c.Arguments)
	}
}

func TestForwardAllocations(t *testing.T) {
	raw, dst := []byte(callMessage), make([]byte, 0, 1024)
	h := Hop{Name: "commit", ProgressToken: []byte("4711")}
	n := testing.AllocsPerRun(100, func() {
		m, _ := Parse(raw, 4<<20)
		c, _ := ParseCall(m)
		dst = c.AppendForward(dst[:0], h)
	})
	if n > 2 {
		t.Errorf("%v allocations", n)
	}
}

func ExampleCall_AppendForward() {
	m, _ := Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files_delete","arguments":{"id":12345678901234567891},"_meta":{"progressToken":"p"}}}`), 4<<20)
	call, _ := ParseCall(m)
	fmt.Printf("%s\n", call.AppendForward(nil, Hop{Name: "delete", ProgressToken: []byte("41")}))
	// Output: {"name":"delete","arguments":{"id":12345678901234567891},"_meta":{"progressToken":41}}
}
