package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// A malformed message is refused before any decision. In the templates, %META% is the _meta of the
// revision and %ID% a fresh id.
type malformed struct {
	name     string
	template string
	code     string
	noID     bool // the id is unknown or missing
}

// callOf is a template of a call with these params.
func callOf(params string) string {
	return `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%` + params + `}}`
}

// args is a template of a call of safe with these arguments.
func args(a string) string { return callOf(`"name":"safe","arguments":` + a) }

func differentials() []malformed {
	return []malformed{
		{"A001 case variant of name", callOf(`"name":"safe","Name":"danger","arguments":{}`), proxytest.CodeParams, false},
		{"A002 only the wrong case", callOf(`"NAME":"danger"`), proxytest.CodeParams, false},
		{"A003 name twice", callOf(`"name":"safe","name":"danger"`), proxytest.CodeParse, true},
		{"A004 name twice, escaped", callOf(`"name":"safe","na\u006de":"danger"`), proxytest.CodeParse, true},
		{"A005 long s in params", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","param` + "\u017f" + `":{%META%"name":"danger"}}`, proxytest.CodeRequest, false},
		{"A005 long s beside params", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%"name":"safe"},"param` + "\u017f" + `":{"name":"danger"}}`, proxytest.CodeRequest, false},
		{"A005 Kelvin sign", callOf(`"name":"safe","tas` + "\u212a" + `":{}`), proxytest.CodeParams, false},
		{"A005 escaped long s", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","param\u017f":{"name":"danger"}}`, proxytest.CodeRequest, false},
		{"A006 long s in arguments", callOf(`"name":"safe","arguments":{"a":1},"argument` + "\u017f" + `":{"a":2}`), proxytest.CodeParams, false},
		{"A006 escaped", callOf(`"name":"safe","arguments":{"a":1},"argument\u017f":{"a":2}`), proxytest.CodeParams, false},
		{"A007 NUL in a key", callOf(`"name":"safe","name\u0000":"danger"`), proxytest.CodeParse, true},
		{"A007 NUL in the name", callOf(`"name":"danger\u0000"`), proxytest.CodeParse, true},
		{"A007 NUL in an action", callOf(`"name":"discord","arguments":{"action":"timeout\u0000"}`), proxytest.CodeParse, true},
		{"A007 raw NUL", callOf("\"name\":\"danger\x00\""), proxytest.CodeParse, true},
		{"A008 second method", `{"jsonrpc":"2.0","id":%ID%,"method":"ping","METHOD":"tools/call","params":{%META%"name":"danger"}}`, proxytest.CodeRequest, false},
		{"A008 method twice", `{"jsonrpc":"2.0","id":%ID%,"method":"ping","method":"tools/call","params":{%META%"name":"danger"}}`, proxytest.CodeParse, true},
		{"A009 key twice in arguments", callOf(`"name":"bash","arguments":{"command":"ls","command":"rm -rf /"}`), proxytest.CodeParse, true},
		{"A009 deep", args(`{"a":{"b":{"c":{"d":{"e":1,"e":2}}}}}`), proxytest.CodeParse, true},
		{"A009 in an array", args(`{"a":[[{"e":1,"\u0065":2}]]}`), proxytest.CodeParse, true},
		{"A010 _meta twice", callOf(`"_meta":{},"_meta":{},"name":"safe"`), proxytest.CodeParse, true},
		{"A010 protocolVersion twice", callOf(`"name":"safe","arguments":{},"protocolVersion":"1","protocolVersion":"2"`), proxytest.CodeParse, true},
		{"A010 inputResponses twice", callOf(`"name":"safe","inputResponses":{},"inputResponses":{}`), proxytest.CodeParse, true},
		{"A010 requestState twice", callOf(`"name":"safe","requestState":"a","requestState":"b"`), proxytest.CodeParse, true},
		{"A010 task twice", callOf(`"name":"safe","task":{},"task":{}`), proxytest.CodeParse, true},
		{"A010 case variant of requestState", callOf(`"name":"safe","requeststate":"a"`), proxytest.CodeParams, false},
		{"A011 invalid UTF-8 in the name", callOf("\"name\":\"sa\xfffe\""), proxytest.CodeParse, true},
		{"A011 invalid UTF-8 in arguments", args("{\"command\":\"r\xffm\"}"), proxytest.CodeParse, true},
		{"A011 overlong", args("{\"a\":\"\xc0\xae\"}"), proxytest.CodeParse, true},
		{"A012 lone surrogate", args(`{"a":"\ud800"}`), proxytest.CodeParse, true},
		{"A012 lone low surrogate in a key", args(`{"\udc00":1}`), proxytest.CodeParse, true},
		{"A012 surrogate as bytes", args("{\"a\":\"\xed\xa0\x80\"}"), proxytest.CodeParse, true},
		{"A013 byte order mark", "\ufeff" + args(`{}`), proxytest.CodeParse, true},
		{"A015 hexadecimal", args(`{"a":0x10}`), proxytest.CodeParse, true},
		{"A015 NaN", args(`{"a":NaN}`), proxytest.CodeParse, true},
		{"A015 plus sign", args(`{"a":+1}`), proxytest.CodeParse, true},
		{"A015 leading zero", args(`{"a":01}`), proxytest.CodeParse, true},
		{"A015 no digits", args(`{"a":1.}`), proxytest.CodeParse, true},
		{"A016 deeper than 128", args(nested(127)), proxytest.CodeParse, true},
		{"A016 deep", args(nested(20_000)), proxytest.CodeParse, true},
		{"A016 unbalanced", args(strings.Repeat(`{"a":`, 100_000)), proxytest.CodeParse, true},
		{"A017 trailing object", args(`{}`) + ` {"x":1}`, proxytest.CodeParse, true},
		{"A017 second message", args(`{}`) + callOf(`"name":"danger"`), proxytest.CodeParse, true},
		{"A017 trailing comma", args(`{},`), proxytest.CodeParse, true},
		{"A019 batch", `[` + callOf(`"name":"danger"`) + `,` + args(`{}`) + `]`, proxytest.CodeRequest, true},
		{"A019 empty batch", `[]`, proxytest.CodeRequest, true},
		{"A021 id is an object", `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{%META%"name":"safe"}}`, proxytest.CodeRequest, true},
		{"A021 id is an array", `{"jsonrpc":"2.0","id":[1],"method":"tools/call","params":{%META%"name":"safe"}}`, proxytest.CodeRequest, true},
		{"A021 id is a boolean", `{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{%META%"name":"safe"}}`, proxytest.CodeRequest, true},
		{"A021 id is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{%META%"name":"safe"}}`, proxytest.CodeRequest, true},
		{"A020 id is null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{%META%"name":"danger"}}`, proxytest.CodeRequest, true},
		{"A021 id of 4 KB", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 4096) + `","method":"tools/call","params":{%META%"name":"safe"}}`, proxytest.CodeRequest, true},
		{"A022 method and result", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","result":{},"params":{%META%"name":"danger"}}`, proxytest.CodeRequest, false},
		{"A022 method and error", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","error":{"code":1,"message":""},"params":{%META%"name":"danger"}}`, proxytest.CodeRequest, false},
		{"A023 unknown member", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%"name":"safe"},"params2":{"name":"danger"}}`, proxytest.CodeRequest, false},
		{"A023 __proto__", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{%META%"name":"safe"},"__proto__":{"method":"x"}}`, proxytest.CodeRequest, false},
		{"no version", `{"id":%ID%,"method":"tools/call","params":{%META%"name":"safe"}}`, proxytest.CodeRequest, false},
		{"other version", `{"jsonrpc":"1.0","id":%ID%,"method":"tools/call","params":{%META%"name":"safe"}}`, proxytest.CodeRequest, false},
		{"A039 no name", callOf(`"arguments":{}`), proxytest.CodeParams, false},
		{"A039 empty name", callOf(`"name":""`), proxytest.CodeParams, false},
		{"A039 64 KB name", callOf(`"name":"` + strings.Repeat("x", 64<<10) + `"`), proxytest.CodeParams, false},
		{"name is a number", callOf(`"name":5`), proxytest.CodeParams, false},
		{"A050 null", args(`null`), proxytest.CodeParams, false},
		{"A050 array", args(`[]`), proxytest.CodeParams, false},
		{"A050 string", args(`"x"`), proxytest.CodeParams, false},
		{"A050 number", args(`5`), proxytest.CodeParams, false},
		{"_meta is no object", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{"_meta":[],"name":"safe"}}`, proxytest.CodeParams, false},
		{"params are an array", `{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":["danger"]}`, proxytest.CodeParams, false},
		{"task is no object", callOf(`"name":"safe","task":true`), proxytest.CodeParams, false},
	}
}

// nested returns an object of that depth.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
}

// TestMalformed: A001 to A023, A039, A050. Each message is answered, nothing moves and nothing is
// executed, on every leg with the same code.
func TestMalformed(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		c.Must("read", `{}`)
		before := s.State()
		for _, m := range differentials() {
			raw, id := c.Fill(m.template)
			want := id
			if m.noID {
				want = "null"
			}
			c.Send(raw, nil)
			r := c.Await(m.name, func(m proxytest.Message) bool {
				return m.Method == "" && (m.ID == want || m.Status >= 300 && m.ID == "")
			})
			unnamed := r.Code() == proxytest.CodeHeaders && l.HTTP && l.Modern && strings.Contains(m.name, "name") // no header fits it
			if r.Code() != m.code && !unnamed || r.ID != want {
				t.Errorf("%s: got id %q and %s, want code %s", m.name, r.ID, proxytest.Clip(r.Raw), m.code)
			}
			if l.HTTP && m.code != proxytest.CodeParams && r.Status != http.StatusBadRequest {
				t.Errorf("%s: status %d", m.name, r.Status)
			}
			if n := s.Log.Executed(""); n != 1 {
				t.Fatalf("%s: %d executions", m.name, n)
			}
		}
		if after := s.State(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		c.Must("read", `{}`) // the stream continues
		c.Close()
		s.Executed("", 2)
	})
}

// TestArgumentsReachUpstreamVerbatim: A014, A015, A016, A024. Accepted arguments reach the upstream
// as the very same bytes.
func TestArgumentsReachUpstreamVerbatim(t *testing.T) {
	cases := []string{
		`{}`,
		`{"id":12345678901234567891}`,
		`{"a":1.0,"b":1,"c":-0,"d":1E2,"e":1e400,"f":0.10}`,
		`{"n":` + strings.Repeat("9", 100_000) + `}`,
		`{ "b" : 1 ,  "a":	[ ] }`,
		`{"a":"\u0061\/\n<>&` + "\u2028" + `"}`,
		`{"name":"danger","Name":"x","_meta":{"progressToken":1}}`,
		`{"a":"😀","b":"\ud83d\ude00"}`,
		nested(64),
		nested(126),
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		for i, a := range cases {
			c.Must("read", a)
			records := s.Log.Records(testserver.Executed)
			if got := string(records[i].Args); got != a {
				t.Errorf("sent %s, arrived %s", proxytest.Clip([]byte(a)), proxytest.Clip([]byte(got)))
			}
		}
		c.Must("read", "") // A050: absent stays absent
		records := s.Log.Records(testserver.Executed)
		if got := records[len(cases)].Args; got != nil {
			t.Errorf("absent arguments arrived as %s", got)
		}
	})
}

// TestUnknownParams: A023. Unknown members of params are forwarded unchanged, and members that
// belong to the hop are not.
func TestUnknownParams(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		extra := `,"x-new": {"a": 1.0, "b":[1 ,2]}`
		r := c.Reply(c.CallWith("read", `{}`, `"vendor/key": 1.50`, extra+`,"inputResponses":{"approval":{}}`))
		if r.Result == nil || r.IsError() {
			t.Fatalf("%s", r.Raw)
		}
		received := s.Log.Records(testserver.Received)
		var params string
		for _, rec := range received {
			if proxytest.Member(rec.Bytes, "method") == `"tools/call"` {
				params = proxytest.Member(rec.Bytes, "params")
			}
		}
		if !strings.Contains(params, `"x-new": {"a": 1.0, "b":[1 ,2]}`) || !strings.Contains(params, `"vendor/key": 1.50`) {
			t.Errorf("unknown members were lost: %s", params)
		}
		if strings.Contains(params, "inputResponses") != l.Modern || // stateless upstreams read them
			strings.Contains(params, "requestState") || strings.Contains(params, `"tester"`) {
			t.Errorf("members of the hop were forwarded: %s", params)
		}
	})
}

// TestNotificationAsCall: A020. A call without an id is neither made nor answered.
func TestNotificationAsCall(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		raw, _ := c.Fill(`{"jsonrpc":"2.0","method":"tools/call","params":{%META%"name":"read"}}`)
		c.Send(raw, nil)
		if l.HTTP {
			r := c.Await("an empty answer", func(m proxytest.Message) bool { return m.ID == "" && m.Status != 0 })
			if r.Status != http.StatusAccepted || len(r.Raw) != 0 {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
		}
		c.Must("safe", `{}`)
		if n := c.Mail.Count(func(m proxytest.Message) bool { return len(m.Raw) > 0 }); n != 0 {
			t.Errorf("%d messages that nobody asked for: %s", n, c.Mail)
		}
		c.Close()
		s.Executed("read", 0)
		s.Executed("safe", 1)
	})
}

// TestIDs: A021. Ids are returned unchanged; an id that is in flight is refused. Stateless requests
// over HTTP are separate even with the same id: each has its own response.
func TestIDs(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		for _, id := range []string{`0`, `-7`, `1152921504606846976`, `"7"`, `"\u0041/é"`, `""`, `"` + strings.Repeat("y", 1000) + `"`} {
			c.Send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{`+c.Meta("")+`"name":"safe"}}`), nil)
			if r := c.Reply(id); r.Result == nil {
				t.Errorf("%s: %s", id, r.Raw)
			}
		}
		slow := `{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{` + c.Meta("") + `"name":"slow"}}`
		again := strings.Replace(slow, `"slow"`, `"push"`, 1)
		c.Send([]byte(slow), nil)
		s.AwaitExecuted("slow", 1)
		c.Send([]byte(again), nil)
		r := c.Reply(`"twice"`)
		if stateless := l.HTTP && l.Modern; stateless {
			s.Executed("push", 1)
			if r.IsError() {
				t.Errorf("%s", r.Raw)
			}
		} else {
			s.Executed("push", 0)
			if !r.IsError() || r.Decision("kind") != "duplicate" {
				t.Errorf("%s", r.Raw)
			}
		}
		s.Upstream.Release()
		if r := c.Reply(`"twice"`); r.IsError() || r.Text() != "released" {
			t.Errorf("the first call was disturbed: %s", r.Raw)
		}
	})
}

// TestLines: A018. A line is a message, whatever it contains.
func TestLines(t *testing.T) {
	for _, l := range []proxytest.Leg{proxytest.Legs()[0], proxytest.Legs()[3]} {
		t.Run(l.Name, func(t *testing.T) {
			s := proxytest.Start(t, proxytest.Setup{})
			c := s.Connect(l, "")
			whole, _ := c.Fill(args(`{}`))
			refused := func(name, line string, n int) {
				t.Helper()
				c.Send([]byte(line), nil)
				for range n {
					if r := c.Reply("null"); r.Code() != proxytest.CodeParse {
						t.Errorf("%s: %s", name, r.Raw)
					}
				}
			}
			refused("two on a line", string(whole)+string(whole), 1)
			refused("line break in a string", strings.Replace(string(whole), "safe", "sa\nfe", 1), 2)
			refused("half a message", `{"jsonrpc":"2.0",`, 1)
			c.Send([]byte("\r\n\n"+string(whole)+"\r"), nil)
			if r := c.Reply(proxytest.ParseMessage(whole, 0).ID); r.Result == nil {
				t.Errorf("%s", r.Raw)
			}
			c.Must("read", `{"a":"`+"\u2028\u0085"+`"}`)
			c.Close()
			s.Executed("", 2)
		})
	}
}

// TestResponsesAreNotAnswered: a malformed response gets no answer over stdio, since that would
// answer an answer.
func TestResponsesAreNotAnswered(t *testing.T) {
	for _, l := range []proxytest.Leg{proxytest.Legs()[0], proxytest.Legs()[3]} {
		t.Run(l.Name, func(t *testing.T) {
			c := proxytest.Start(t, proxytest.Setup{}).Connect(l, "")
			for _, raw := range []string{
				`{"jsonrpc":"2.0","id":"x","result":5}`,
				`{"jsonrpc":"2.0","id":"x","result":{},"error":{}}`,
				`{"jsonrpc":"2.0","id":"x","result":{}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"decision":"approve"}}}`,
			} {
				c.Send([]byte(raw), nil)
			}
			c.Must("safe", `{}`)
			if n := c.Mail.Count(func(proxytest.Message) bool { return true }); n != 0 {
				t.Errorf("%d messages that nobody asked for: %s", n, c.Mail)
			}
		})
	}
}

// TestEveryLineIsAMessage: a stdio client gets only messages, whatever it sends.
func TestEveryLineIsAMessage(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[0], "")
	for i := range 200 {
		c.Send([]byte(fmt.Sprintf("%c{\x01\"\xff%d", rune('!'+i%90), i)), nil)
	}
	for range 200 {
		r := c.Reply("null")
		if !json.Valid(r.Raw) {
			t.Errorf("%q", r.Raw)
		}
	}
}
